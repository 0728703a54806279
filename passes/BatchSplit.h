//===- BatchSplit.h - a function for another batch --------------*- C++ -*-===//
#ifndef GC_PASSES_BATCHSPLIT_H
#define GC_PASSES_BATCHSPLIT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {

/// The samples that `function` takes at once: the first dimension of all of its arguments. Fails,
/// with an error at the function, where it has none or they differ.
llvm::FailureOr<int64_t> batchOf(mlir::func::FuncOp function);

/// Rewrites `function` for a `parts`-th of its batch, which `parts` divides: the arguments' first
/// dimension and every dimension that derives from it, the count of running statistics, and the
/// factors 1 / n of adjoints of means over the batch.
///
/// `mixing` gets the forward ops whose result for a sample depends on others in a way that the mean
/// over parts does not undo (batch norm); there the step differs from that of the whole batch.
///
/// Fails, with an error at the op, where an op cannot run on a part of the batch (a slice of it, a
/// reshape across samples) or where it cannot be told whether a dimension is the batch's.
llvm::LogicalResult splitBatch(mlir::func::FuncOp function, int64_t parts,
                               llvm::SmallVectorImpl<mlir::Operation *> &mixing);

/// Rewrites `function`, the forward pass of a model, for a batch of `size` samples, which may be
/// more or fewer than it has. Fails as splitBatch does.
llvm::LogicalResult changeBatch(mlir::func::FuncOp function, int64_t size);

} // namespace gc

#endif
