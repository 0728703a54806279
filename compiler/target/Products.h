//===- Products.h - gc products as commands ---------------------*- C++ -*-===//
//
// Convolutions and matrix products in the plan's own terms: what a target asks a library for, or
// generates a kernel for, and the command that says where.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_TARGET_PRODUCTS_H
#define GC_COMPILER_TARGET_PRODUCTS_H

#include "compiler/target/Target.h"
#include <array>

namespace gc {

/// What a convolution or its gradients computes; none for other ops.
std::optional<plan::ConvolutionSpecT> convolutionSpec(mlir::Operation *op);
/// What a product of matrices computes; none for other ops.
std::optional<plan::MatMulSpecT> matMulSpec(mlir::Operation *op);

/// The command that computes it, on the buffers of the op.
plan::ConvolutionT bind(plan::ConvolutionSpecT spec, mlir::Operation *op, const OpBuffers &buffers);
plan::MatMulT bind(plan::MatMulSpecT spec, mlir::Operation *op, const OpBuffers &buffers);

/// The products inside attention, in the order in which they run. Views name buffers by role.
enum AttentionBuffer : uint32_t { Qkv, Output, Scores, OutputGradient, ScoreGradient, QkvGradient };
/// The type of attention's scores, which are sums: f32 whatever networks compute in.
inline constexpr plan::DType kScoreType = plan::DType_F32;
struct AttentionShape {
  int64_t batch, sequence, heads, headSize;
  bool causal = false;
  /// Of what is added to the scores; a dimension of 1 is the same for all. All 0: nothing.
  std::array<int64_t, 4> bias = {};
  bool hasBias() const { return bias[3] != 0; }
  int64_t width() const { return heads * headSize; }
  int64_t scoreBytes() const;
};
AttentionShape attentionShape(mlir::Operation *op);                // gc.attention or a gradient
plan::MatMulT attentionScores(const AttentionShape &shape);        // S = q k^T / sqrt(d)
plan::MatMulT attentionOutput(const AttentionShape &shape);        // O = P v
plan::MatMulT attentionValueGradient(const AttentionShape &shape); // dV = P^T dO
plan::MatMulT attentionScoreGradient(const AttentionShape &shape); // dP = dO V^T
plan::MatMulT attentionQueryGradient(const AttentionShape &shape); // dQ = dS K / sqrt(d)
plan::MatMulT attentionKeyGradient(const AttentionShape &shape);   // dK = dS^T Q / sqrt(d)

} // namespace gc

#endif
