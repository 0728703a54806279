//===- LibraryGraphs.h - what we ask the library to plan --------*- C++ -*-===//
//
// One plain struct for each family of ops. Images are NHWC, filters OHWI, as in the dialect; every
// tensor is dense unless strides are given, and starts at a multiple of 16 bytes. Statistics,
// log-sum-exps and norms' parameters are f32 whatever the type of the activations.
//
// Convolutions and products are the plan's own specs (runtime/plan/Plan.fbs). Their tensors:
// - ConvolutionSpec, Forward: (input, filter, bias?, residual?) -> output.
//   BackwardData: (gradient, filter) -> input_gradient.
//   BackwardWeights: (input, gradient) -> filter_gradient; there is no bias here.
// - MatMulSpec: (a, b, bias?, residual?) -> c. With `accumulate` the tensor "accumulated" is added
//   too; bind it to c's memory.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_LIBRARY_LIBRARYGRAPHS_H
#define GC_COMPILER_CUDA_LIBRARY_LIBRARYGRAPHS_H

#include "runtime/plan/Plan_generated.h"
#include <cstdint>
#include <vector>

namespace gc::cuda {

/// Over the last dimension of [rows, width].
/// Forward: (input, weight, bias) -> output, mean, rstd.
/// Backward: (gradient, input, mean, rstd, weight) -> input_gradient, weight_gradient,
/// bias_gradient.
struct LayerNormGraph {
  plan::DType type = plan::DType_F32;
  bool backward = false;
  int64_t rows = 0, width = 0;
  float epsilon = 0;
};

/// Per channel of [batch, height, width, channels], in training; tensors as for layer norm.
struct BatchNormGraph {
  plan::DType type = plan::DType_F32;
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
  plan::DType type = plan::DType_F32;
  bool backward = false;
  int64_t batch = 0, sequence = 0, heads = 0, headSize = 0;
};

/// Max, forward: (input) -> output, index; backward: (index, gradient) -> input_gradient.
/// Average (padding counts as zeros), forward: (input) -> output; backward: (gradient) ->
/// input_gradient.
struct PoolGraph {
  enum class Kind { Max, Average };
  plan::DType type = plan::DType_F32;
  Kind kind = Kind::Max;
  bool backward = false;
  int64_t batch = 0, inH = 0, inW = 0, channels = 0, outH = 0, outW = 0;
  int64_t kernelH = 0, kernelW = 0, strideH = 1, strideW = 1, padH = 0, padW = 0;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_LIBRARYGRAPHS_H
