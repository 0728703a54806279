//===- CheckModel.h - is a module a model that can be trained ---*- C++ -*-===//
#ifndef GC_PASSES_CHECKMODEL_H
#define GC_PASSES_CHECKMODEL_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Fails, with an error where it is written, on what the passes would ignore, or what contradicts
/// itself. Verifiers look at one op at a time; this looks at the model.
llvm::LogicalResult checkModel(mlir::ModuleOp module);

} // namespace gc

#endif
