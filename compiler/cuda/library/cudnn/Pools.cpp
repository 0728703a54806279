//===- Pools.cpp - pooling for cuDNN --------------------------------------===//
//
// We take the library's one-byte index of a maximum for its place in the window, counted row by
// row, the first of equal ones. cuDNN does not document it, so gc-compile generates max-pools
// instead; the graph is here for the table in PLANS.md and the tests.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/library/cudnn/GraphBuilder.h"

namespace gc::cuda {

template <> constexpr auto attributeType<cudnnFraction_t> = CUDNN_TYPE_FRACTION;

void build(const PoolGraph &g, GraphBuilder &builder) {
  require(g.batch > 0 && g.inH > 0 && g.inW > 0 && g.channels > 0 && g.outH > 0 && g.outW > 0 &&
              g.kernelH > 0 && g.kernelW > 0 && g.strideH > 0 && g.strideW > 0,
          "a pool's sizes must be positive");
  require(g.padH >= 0 && g.padW >= 0 && g.padH < g.kernelH && g.padW < g.kernelW,
          "a pool's padding must be less than its window");
  require(g.outH == (g.inH + 2 * g.padH - g.kernelH) / g.strideH + 1 &&
              g.outW == (g.inW + 2 * g.padW - g.kernelW) / g.strideW + 1,
          "the pool's output size does not follow from its input");
  bool isMax = g.kind == PoolGraph::Kind::Max;
  require(!isMax || g.kernelH * g.kernelW <= 127, "a window's index must fit a byte");

  auto pair = [](Descriptor &d, cudnnBackendAttributeName_t name, int64_t h, int64_t w) {
    cudnnFraction_t values[] = {{h, 1}, {w, 1}};
    d.setArray(name, values, 2);
  };
  Descriptor kind(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
  kind.set(CUDNN_ATTR_RESAMPLE_MODE,
           isMax ? CUDNN_RESAMPLE_MAXPOOL : CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING)
      .set(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_RESAMPLE_PADDING_MODE, isMax ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD)
      .set(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, int64_t(2));
  pair(kind, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, g.kernelH, g.kernelW);
  pair(kind, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, g.padH, g.padW);
  pair(kind, CUDNN_ATTR_RESAMPLE_POST_PADDINGS, g.padH, g.padW);
  pair(kind, CUDNN_ATTR_RESAMPLE_STRIDES, g.strideH, g.strideW);
  kind.finalize("describing a pool");

  Shape in{g.batch, g.channels, g.inH, g.inW}, out{g.batch, g.channels, g.outH, g.outW};
  auto image = [&](const char *role, const Shape &dims) -> const Descriptor & {
    return builder.tensor(role, dims, channelsLast(dims)).descriptor;
  };
  auto index = [&]() -> const Descriptor & {
    return builder.tensor("index", out, channelsLast(out), CUDNN_DATA_INT8).descriptor;
  };
  if (!g.backward) {
    Descriptor operation(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, kind)
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, image("input", in))
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, image("output", out));
    if (isMax)
      operation.set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, index());
    return builder.add(std::move(operation), "pool");
  }
  Descriptor operation(CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, kind)
      .set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, image("gradient", out))
      .set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, image("input_gradient", in));
  if (isMax)
    operation.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, index());
  builder.add(std::move(operation), "pool's gradient");
}

} // namespace gc::cuda
