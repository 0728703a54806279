//===- Accumulate.h - a step in micro-batches -------------------*- C++ -*-===//
#ifndef GC_PASSES_ACCUMULATE_H
#define GC_PASSES_ACCUMULATE_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// The module's attribute that names the first op for which micro-batches do not give the step of
/// the whole batch; absent where they do.
inline constexpr llvm::StringLiteral kMixesSamplesAttr = "gc.mixes_samples";

/// The variable by which gradients are scaled besides 1 / K: whoever runs fewer micro-batches
/// before an update sets it to K / their number. PlanBuilder records it as Plan.window_scale.
inline constexpr llvm::StringLiteral kWindowScale = "window_scale";
/// The labels of a step's micro-batches so far, where each has another number of them.
inline constexpr llvm::StringLiteral kLabelCount = "label_count";

/// Rewrites @train, and @evaluate where there is one, for a `microBatches`-th of the batch, with
/// gradients that add up in accumulators, and moves the optimizer to a new function @step. With one
/// micro-batch nothing changes. Needs the optimizer's updates in @train.
///
/// Fails, with an error at the function or op, where `microBatches` does not divide the batch or an
/// op cannot run on a part of it; then the module is not to be used. Warns where the step differs
/// from that of the whole batch (batch norm).
llvm::LogicalResult accumulate(mlir::ModuleOp module, int64_t microBatches);

} // namespace gc

#endif
