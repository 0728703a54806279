//===- Products.cpp - convolutions and matrix products for cuDNN ----------===//
#include "compiler/cuda/library/cudnn/GraphBuilder.h"

namespace gc::cuda {

using Step = GraphBuilder::Step;

static void addActivation(plan::Activation activation, std::vector<Step> &steps) {
  if (activation == plan::Activation_Relu)
    steps.push_back({CUDNN_POINTWISE_RELU_FWD});
  if (activation == plan::Activation_Gelu)
    steps.push_back({CUDNN_POINTWISE_GELU_FWD});
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// `span` is from a filter's first tap to its last.
static int64_t outputSize(int64_t in, int64_t span, int64_t stride, int64_t pad) {
  return (in + 2 * pad - span) / stride + 1;
}

static Descriptor describe(const Shape &strides, const Shape &padding, const Shape &dilation) {
  Descriptor kind(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  kind.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(2))
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, strides)
      .finalize("describing a convolution");
  return kind;
}

// y = conv(x, w) and its gradients.
static void forward(GraphBuilder &builder, const Descriptor &kind, const GraphTensor &x,
                    const GraphTensor &w, const GraphTensor &y) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, kind)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  builder.addProduct(std::move(operation), "convolution");
}
static void data(GraphBuilder &builder, const Descriptor &kind, const GraphTensor &dy,
                 const GraphTensor &w, const GraphTensor &dx) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, kind)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, dy.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, w.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, dx.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1.0f)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0.0f);
  builder.addProduct(std::move(operation), "convolution's data gradient");
}
static void weights(GraphBuilder &builder, const Descriptor &kind, const GraphTensor &x,
                    const GraphTensor &dy, const GraphTensor &dw, bool accumulate) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, kind)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, x.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, dy.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, dw.descriptor)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1.0f)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, accumulate ? 1.0f : 0.0f);
  builder.addProduct(std::move(operation), "convolution's filter gradient");
}

