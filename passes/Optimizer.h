//===- Optimizer.h - from gradients to updates ------------------*- C++ -*-===//
#ifndef GC_PASSES_OPTIMIZER_H
#define GC_PASSES_OPTIMIZER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <optional>
#include <string>

namespace gc {

/// What is not set is the kind's default, which is PyTorch's. Setting what the kind does not have
/// (momentum of adam, betas of sgd) is an error.
struct OptimizerOptions {
  std::string kind = "sgd"; // sgd, adam, adamw
  double lr = 1e-3;
  std::optional<double> momentum;    // sgd: 0
  std::optional<double> dampening;   // sgd: 0
  bool nesterov = false;             // sgd
  std::optional<double> weightDecay; // sgd, adam: 0; adamw: 0.01
  std::optional<double> beta1;       // adam, adamw: 0.9
  std::optional<double> beta2;       // adam, adamw: 0.999
  std::optional<double> epsilon;     // adam, adamw: 1e-8
  bool keepGradients = false;
};

/// Why `options` make no optimizer, empty if they do.
std::string checkOptimizer(const OptimizerOptions &options);

/// The pass with these options, unset ones included.
std::unique_ptr<mlir::Pass> createOptimizerPass(const OptimizerOptions &options);

/// Replaces each `gc.gradient` of @train by an update and adds the state that it needs. On failure
/// an error is at the op or module that is to blame.
llvm::LogicalResult addOptimizer(mlir::ModuleOp module, const OptimizerOptions &options);

} // namespace gc

#endif
