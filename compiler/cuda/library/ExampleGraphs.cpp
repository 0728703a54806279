//===- ExampleGraphs.cpp - one graph of each kind -------------------------===//
#include "compiler/cuda/library/ExampleGraphs.h"

namespace gc::cuda {

using Direction = ConvolutionGraph::Direction;
constexpr int64_t batch = 16, tokens = 197, width = 384, heads = 6;

static ConvolutionGraph convolution(GraphType type, Direction direction) {
  ConvolutionGraph g;
  g.type = type, g.direction = direction;
  g.batch = batch, g.inH = g.inW = g.outH = g.outW = 56, g.inC = g.outC = 64;
  g.kernelH = g.kernelW = 3, g.padH = g.padW = 1;
  return g;
}
static ConvolutionGraph stem(GraphType type, Direction direction) {
  ConvolutionGraph g = convolution(type, direction);
  g.inH = g.inW = 224, g.inC = 3, g.outH = g.outW = 112;
  g.kernelH = g.kernelW = 7, g.strideH = g.strideW = 2, g.padH = g.padW = 3;
  return g;
}

static ProductGraph product(GraphType type, int64_t m, int64_t n, int64_t k, std::vector<int64_t> a,
                            std::vector<int64_t> b) {
  ProductGraph g;
  g.type = type, g.m = m, g.n = n, g.k = k;
  g.aStrides = std::move(a), g.bStrides = std::move(b), g.cStrides = {n, 1};
  return g;
}
// One matrix for each sample and head, one after another.
static ProductGraph batchedProduct(GraphType type) {
  constexpr int64_t size = width / heads;
  ProductGraph g =
      product(type, tokens, tokens, size, {tokens * size, size, 1}, {tokens * size, 1, size});
  g.batch = {batch * heads};
  g.cStrides = {tokens * tokens, tokens, 1};
  g.scale = 0.125f;
  return g;
}

static PoolGraph pool(GraphType type, PoolGraph::Kind kind, bool backward) {
  PoolGraph g;
  g.type = type, g.kind = kind, g.backward = backward;
  g.batch = batch, g.inH = g.inW = 112, g.channels = 64, g.outH = g.outW = 56;
  g.kernelH = g.kernelW = 3, g.strideH = g.strideW = 2, g.padH = g.padW = 1;
  return g;
}

std::vector<ExampleGraph> exampleGraphs(GraphType type) {
  constexpr int64_t rows = batch * tokens, hidden = 4 * width;
  std::vector<ExampleGraph> graphs;
  auto add = [&](std::string name, LibraryGraph graph) {
    graphs.push_back({std::move(name), std::move(graph)});
  };

  add("convolution 3x3", convolution(type, Direction::Forward));
  add("convolution 7x7 of 3 channels", stem(type, Direction::Forward));
  auto epilogue = convolution(type, Direction::Forward);
  epilogue.bias = true, epilogue.activation = GraphActivation::Relu;
  add("convolution + bias + ReLU", epilogue);
  epilogue.residual = true;
  add("convolution + bias + residual + ReLU", epilogue);
  add("convolution, data gradient", convolution(type, Direction::Data));
  auto weights = convolution(type, Direction::Weights);
  add("convolution, filter gradient", weights);
  weights.accumulate = true;
  add("convolution, filter gradient added", weights);
  add("convolution 7x7, filter gradient", stem(type, Direction::Weights));

  auto linear = product(type, rows, hidden, width, {width, 1}, {1, width});
  add("linear", linear);
  linear.bias = true, linear.activation = GraphActivation::Gelu;
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
