//===- UpdateForm.h - the update op of each optimizer -----------*- C++ -*-===//
#ifndef GC_PASSES_UPDATEFORM_H
#define GC_PASSES_UPDATEFORM_H

#include "dialects/Gc.h"
#include "passes/OptimizerSettings.h"

namespace gc {

/// What the optimizer pass writes for a parameter.
struct UpdateForm {
  /// A variable beside the parameter, of its type: the attribute of the op that names it, and what
  /// its own name adds to the parameter's.
  struct State {
    llvm::StringRef attribute, suffix;
  };

  llvm::StringRef op;                              // "gc.adam"
  llvm::SmallVector<State> states;                 // in the order of the op
  llvm::SmallVector<mlir::NamedAttribute> numbers; // of the op, but for those that all have
  /// Of an op whose one result the update takes after the coefficients, if there is one: its
  /// operands are the gradient, the coefficients, and the parameter and the states as they were;
  /// and whether it knows the weight decay.
  llvm::StringRef ratio;
  bool ratioDecays = false;
  /// Whether the variance is that of FactoredVariance.h: the last operands of the update and of the
  /// ratio.
  bool isFactored = false;
  /// Of gc.optimizer_coefficients.
  CoefficientsMode mode = CoefficientsMode::Plain;
  double beta1 = 0, beta2 = 0;
};

/// The form of an optimizer whose settings are complete (OptimizerSettings::withDefaults).
UpdateForm updateFormOf(const OptimizerSettings &settings, mlir::OpBuilder &builder);

} // namespace gc

#endif // GC_PASSES_UPDATEFORM_H
