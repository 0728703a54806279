//===- LibraryCalls.h - gc products as library commands ---------*- C++ -*-===//
#ifndef GC_COMPILER_CPU_LIBRARYCALLS_H
#define GC_COMPILER_CPU_LIBRARYCALLS_H

#include "dialects/Gc.h"
#include "runtime/plan/Plan_generated.h"
#include <optional>

namespace gc::cpu {

/// The command that a convolution or its gradients becomes, buffers left open; none for other ops.
std::optional<plan::ConvolutionT> convolutionCommand(mlir::Operation *op);
/// The command that a product of matrices becomes, buffers left open; none for other ops.
std::optional<plan::MatMulT> matMulCommand(mlir::Operation *op);

/// Scratch of a command, or an error text. Counts bias and residual as there when their index is
/// not -1.
struct WorkspaceAnswer {
  int64_t bytes = 0;
  std::string error;
};
WorkspaceAnswer workspaceOf(const plan::ConvolutionT &command, int threads);
WorkspaceAnswer workspaceOf(const plan::MatMulT &command, int threads);

/// The products inside attention, in the order in which they run. Views name buffers by role.
enum AttentionBuffer : uint32_t { Qkv, Output, Scores, OutputGradient, ScoreGradient, QkvGradient };
struct AttentionShape {
  int64_t batch, sequence, heads, headSize;
  int64_t width() const { return heads * headSize; }
  int64_t scoreBytes() const { return batch * heads * sequence * sequence * 4; }
};
AttentionShape attentionShape(mlir::Value qkv, int64_t heads);
plan::MatMulT attentionScores(const AttentionShape &shape);            // S = q k^T / sqrt(d)
plan::MatMulT attentionOutput(const AttentionShape &shape);            // O = P v
plan::MatMulT attentionValueGradient(const AttentionShape &shape);     // dV = P^T dO
plan::MatMulT attentionScoreGradient(const AttentionShape &shape);     // dP = dO V^T
plan::MatMulT attentionQueryGradient(const AttentionShape &shape);     // dQ = dS K / sqrt(d)
plan::MatMulT attentionKeyGradient(const AttentionShape &shape);       // dK = dS^T Q / sqrt(d)

} // namespace gc::cpu

#endif
