//===- Norms.cpp - layer and batch norm for cuDNN -------------------------===//
//
// The library's "inverse variance" is our rstd = 1 / sqrt(variance + epsilon).
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/library/cudnn/GraphBuilder.h"

namespace gc::cuda {

// One operation for both: `statistics` and `parameters` say what is normalized together.
static void buildNorm(cudnnBackendNormMode_t mode, bool backward, float epsilon, const Shape &image,
                      const Shape &statistics, const Shape &parameters, GraphBuilder &builder) {
  auto activation = [&](const char *role) -> const Descriptor & {
    return builder.tensor(role, image, channelsLast(image)).descriptor;
  };
  auto f32 = [&](const char *role, const Shape &dims) -> const Descriptor & {
    return builder.tensor(role, dims, channelsLast(dims), CUDNN_DATA_FLOAT).descriptor;
  };
  if (!backward) {
    Descriptor operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, mode)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, activation("input"))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, f32("weight", parameters))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, f32("bias", parameters))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC,
             builder.scalar("epsilon", epsilon, 4).descriptor)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, activation("output"))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, f32("mean", statistics))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, f32("rstd", statistics));
    return builder.add(std::move(operation), "norm");
  }
  Descriptor operation(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, mode)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, activation("gradient"))
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, activation("input"))
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, f32("mean", statistics))
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, f32("rstd", statistics))
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, f32("weight", parameters))
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, activation("input_gradient"))
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, f32("weight_gradient", parameters))
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, f32("bias_gradient", parameters));
  builder.add(std::move(operation), "norm's gradient");
}

void build(const LayerNormGraph &g, GraphBuilder &builder) {
  require(g.rows > 0 && g.width > 0, "a norm's sizes must be positive");
  buildNorm(CUDNN_LAYER_NORM, g.backward, g.epsilon, {g.rows, g.width, 1, 1}, {g.rows, 1, 1, 1},
            {1, g.width, 1, 1}, builder);
}

void build(const BatchNormGraph &g, GraphBuilder &builder) {
  require(g.batch > 0 && g.height > 0 && g.width > 0 && g.channels > 0,
          "a norm's sizes must be positive");
  Shape channel{1, g.channels, 1, 1};
  buildNorm(CUDNN_BATCH_NORM, g.backward, g.epsilon, {g.batch, g.channels, g.height, g.width},
            channel, channel, builder);
}

} // namespace gc::cuda
