#include "passes/algorithms/rematerialization/PlanImprover.h"

#include <algorithm>
#include <limits>
#include <queue>

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

// Seconds and bytes that a change of one decision brings, as the plan is now. The change is taken
// back.
PlanImprover::Effect PlanImprover::effectOf(int value, Retention to, int moment) {
  double seconds = tracker->recomputeSeconds();
  int64_t bytes = tracker->bytesAt(moment), peak = tracker->peak();
  tracker->mark();
  tracker->decide(value, to);
  tracker->settle();
  Effect effect{.seconds = tracker->recomputeSeconds() - seconds,
                .bytes = tracker->bytesAt(moment) - bytes,
                .peak = tracker->peak() - peak,
                .isValid = tracker->valid()};
  tracker->undo();
  return effect;
}

void PlanImprover::change(int value, Retention to) {
  tracker->decide(value, to);
  tracker->settle();
  tracker->mark();
}

void PlanImprover::lower(int64_t target) {
  // What freeing a value costs changes with every decision: the first of the queue is looked at,
  // and goes back with what it costs now unless it is still the cheapest.
  using Entry = std::pair<double, int>; // seconds per byte, and the value
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<int> elsewhere; // does nothing for the present peak
  for (int value : decidable)
    elsewhere.push_back(value);
  int moment = -1;
  bool mayRise = false;
  while (tracker->peak() > target) {
    if (tracker->peakMoment() != moment) {
      moment = tracker->peakMoment();
      std::erase_if(elsewhere, [&](int value) {
        if (!tracker->waitsAt(value, moment))
          return false;
        queue.push({0, value});
        return true;
      });
    }
    if (queue.empty()) {
      if (mayRise)
        return;
      mayRise = true;
      moment = -1;
      continue;
    }
    int value = queue.top().second;
    queue.pop();
    Retention to =
        tracker->retention()[value] == Retention::Keep ? Retention::Drop : Retention::Forget;
    Effect effect{.bytes = 0};
    if (tracker->waitsAt(value, moment))
      effect = effectOf(value, to, moment);
    if (!effect.isValid || effect.bytes >= 0 || (effect.peak > 0 && !mayRise)) {
      elsewhere.push_back(value);
      continue;
    }
    double ratio = effect.seconds / static_cast<double>(-effect.bytes);
    if (!queue.empty() && ratio > queue.top().first * 1.0001) {
      queue.push({ratio, value});
      continue;
    }
    change(value, to);
    elsewhere.push_back(value);
  }
}

void PlanImprover::fill(int64_t target) {
  using Entry = std::pair<double, int>; // seconds saved per byte, and the value
  std::priority_queue<Entry> queue;
  constexpr double unknown = std::numeric_limits<double>::max();
  for (int value : decidable)
    if (tracker->retention()[value] != Retention::Keep)
      queue.push({unknown, value});
  while (!queue.empty()) {
    int value = queue.top().second;
    queue.pop();
    Effect effect = effectOf(value, Retention::Keep, 0);
    if (!effect.isValid || effect.seconds >= 0 || tracker->peak() + effect.peak > target)
      continue;
    double ratio = -effect.seconds / static_cast<double>(graph.values[value].bytes + 1);
    if (!queue.empty() && ratio < queue.top().first * 0.9999)
      queue.push({ratio, value});
    else
      change(value, Retention::Keep);
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
    // Slower by more than some multiple of the temperature is taken back; small multiples are
    // likelier. A change that is too slow whatever its peak need not be counted to the end.
    double chance = static_cast<double>(random() % 1024) / 1024;
    double most = now + temperature * chance * chance * 3;
    tracker->settleRuns();
    double next = tracker->recomputeSeconds();
    if (tracker->valid() && next <= most) {
      tracker->settle();
      next = cost(target);
    }
    if (!tracker->valid() || next > most) {
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
