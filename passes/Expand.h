//===- Expand.h - compound ops into their parts -----------------*- C++ -*-===//
#ifndef GC_PASSES_EXPAND_H
#define GC_PASSES_EXPAND_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Splits every `gc.batch_norm` and `gc.patch_embed` of `module`. Cannot fail.
void expand(mlir::ModuleOp module);

} // namespace gc

#endif
