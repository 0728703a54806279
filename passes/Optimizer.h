//===- Optimizer.h - from gradients to updates ------------------*- C++ -*-===//
#ifndef GC_PASSES_OPTIMIZER_H
#define GC_PASSES_OPTIMIZER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/OptimizerSettings.h"

namespace gc {

/// Learning rates that are set ahead: elements of the state with the role `schedule`. The step t
/// has element t modulo this.
constexpr int64_t kScheduledSteps = 256;

/// With `keepGradients`, `gc.gradient` stays beside the update, so that gradients can be dumped.
std::unique_ptr<mlir::Pass> createOptimizerPass(const OptimizerSettings &settings,
                                                bool keepGradients);

/// Reads the settings of pass options that have the members of OptimizerSettings, all but the name.
template <typename Options>
OptimizerSettings settingsOf(const std::string &name, const Options &options) {
  OptimizerSettings settings;
  settings.name = name;
  settings.lr = options.lr.value;
  settings.momentum = options.momentum.value;
  settings.dampening = options.dampening.value;
  settings.nesterov = options.nesterov;
  settings.weightDecay = options.weightDecay.value;
  settings.beta1 = options.beta1.value;
  settings.beta2 = options.beta2.value;
  settings.epsilon = options.epsilon.value;
  settings.beta2Decay = options.beta2Decay.value;
  settings.epsilon2 = options.epsilon2.value;
  settings.clipUpdate = options.clipUpdate.value;
  settings.alpha = options.alpha.value;
  settings.centered = options.centered;
  settings.clipNorm = options.clipNorm.value;
  settings.clipValue = options.clipValue.value;
  settings.noDecay = options.noDecay;
  settings.lrScale = options.lrScale;
  settings.ema = options.ema.value;
  return settings;
}

/// Replaces each `gc.gradient` of @train by an update and adds the state that it needs; where
/// weights are averaged, @evaluate uses the averages. On failure an error is at the op or module
/// that is to blame.
llvm::LogicalResult addOptimizer(mlir::ModuleOp module, const OptimizerSettings &settings,
                                 bool keepGradients = false);

} // namespace gc

#endif
