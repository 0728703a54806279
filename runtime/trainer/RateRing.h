// The learning rates that a plan holds: a ring, set ahead of the steps that read it.
#ifndef GC_RUNTIME_TRAINER_RATERING_H
#define GC_RUNTIME_TRAINER_RATERING_H

#include "runtime/trainer/LearningRate.h"
#include "runtime/weights/BufferAccess.h"

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

class RateRing {
public:
  RateRing() = default;
  /// For a run of so many steps. Fails (bad input) where the schedule is refused, or where one is
  /// asked for and the plan holds no learning rates.
  static Result<RateRing> create(const plan::Plan &plan, const LearningRateOptions &options,
                                 uint64_t steps);

  /// None where the plan holds no learning rates.
  const std::optional<LearningRate> &schedule() const { return rate; }
  std::optional<double> at(uint64_t step) const;

  /// Whether the learning rate of this step is still to be set.
  bool isDue(uint64_t step) const { return rate && step >= setUpTo; }
  /// Sets those of this step and of all that follow in the ring. No step may be under way.
  Status set(BufferAccess &access, uint64_t step);

private:
  std::optional<LearningRate> rate;
  uint32_t buffer = 0;
  uint64_t size = 0, steps = 0;
  uint64_t setUpTo = 0; // the first step whose learning rate is not set
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_RATERING_H
