//===- OptimizerSettings.h - how parameters are updated ---------*- C++ -*-===//
//
// The one set of optimizer settings: command lines, pass options and callers of the compiler fill
// it, the optimizer pass and the plan read it. Plain types only.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_OPTIMIZERSETTINGS_H
#define GC_PASSES_OPTIMIZERSETTINGS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc {

/// What is not set is the default of the optimizer: PyTorch's, or those of its paper.
struct OptimizerSettings {
  std::string name = "sgd";          // sgd, adam, adamw, rmsprop, lion, lamb, adafactor
  std::optional<double> lr;          // 1e-3; rmsprop, adafactor: 1e-2; lion: 1e-4
  std::optional<double> momentum;    // sgd, rmsprop: 0
  std::optional<double> dampening;   // sgd: 0
  bool nesterov = false;             // sgd
  std::optional<double> weightDecay; // 0; adamw, lamb: 0.01
  std::optional<double> beta1;       // adam, adamw, lion, lamb: 0.9
  std::optional<double> beta2;       // adam, adamw, lamb: 0.999; lion: 0.99
  std::optional<double> epsilon;     // adam, adamw, rmsprop: 1e-8; lamb: 1e-6; adafactor: 2^-23
  std::optional<double> beta2Decay;  // adafactor: -0.8
  std::optional<double> epsilon2;    // adafactor: 1e-3
  std::optional<double> clipUpdate;  // adafactor: 1
  std::optional<double> alpha;       // rmsprop: 0.99
  bool centered = false;             // rmsprop
  std::optional<double> clipNorm;    // most that the norm of all gradients together may be
  std::optional<double> clipValue;   // most that an element of a gradient may be
  std::string noDecay;               // patterns of parameters without weight decay
  std::string lrScale;               // PATTERN=FACTOR,...: of the learning rate
  std::optional<double> ema;         // what a step keeps of the moving average of the weights

  /// Why these settings make no optimizer, or which of them would be ignored; empty if all is well.
  /// The text names settings as the user wrote them: `prefix` is "--" on command lines, and
  /// `nameOption` is how the name itself is set there.
  std::string check(std::string_view prefix = "", std::string_view nameOption = "optimizer") const;

  /// The same with every setting of this optimizer set.
  OptimizerSettings withDefaults() const;
};

/// Of all optimizers, in the order in which they are told; and as a text, "sgd, adam or adamw".
std::vector<std::string> optimizerNames();
std::string optimizerList();

} // namespace gc

#endif // GC_PASSES_OPTIMIZERSETTINGS_H
