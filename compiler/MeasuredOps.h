//===- MeasuredOps.h - times of equal ops in earlier runs -------*- C++ -*-===//
#ifndef GC_COMPILER_MEASUREDOPS_H
#define GC_COMPILER_MEASUREDOPS_H

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <optional>
#include <string>

namespace gc {

/// What ops took on this machine when a step was run before, by what they do (`workText`). Rates
/// are for all machines and shapes, these are for one: they win where they are known for nearly
/// all of a step.
///
/// The ways to run a step are compared with each other, so that all of them must be judged by the
/// same clock: the first one decides whether times are used, and an op without one gets what the
/// rates say, corrected by what they were wrong for ops of its kind.
class MeasuredOps {
public:
  explicit MeasuredOps(const std::map<std::string, double> &seconds) : seconds(seconds) {}

  /// Sets `gc.seconds` of the ops of a step; those that have it keep it.
  void apply(mlir::ModuleOp module);

  /// The part of the first step, by predicted time, whose ops are known; 0 where times are not
  /// used.
  double share() const { return isUsed.value_or(false) ? known : 0; }

private:
  struct Sums {
    double measured = 0, predicted = 0;
    double ratio() const { return predicted > 0 ? measured / predicted : 1; }
  };
  void learn(mlir::ModuleOp module);
  double correction(const std::string &kind) const;

  const std::map<std::string, double> &seconds;
  std::map<std::string, Sums> kinds;
  Sums all;
  double known = 0;
  std::optional<bool> isUsed;
};

} // namespace gc

#endif
