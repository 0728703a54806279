//===- Schedule.h - an order of ops that needs less memory ------*- C++ -*-===//
#ifndef GC_PASSES_SCHEDULE_H
#define GC_PASSES_SCHEDULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {

/// Moves the ops of a straight-line function to where less is alive, as far as dependence allows.
/// Nothing is added or changed. The largest sum of live bytes (analysis/Liveness) never rises.
void scheduleForMemory(mlir::func::FuncOp function);

} // namespace gc

#endif
