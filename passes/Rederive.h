//===- Rederive.h - derive again inside the kernel that reads ---*- C++ -*-===//
#ifndef GC_PASSES_REDERIVE_H
#define GC_PASSES_REDERIVE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {

/// Backward ops that work point by point get forward values that they read from a clone of the
/// point-by-point ops which made them, where all that those read is there anyway. Fusion then puts
/// both into one kernel, so that the value need not be saved for it. Clones are marked
/// `gc.rederived`.
void rederive(mlir::func::FuncOp function);

} // namespace gc

#endif
