//===- Batch.h - a model for another batch ----------------------*- C++ -*-===//
#ifndef GC_PASSES_BATCH_H
#define GC_PASSES_BATCH_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Rewrites the module's model for a batch of `size` samples. Nothing else depends on the batch:
/// parameters, state and the functions beside the model stay as they are.
///
/// Fails, with an error at the op, where the model has no batch, where an op cannot follow it (a
/// slice of the batch, a reshape across samples) or where it cannot be told whether a dimension is
/// the batch's; then the module is not to be used.
llvm::LogicalResult setBatch(mlir::ModuleOp module, int64_t size);

} // namespace gc

#endif
