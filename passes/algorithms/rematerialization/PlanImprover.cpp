#include "passes/algorithms/rematerialization/PlanImprover.h"

#include <algorithm>

namespace gc {

PlanImprover::PlanImprover(const StepGraph &graph, const std::vector<int> &decidable)
    : graph(graph), decidable(decidable), plain(retainSaved(graph)),
      isDecidable(graph.values.size(), 0) {
  for (const StepOp &op : graph.ops)
    step += op.seconds;
  for (int value : decidable)
    isDecidable[value] = 1;
}

void PlanImprover::begin(const std::vector<Retention> &retention) {
  std::vector<Retention> own = retention;
  for (size_t v = 0; v < own.size(); ++v)
    if (!isDecidable[v])
      own[v] = plain[v];
  if (!tracker) {
    tracker.emplace(graph, own);
    return;
  }
  for (int value : decidable)
    tracker->decide(value, own[value]);
  tracker->settle();
  tracker->mark();
}

std::optional<RematPlan> PlanImprover::plan() const {
  if (!tracker->valid())
    return std::nullopt;
  return RematPlan{.retention = tracker->retention(),
                   .peak = tracker->peak(),
                   .seconds = step + tracker->recomputeSeconds(),
                   .recomputeSeconds = tracker->recomputeSeconds(),
                   .byMoments = true};
}

double PlanImprover::secondsPerByte(int value) const {
  return graph.ops[graph.values[value].producer].seconds /
         static_cast<double>(graph.values[value].bytes + 1);
}

void PlanImprover::fill(int64_t target) {
  std::vector<std::pair<double, int>> dear; // seconds per byte, and the value
  for (int value : decidable)
    if (tracker->retention()[value] != Retention::Keep)
      dear.push_back({secondsPerByte(value), value});
  std::sort(dear.rbegin(), dear.rend());
  for (auto [ratio, value] : dear) {
    tracker->mark();
    double before = tracker->recomputeSeconds();
    tracker->decide(value, Retention::Keep);
    tracker->settle();
    if (tracker->peak() > target || tracker->recomputeSeconds() >= before || !tracker->valid())
      tracker->undo();
  }
}

double PlanImprover::cost(int64_t target) const {
  constexpr double impossible = 1e30;
  if (!tracker->valid())
    return impossible;
  int64_t over = std::max<int64_t>(0, tracker->peak() - target);
  double penalty =
      over > 0 ? step * (0.002 + static_cast<double>(over) / static_cast<double>(target)) : 0;
  return tracker->recomputeSeconds() + penalty;
}

// Forgetting is rare: it costs much.
Retention PlanImprover::another(Retention now) {
  auto number = random() % 8;
  if (now == Retention::Forget)
    return number < 4 ? Retention::Drop : Retention::Keep;
  if (number == 0)
    return Retention::Forget;
  return now == Retention::Keep ? Retention::Drop : Retention::Keep;
}

// One to three values, near each other or anywhere.
void PlanImprover::changeSome() {
  constexpr size_t reach = 6; // to both sides
  size_t count = 1 + random() % 3;
  size_t anchor = random() % decidable.size();
  for (size_t i = 0; i < count; ++i) {
    size_t place = random() % decidable.size();
    if (random() % 3)
      place = std::min(decidable.size() - 1,
                       std::max<size_t>(anchor + random() % (2 * reach + 1), reach) - reach);
    int value = decidable[place];
    tracker->decide(value, another(tracker->retention()[value]));
  }
  tracker->settle();
}

void PlanImprover::anneal(int64_t target, int64_t changes) {
  random.seed(1);
  // The temperature falls by this factor with each change: to a 60th in all.
  double cooling = 1 - 4.1 / static_cast<double>(std::max<int64_t>(changes, 10));
  double temperature = 0.006 * step;
  double now = cost(target);
  std::vector<Retention> best;
  double fewest = step * 1e6;
  auto note = [&] {
    if (tracker->recomputeSeconds() < fewest * (1 - 1e-9) && tracker->valid() &&
        tracker->peak() <= target) {
      fewest = tracker->recomputeSeconds();
      best = tracker->retention();
    }
  };
  note();
  for (int64_t i = 0; i < changes; ++i, temperature *= cooling) {
    tracker->mark();
    changeSome();
    double next = cost(target);
    // Slower by more than some multiple of the temperature is taken back; small multiples are
    // likelier.
    double chance = static_cast<double>(random() % 1024) / 1024;
    if (next - now > temperature * chance * chance * 3) {
      tracker->undo();
      continue;
    }
    now = next;
    note();
  }
  if (!best.empty())
    begin(best);
}

} // namespace gc
