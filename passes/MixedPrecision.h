//===- MixedPrecision.h - a step in half precision --------------*- C++ -*-===//
#ifndef GC_PASSES_MIXEDPRECISION_H
#define GC_PASSES_MIXEDPRECISION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/PrecisionWish.h"

namespace gc {

/// Attribute of an op: the type that it computes products in and saves, whatever all others do.
inline constexpr llvm::StringLiteral kPrecisionAttr = "gc.precision";

/// Rewrites the command lists of `module` as `wish` says; nothing where it asks for f32 alone.
/// Fails with a diagnostic where a pattern matches no layer.
llvm::LogicalResult mixPrecision(mlir::ModuleOp module, const PrecisionWish &wish);

} // namespace gc

#endif // GC_PASSES_MIXEDPRECISION_H
