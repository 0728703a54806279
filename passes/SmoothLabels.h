//===- SmoothLabels.h - the label smoothing of losses -----------*- C++ -*-===//
#ifndef GC_PASSES_SMOOTHLABELS_H
#define GC_PASSES_SMOOTHLABELS_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Sets the label smoothing of the model's cross entropies; an error where there is none.
llvm::LogicalResult smoothLabels(mlir::ModuleOp module, double epsilon);

} // namespace gc

#endif
