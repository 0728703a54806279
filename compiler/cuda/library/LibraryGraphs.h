//===- LibraryGraphs.h - what we ask the library to plan --------*- C++ -*-===//
//
// One plain struct for each family of ops. Images are NHWC, filters OHWI, as in the dialect; every
// tensor is dense unless strides are given, and starts at a multiple of 16 bytes. Statistics,
// log-sum-exps and norms' parameters are f32 whatever the type of the activations.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_LIBRARY_LIBRARYGRAPHS_H
#define GC_COMPILER_CUDA_LIBRARY_LIBRARYGRAPHS_H

#include <cstdint>
#include <vector>

namespace gc::cuda {

enum class GraphType { F32, F16, BF16 };
enum class GraphActivation { None, Relu, Gelu }; // Gelu is exact, by erf

/// Forward: (input, filter, bias?, residual?) -> output = activation(conv + bias + residual).
/// Data: (gradient, filter) -> input_gradient.
/// Weights: (input, gradient) -> filter_gradient, added to what is there if `accumulate`.
struct ConvolutionGraph {
  enum class Direction { Forward, Data, Weights };
  GraphType type = GraphType::F32;
  Direction direction = Direction::Forward;
  int64_t batch = 0, inH = 0, inW = 0, inC = 0, outH = 0, outW = 0, outC = 0;
  int64_t kernelH = 0, kernelW = 0, strideH = 1, strideW = 1, padH = 0, padW = 0;
  bool bias = false, residual = false;
  GraphActivation activation = GraphActivation::None;
  bool accumulate = false;
};

/// (a, b, bias?, residual?) -> c = activation(scale * a b + bias + residual) for each of `batch`.
/// Strides are in elements: one for each batch dimension, then rows, then columns. The residual has
/// c's strides. With `accumulate` the tensor "accumulated" is added too; bind it to c's memory.
struct ProductGraph {
  GraphType type = GraphType::F32;
  std::vector<int64_t> batch;
  int64_t m = 0, n = 0, k = 0;
  std::vector<int64_t> aStrides, bStrides, cStrides;
  float scale = 1;
  bool bias = false, residual = false;
  GraphActivation activation = GraphActivation::None;
  bool accumulate = false;
};

/// Over the last dimension of [rows, width].
/// Forward: (input, weight, bias) -> output, mean, rstd.
/// Backward: (gradient, input, mean, rstd, weight) -> input_gradient, weight_gradient,
/// bias_gradient.
struct LayerNormGraph {
  GraphType type = GraphType::F32;
  bool backward = false;
  int64_t rows = 0, width = 0;
  float epsilon = 0;
};

/// Per channel of [batch, height, width, channels], in training; tensors as for layer norm.
struct BatchNormGraph {
  GraphType type = GraphType::F32;
  bool backward = false;
  int64_t batch = 0, height = 0, width = 0, channels = 0;
  float epsilon = 0;
};

/// Forward: (query, key, value) -> output, logsumexp [batch, heads, sequence].
/// Backward: (query, key, value, output, logsumexp, gradient) -> query_gradient, key_gradient,
/// value_gradient.
/// Queries, keys, values are views of one packed [batch, sequence, 3, heads, headSize], at elements
/// 0, heads * headSize and twice that; so are their gradients. Output is [batch, sequence, heads,
/// headSize].
struct AttentionGraph {
  GraphType type = GraphType::F32;
  bool backward = false;
  int64_t batch = 0, sequence = 0, heads = 0, headSize = 0;
};

/// Max, forward: (input) -> output, index; backward: (index, gradient) -> input_gradient.
/// Average (padding counts as zeros), forward: (input) -> output; backward: (gradient) ->
/// input_gradient.
struct PoolGraph {
  enum class Kind { Max, Average };
  GraphType type = GraphType::F32;
  Kind kind = Kind::Max;
  bool backward = false;
  int64_t batch = 0, inH = 0, inW = 0, channels = 0, outH = 0, outW = 0;
  int64_t kernelH = 0, kernelW = 0, strideH = 1, strideW = 1, padH = 0, padW = 0;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_LIBRARYGRAPHS_H
