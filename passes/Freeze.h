//===- Freeze.h - parameters that are not trained ---------------*- C++ -*-===//
#ifndef GC_PASSES_FREEZE_H
#define GC_PASSES_FREEZE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/FreezeWish.h"

namespace gc {

/// Attribute of a parameter: it has no gradient and no update changes it.
inline constexpr llvm::StringLiteral kFrozenAttr = "gc.frozen";

/// Marks the parameters that `wish` freezes. On failure an error at the module says which pattern
/// matches nothing, or what else would have no effect.
llvm::LogicalResult freeze(mlir::ModuleOp module, const FreezeWish &wish);

} // namespace gc

#endif
