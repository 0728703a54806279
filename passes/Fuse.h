//===- Fuse.h - fewer kernels, less memory traffic --------------*- C++ -*-===//
#ifndef GC_PASSES_FUSE_H
#define GC_PASSES_FUSE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {
/// Moves bias, residual and activation into the products that take them, where the value between is
/// used nowhere else.
void fuseEpilogues(mlir::func::FuncOp function);
/// Groups fusible ops over the same space into `gc.fused`.
void fuseElementwise(mlir::func::FuncOp function);
} // namespace gc

#endif
