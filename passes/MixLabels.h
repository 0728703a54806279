//===- MixLabels.h - a loss of two labels -----------------------*- C++ -*-===//
#ifndef GC_PASSES_MIXLABELS_H
#define GC_PASSES_MIXLABELS_H

#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Makes the model's cross entropies means of those of two labels, by a share: inputs
/// kMixedLabelInput and kShareInput. Call it between `addInference` and `autodiff`.
llvm::LogicalResult mixLabels(mlir::ModuleOp module);

} // namespace gc

#endif
