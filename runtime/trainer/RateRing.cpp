#include "runtime/trainer/RateRing.h"

#include "runtime/plan/Plan_generated.h"

#include <algorithm>

namespace gc::runtime {

Result<RateRing> RateRing::create(const plan::Plan &plan, const LearningRateOptions &options,
                                  uint64_t steps) {
  RateRing made;
  if (plan.learning_rate() < 0) {
    if (options.lr || options.minimum || options.warmup || options.schedule != "constant")
      return badInput("this plan holds no learning rates that can be set; compile it again");
    return made;
  }
  const plan::Variable &ring = *plan.variables()->Get(static_cast<uint32_t>(plan.learning_rate()));
  made.buffer = ring.buffer();
  made.size = static_cast<uint64_t>(plan.buffers()->Get(ring.buffer())->shape()->Get(0));
  made.steps = steps;
  double planned = plan.optimizer() ? plan.optimizer()->lr() : ring.init() ? ring.init()->a() : 0;
  Result<LearningRate> rate = LearningRate::create(options, planned, steps);
  if (!rate)
    return rate.error();
  made.rate = std::move(*rate);
  return made;
}

std::optional<double> RateRing::at(uint64_t step) const {
  return rate ? std::optional(rate->at(step)) : std::nullopt;
}

Status RateRing::set(BufferAccess &access, uint64_t step) {
  Result<std::byte *> bytes = access.map(buffer);
  if (!bytes)
    return bytes.error();
  auto *rates = reinterpret_cast<float *>(*bytes);
  setUpTo = (step / size + 1) * size;
  for (; step < std::min(setUpTo, steps); ++step)
    rates[step % size] = static_cast<float>(rate->at(step));
  return access.unmap(buffer, /*written=*/true);
}

} // namespace gc::runtime
