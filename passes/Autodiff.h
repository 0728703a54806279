//===- Autodiff.h - the backward pass ---------------------------*- C++ -*-===//
#ifndef GC_PASSES_AUTODIFF_H
#define GC_PASSES_AUTODIFF_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Turns the model of `module` into @train with forward, backward and one `gc.gradient` for each
/// parameter. On failure an error is at the op that is to blame and the module is half changed.
llvm::LogicalResult autodiff(mlir::ModuleOp module);

} // namespace gc

#endif
