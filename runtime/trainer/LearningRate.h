// The learning rate of every step of a run, as PyTorch's schedulers give it when they are stepped
// once a step.
#ifndef GC_RUNTIME_TRAINER_LEARNINGRATE_H
#define GC_RUNTIME_TRAINER_LEARNINGRATE_H

#include "runtime/Error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gc::runtime {

struct LearningRateOptions {
  std::optional<double> lr; // else the plan's
  /// constant, step:EVERY[:FACTOR], multi-step:A,B,...[:FACTOR], linear, cosine,
  /// cosine:FIRST[:TIMES], one-cycle[:RISING[:START[:END]]]
  std::string schedule = "constant";
  uint64_t warmup = 0;           // steps
  std::optional<double> minimum; // --min-lr
};

class LearningRate {
public:
  /// For a run of so many steps; `planned` is the learning rate that the plan was compiled with.
  /// Fails (bad input) on a schedule that is not known or not well formed, and on one of which a
  /// part would have no effect in so many steps.
  static Result<LearningRate> create(const LearningRateOptions &options, double planned,
                                     uint64_t steps);

  /// Of a step of the run, from 0 on; not yet rounded to what a step computes with.
  double at(uint64_t step) const;
  /// The learning rate that the schedule is about.
  double base() const { return lr; }
  /// All that decides about at(), but for the base: "cosine over 190 steps to 0 after 10 of
  /// warm-up". Equal texts are equal schedules.
  const std::string &text() const { return description; }

private:
  LearningRate() = default;
  double lr = 0;
  uint64_t warmup = 0;
  std::function<double(double step)> schedule; // after the warm-up
  std::string description;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_LEARNINGRATE_H
