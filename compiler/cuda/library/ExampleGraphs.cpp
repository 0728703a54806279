//===- ExampleGraphs.cpp - one graph of each kind -------------------------===//
#include "compiler/cuda/library/ExampleGraphs.h"

namespace gc::cuda {

constexpr int64_t batch = 16, tokens = 197, width = 384, heads = 6;

static plan::ConvolutionSpecT convolution(plan::DType type, plan::Direction direction) {
  plan::ConvolutionSpecT g;
  g.type = type, g.direction = direction;
  g.batch = batch, g.in_h = g.in_w = g.out_h = g.out_w = 56, g.in_c = g.out_c = 64;
  g.kernel_h = g.kernel_w = 3, g.pad_h = g.pad_w = 1;
  return g;
}
static plan::ConvolutionSpecT stem(plan::DType type, plan::Direction direction) {
  plan::ConvolutionSpecT g = convolution(type, direction);
  g.in_h = g.in_w = 224, g.in_c = 3, g.out_h = g.out_w = 112;
  g.kernel_h = g.kernel_w = 7, g.stride_h = g.stride_w = 2, g.pad_h = g.pad_w = 3;
  return g;
}

static plan::MatMulSpecT product(plan::DType type, int64_t m, int64_t n, int64_t k,
                                 std::vector<int64_t> a, std::vector<int64_t> b) {
  plan::MatMulSpecT g;
  g.type = type, g.m = m, g.n = n, g.k = k;
  g.a_strides = std::move(a), g.b_strides = std::move(b), g.c_strides = {n, 1};
  return g;
}
// One matrix for each sample and head, one after another.
static plan::MatMulSpecT batchedProduct(plan::DType type) {
  constexpr int64_t size = width / heads;
  plan::MatMulSpecT g =
      product(type, tokens, tokens, size, {tokens * size, size, 1}, {tokens * size, 1, size});
  g.batch = {batch * heads};
  g.c_strides = {tokens * tokens, tokens, 1};
  g.scale = 0.125f;
  return g;
}

static PoolGraph pool(plan::DType type, PoolGraph::Kind kind, bool backward) {
  PoolGraph g;
  g.type = type, g.kind = kind, g.backward = backward;
  g.batch = batch, g.inH = g.inW = 112, g.channels = 64, g.outH = g.outW = 56;
  g.kernelH = g.kernelW = 3, g.strideH = g.strideW = 2, g.padH = g.padW = 1;
  return g;
}

std::vector<ExampleGraph> exampleGraphs(plan::DType type) {
  constexpr int64_t rows = batch * tokens, hidden = 4 * width;
  std::vector<ExampleGraph> graphs;
  auto add = [&](std::string name, LibraryGraph graph) {
    graphs.push_back({std::move(name), std::move(graph)});
  };

  add("convolution 3x3", convolution(type, plan::Direction_Forward));
  add("convolution 7x7 of 3 channels", stem(type, plan::Direction_Forward));
  auto epilogue = convolution(type, plan::Direction_Forward);
  epilogue.bias = true, epilogue.activation = plan::Activation_Relu;
  add("convolution + bias + ReLU", epilogue);
  epilogue.residual = true;
  add("convolution + bias + residual + ReLU", epilogue);
  add("convolution, data gradient", convolution(type, plan::Direction_BackwardData));
  auto weights = convolution(type, plan::Direction_BackwardWeights);
  add("convolution, filter gradient", weights);
  weights.accumulate = true;
  add("convolution, filter gradient added", weights);
  add("convolution 7x7, filter gradient", stem(type, plan::Direction_BackwardWeights));

  auto linear = product(type, rows, hidden, width, {width, 1}, {1, width});
  add("linear", linear);
  linear.bias = true, linear.activation = plan::Activation_Gelu;
  add("linear + bias + GELU", linear);
  auto projection = product(type, rows, width, hidden, {hidden, 1}, {1, hidden});
  projection.bias = projection.residual = true;
  add("linear + bias + residual", projection);
  add("linear, data gradient", product(type, rows, width, hidden, {hidden, 1}, {width, 1}));
  auto weightGradient = product(type, hidden, width, rows, {1, hidden}, {width, 1});
  add("linear, weight gradient", weightGradient);
  weightGradient.accumulate = true;
  add("linear, weight gradient added", weightGradient);
  add("products of a batch, scaled", batchedProduct(type));

  for (bool backward : {false, true}) {
    std::string suffix = backward ? ", gradient" : "";
    add("layer norm" + suffix, LayerNormGraph{type, backward, rows, width, 1e-6f});
    add("batch norm" + suffix, BatchNormGraph{type, backward, batch, 56, 56, 64, 1e-5f});
    add("attention" + suffix, AttentionGraph{type, backward, batch, tokens, heads, width / heads});
    add("max pool" + suffix, pool(type, PoolGraph::Kind::Max, backward));
    add("average pool" + suffix, pool(type, PoolGraph::Kind::Average, backward));
  }
  return graphs;
}

} // namespace gc::cuda
