//===- Rematerialize.h - compute again instead of keeping -------*- C++ -*-===//
#ifndef GC_PASSES_REMATERIALIZE_H
#define GC_PASSES_REMATERIALIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/algorithms/rematerialization/Rematerialization.h"
#include "passes/analysis/StepGraphOf.h"

namespace gc {

/// Clones what a plan recomputes, marked `gc.recomputed`, before the backward ops that need it, and
/// lets those read the clones. Returns the number of clones; where there are any, the function's
/// `gc.recomputed_ops` remembers it.
int applyRematerialization(FunctionGraph &function, const RematPlan &plan);

/// Checks that the clones are all still there: nothing after may merge them back.
mlir::LogicalResult verifyRematerialization(mlir::func::FuncOp function);

} // namespace gc

#endif