void build(const plan::ConvolutionSpecT &g, GraphBuilder &builder) {
  require(g.batch > 0 && g.in_h > 0 && g.in_w > 0 && g.in_c > 0 && g.out_c > 0 && g.kernel_h > 0 &&
              g.kernel_w > 0 && g.stride_h > 0 && g.stride_w > 0,
          "a convolution's sizes must be positive");
  require(g.pad_h >= 0 && g.pad_w >= 0, "a convolution's padding must not be negative");
  require(g.dilation_h > 0 && g.dilation_w > 0, "a convolution's dilation must be positive");
  int64_t height = (g.kernel_h - 1) * g.dilation_h + 1, width = (g.kernel_w - 1) * g.dilation_w + 1;
  require(g.in_h + 2 * g.pad_h >= height && g.in_w + 2 * g.pad_w >= width,
          "the filter is larger than the padded image");
  require(g.out_h == outputSize(g.in_h, height, g.stride_h, g.pad_h) &&
              g.out_w == outputSize(g.in_w, width, g.stride_w, g.pad_w),
          "the convolution's output size does not follow from its input");
  require(g.groups > 0 && g.in_c % g.groups == 0 && g.out_c % g.groups == 0,
          "a convolution's groups must divide its channels");
  require(g.accumulator == plan::DType_F32, "sums are kept in f32 alone");
  bool isForward = g.direction == plan::Direction_Forward;
  require(isForward || (!g.bias && !g.residual && g.activation == plan::Activation_None),
          "only a forward convolution has an epilogue");
  require(!g.accumulate || g.direction == plan::Direction_BackwardWeights,
          "only a filter's gradient is accumulated");

  Shape inDims{g.batch, g.in_c, g.in_h, g.in_w}, outDims{g.batch, g.out_c, g.out_h, g.out_w};
  // The library counts the groups itself: channels of the image by channels of the filter.
  Shape filterDims{g.out_c, g.in_c / g.groups, g.kernel_h, g.kernel_w}, biasDims{1, g.out_c, 1, 1};
  auto make = [&](const char *role, const Shape &dims) -> const GraphTensor & {
    return builder.tensor(role, dims, channelsLast(dims));
  };
  Descriptor kind =
      describe({g.stride_h, g.stride_w}, {g.pad_h, g.pad_w}, {g.dilation_h, g.dilation_w});
  switch (g.direction) {
  case plan::Direction_Forward: {
    auto &x = make("input", inDims), &w = make("filter", filterDims);
    // The library has finished kernels for the residual before the bias, not after it.
    std::vector<Step> steps;
    if (g.residual)
      steps.push_back({CUDNN_POINTWISE_ADD, &make("residual", outDims)});
    if (g.bias)
      steps.push_back({CUDNN_POINTWISE_ADD, &make("bias", biasDims)});
    addActivation(g.activation, steps);
    auto &output = make("output", outDims);
    auto &y = builder.beforeEpilogue(steps, output);
    forward(builder, kind, x, w, y);
    return builder.finishEpilogue(steps, y, output);
  }
  case plan::Direction_BackwardData: {
    auto &dy = make("gradient", outDims), &w = make("filter", filterDims);
    return data(builder, kind, dy, w, make("input_gradient", inDims));
  }
  case plan::Direction_BackwardWeights: {
    auto &x = make("input", inDims), &dy = make("gradient", outDims);
    return weights(builder, kind, x, dy, make("filter_gradient", filterDims), g.accumulate);
  }
  }
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

void build(const plan::MatMulSpecT &g, GraphBuilder &builder) {
  require(g.m > 0 && g.n > 0 && g.k > 0, "a product's sizes must be positive");
  for (int64_t size : g.batch)
    require(size > 0, "a product's batch must be positive");
  require(g.accumulator == plan::DType_F32, "sums are kept in f32 alone");
  size_t rank = g.batch.size() + 2;
  require(g.a_strides.size() == rank && g.b_strides.size() == rank && g.c_strides.size() == rank,
          "a product's strides must be one for each batch dimension and two more");

  // The library wants a batch dimension at least.
  auto make = [&](const char *role, int64_t rows, int64_t columns,
                  Shape strides) -> const GraphTensor & {
    Shape dims = g.batch;
    dims.push_back(rows), dims.push_back(columns);
    if (rank == 2) {
      dims.insert(dims.begin(), 1);
      strides.insert(strides.begin(), rows * columns);
    }
    return builder.tensor(role, dims, strides);
  };
  auto &a = make("a", g.m, g.k, g.a_strides), &b = make("b", g.k, g.n, g.b_strides);
  auto &c = make("c", g.m, g.n, g.c_strides);
  size_t fullRank = c.dims.size();
  std::vector<Step> steps;
  if (g.scale != 1)
    steps.push_back({CUDNN_POINTWISE_MUL, &builder.scalar("scale", g.scale, fullRank)});
  if (g.bias) {
    Shape dims(fullRank, 1);
    dims.back() = g.n;
    steps.push_back({CUDNN_POINTWISE_ADD, &builder.tensor("bias", dims, denseStrides(dims))});
  }
  if (g.residual)
    steps.push_back({CUDNN_POINTWISE_ADD, &make("residual", g.m, g.n, g.c_strides)});
  addActivation(g.activation, steps);
  if (g.accumulate)
    steps.push_back({CUDNN_POINTWISE_ADD, &make("accumulated", g.m, g.n, g.c_strides)});
  auto &last = builder.beforeEpilogue(steps, c);
  builder.product(a, b, last);
  builder.finishEpilogue(steps, last, c);
}

// A linear layer and its two gradients are convolutions by 1x1 of an image of one point:
//   c = a b^T,  c = a b,  c = a^T b   with a, b, c stored row by row.
bool buildAsConvolution(const plan::MatMulSpecT &g, GraphBuilder &builder) {
  if (!g.batch.empty() || g.scale != 1 || g.c_strides != Shape{g.n, 1})
    return false;
  bool rowsA = g.a_strides == Shape{g.k, 1}, rowsB = g.b_strides == Shape{g.n, 1};
  bool isForward = rowsA && g.b_strides == Shape{1, g.k};
  bool isData = rowsA && rowsB, isWeights = g.a_strides == Shape{1, g.m} && rowsB;
  bool plain = !g.bias && !g.residual && g.activation == plan::Activation_None;
  auto make = [&](const char *role, int64_t rows, int64_t columns) -> const GraphTensor & {
    Shape dims{rows, columns, 1, 1};
    return builder.tensor(role, dims, channelsLast(dims));
  };
  Descriptor kind = describe({1, 1}, {0, 0}, {1, 1});
  if (isForward && !g.accumulate) {
    auto &a = make("a", g.m, g.k), &b = make("b", g.n, g.k);
    std::vector<Step> steps;
    if (g.residual)
      steps.push_back({CUDNN_POINTWISE_ADD, &make("residual", g.m, g.n)});
    if (g.bias)
      steps.push_back({CUDNN_POINTWISE_ADD, &make("bias", 1, g.n)});
    addActivation(g.activation, steps);
    auto &c = make("c", g.m, g.n), &y = builder.beforeEpilogue(steps, c);
    forward(builder, kind, a, b, y);
    builder.finishEpilogue(steps, y, c);
    return true;
  }
  if (isData && plain && !g.accumulate) {
    auto &a = make("a", g.m, g.k), &b = make("b", g.k, g.n);
    data(builder, kind, a, b, make("c", g.m, g.n));
    return true;
  }
  if (isWeights && plain) {
    auto &a = make("a", g.k, g.m), &b = make("b", g.k, g.n);
    weights(builder, kind, b, a, make("c", g.m, g.n), g.accumulate);
    return true;
  }
  return false;
}

} // namespace gc::cuda
