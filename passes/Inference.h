//===- Inference.h - the model in inference mode ----------------*- C++ -*-===//
#ifndef GC_PASSES_INFERENCE_H
#define GC_PASSES_INFERENCE_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Adds @evaluate, a clone of the model that uses running statistics, drops nothing and changes no
/// variable. Call it before `autodiff`.
llvm::LogicalResult addInference(mlir::ModuleOp module);

} // namespace gc

#endif
