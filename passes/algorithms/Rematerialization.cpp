#include "passes/algorithms/Rematerialization.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gc {
namespace {

RematPlan planOf(const StepGraph &graph, std::vector<Retention> retention) {
  ScheduleCost cost = costOf(graph, buildSchedule(graph, retention));
  return {std::move(retention), cost.peak, cost.seconds, cost.recomputeSeconds};
}

bool canDrop(const StepGraph &graph, int value) {
  const StepValue &v = graph.values[value];
  return v.producer >= 0 && !v.untilEnd && !graph.ops[v.producer].backward &&
         graph.ops[v.producer].repeatable;
}

} // namespace

std::vector<int> savedValues(const StepGraph &graph) {
  std::vector<char> used(graph.values.size(), 0);
  for (const StepOp &op : graph.ops)
    if (op.backward)
      for (int operand : op.operands)
        used[operand] = 1;
  std::vector<int> saved;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (used[v] && canDrop(graph, static_cast<int>(v)))
      saved.push_back(static_cast<int>(v));
  return saved;
}

RematPlan keepAll(const StepGraph &graph) {
  return planOf(graph, std::vector<Retention>(graph.values.size(), Retention::Keep));
}

RematPlan dropAll(const StepGraph &graph) {
  std::vector<Retention> retention(graph.values.size(), Retention::Keep);
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (canDrop(graph, static_cast<int>(v)))
      retention[v] = Retention::Drop;
  return planOf(graph, std::move(retention));
}

// A cut after forward op i keeps what is made at or before i and read by forward ops behind it: from
// there everything behind can be computed again. Cuts are placed where the saved bytes passed are a
// multiple of the total / (count + 1), each moved to the cheapest crossing nearby.
RematPlan keepCheckpoints(const StepGraph &graph, int count) {
  std::vector<int> forward;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    if (!graph.ops[i].backward)
      forward.push_back(static_cast<int>(i));
  std::vector<int> lastForwardUse(graph.values.size(), -1);
  for (int i : forward)
    for (int operand : graph.ops[i].operands)
      lastForwardUse[operand] = i;
  std::vector<char> isSaved(graph.values.size(), 0);
  for (int v : savedValues(graph))
    isSaved[v] = 1;

  std::vector<int64_t> crossing(graph.ops.size(), 0), passed(graph.ops.size(), 0);
  int64_t sum = 0;
  for (int i : forward) {
    for (int r : graph.ops[i].results) {
      if (isSaved[r])
        sum += graph.values[r].bytes;
      for (int j = i; j < lastForwardUse[r]; ++j)
        crossing[j] += graph.values[r].bytes;
    }
    passed[i] = sum;
  }
  std::vector<Retention> retention = dropAll(graph).retention;
  // What is small costs little to keep and often much to make (statistics): keep it.
  int64_t largest = 0;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (isSaved[v])
      largest = std::max(largest, graph.values[v].bytes);
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (isSaved[v] && graph.values[v].bytes * 256 < largest)
      retention[v] = Retention::Keep;
  for (int k = 1; k <= count; ++k) {
    double goal = static_cast<double>(sum) * k / (count + 1);
    double slack = static_cast<double>(sum) / (count + 1) / 3;
    int best = -1;
    for (int i : forward)
      if (std::abs(passed[i] - goal) <= slack && (best < 0 || crossing[i] < crossing[best]))
        best = i;
    if (best < 0)
      for (int i : forward)
        if (best < 0 || std::abs(passed[i] - goal) < std::abs(passed[best] - goal))
          best = i;
    for (size_t v = 0; v < graph.values.size(); ++v) {
      int producer = graph.values[v].producer;
      if (producer >= 0 && !graph.ops[producer].backward && producer <= best &&
          lastForwardUse[v] > best)
        retention[v] = Retention::Keep;
    }
  }
  return planOf(graph, std::move(retention));
}

RematPlan keepSquareRoot(const StepGraph &graph) {
  double saved = static_cast<double>(savedValues(graph).size());
  return keepCheckpoints(graph, static_cast<int>(std::lround(std::sqrt(saved))));
}

//===----------------------------------------------------------------------===//
// The frontier
//===----------------------------------------------------------------------===//

namespace {

class Descent {
public:
  Descent(const StepGraph &graph, const FrontierOptions &options)
      : graph(graph), options(options), saved(savedValues(graph)) {
    setCurrent(std::vector<Retention>(graph.values.size(), Retention::Keep));
  }

  std::vector<RematPlan> run() {
    record(current);
    if (saved.size() <= exhaustive) {
      tryEverything();
      return pareto();
    }
    std::vector<RematPlan> checkpoints{dropAll(graph)};
    for (int count = 1; count < static_cast<int>(saved.size()); count += 1 + count / 3)
      checkpoints.push_back(keepCheckpoints(graph, count));
    // Towards the smallest peak: from several plans where that is quick, else from the smallest.
    auto byPeak = [](const RematPlan &a, const RematPlan &b) { return a.peak < b.peak; };
    if (saved.size() <= 100) {
      for (size_t i = 0, starts = checkpoints.size(); i < starts; i += 1 + starts / 4)
        checkpoints.push_back(lowerPeak(checkpoints[i]));
      checkpoints.push_back(lowerPeak(current));
    } else {
      checkpoints.push_back(
          lowerPeak(*std::min_element(checkpoints.begin(), checkpoints.end(), byPeak)));
    }
    for (const RematPlan &plan : checkpoints)
      record(plan);
    int64_t floor = std::max(peakLowerBound(graph), options.stopBelow);
    int64_t top = current.peak;
    for (int rung = 1; rung <= options.rungs; ++rung) {
      int64_t target = top - (top - floor) * rung / options.rungs;
      if (current.peak <= target)
        continue;
      bool reached = descend(target);
      // The best checkpointing that fits, improved, may beat the descent: go on from the better.
      const RematPlan *best = nullptr;
      for (const RematPlan &plan : checkpoints)
        if (plan.peak <= target && (!best || plan.seconds < best->seconds))
          best = &plan;
      if (reached)
        restore(target);
      if (best && (!reached || best->seconds < current.seconds * 1.1)) {
        RematPlan before = current;
        setCurrent(best->retention);
        restore(target);
        if (reached && before.seconds <= current.seconds)
          setCurrent(before.retention);
        reached = true;
      }
      record(current);
      if (!reached)
        break;
    }
    return pareto();
  }

private:
  void setCurrent(std::vector<Retention> retention) {
    schedule = buildSchedule(graph, retention);
    cost = costOf(graph, schedule);
    current = {std::move(retention), cost.peak, cost.seconds, cost.recomputeSeconds};
  }

  // Equal neighbours are the rule while a search stands still.
  void record(const RematPlan &plan) {
    if (found.empty() || found.back().peak != plan.peak || found.back().seconds != plan.seconds)
      found.push_back(plan);
  }

  // Few values: every way to keep, drop or forget them.
  static constexpr size_t exhaustive = 9;
  void tryEverything() {
    size_t ways = 1;
    for (size_t i = 0; i < saved.size(); ++i)
      ways *= 3;
    for (size_t way = 1; way < ways; ++way) {
      std::vector<Retention> retention(graph.values.size(), Retention::Keep);
      size_t rest = way;
      for (int value : saved) {
        retention[value] = static_cast<Retention>(rest % 3);
        rest /= 3;
      }
      record(planOf(graph, std::move(retention)));
    }
  }

  // Bytes above the target, summed over the step: falls even where several places share the peak.
  static double excess(const ScheduleCost &cost, int64_t target) {
    double sum = 0;
    for (int64_t live : cost.live)
      sum += static_cast<double>(std::max<int64_t>(0, live - target));
    // Schedules differ in length; the mean does not favour short ones.
    return sum / static_cast<double>(cost.live.size());
  }

  // Seconds to bring a value back now: its producer and whatever that needs and is not kept.
  double chainSeconds(int value, std::vector<char> &seen) {
    int producer = graph.values[value].producer;
    if (producer < 0 || seen[producer])
      return 0;
    seen[producer] = 1;
    double seconds = graph.ops[producer].seconds;
    for (int operand : graph.ops[producer].operands)
      if (canDrop(graph, operand) &&
          (current.retention[operand] != Retention::Keep || !isSaved(operand)))
        seconds += chainSeconds(operand, seen);
    return seconds;
  }
  bool isSaved(int value) const { return std::binary_search(saved.begin(), saved.end(), value); }

  // One value less, again and again, the best by bytes above the target per second.
  bool descend(int64_t target) {
    while (current.peak > target) {
      struct Candidate {
        int value;
        double score;
      };
      std::vector<Candidate> candidates;
      for (int value : saved) {
        Retention now = current.retention[value];
        if (now == Retention::Forget)
          continue;
        std::vector<char> seen(graph.ops.size(), 0);
        double seconds = chainSeconds(value, seen) + 1e-9;
        // Forgetting repeats the whole chain for each use; look at it only when dropping is done.
        double penalty = now == Retention::Drop ? 1e-3 : 1;
        candidates.push_back({value, penalty * graph.values[value].bytes / seconds});
      }
      std::sort(candidates.begin(), candidates.end(),
                [](const Candidate &a, const Candidate &b) { return a.score > b.score; });
      double before = excess(cost, target);
      double bestScore = 0;
      std::vector<Retention> best;
      int looked = 0;
      for (const Candidate &candidate : candidates) {
        if (looked >= options.candidates && !best.empty())
          break;
        if (looked >= 20 * options.candidates)
          break;
        ++looked;
        std::vector<Retention> next = current.retention;
        next[candidate.value] =
            next[candidate.value] == Retention::Keep ? Retention::Drop : Retention::Forget;
        ScheduleCost nextCost = costOf(graph, buildSchedule(graph, next));
        double gain = before - excess(nextCost, target);
        if (gain <= 0)
          continue;
        double score = gain / std::max(1e-9, nextCost.seconds - cost.seconds);
        if (score > bestScore) {
          bestScore = score;
          best = std::move(next);
        }
      }
      if (best.empty())
        best = dropTwo(target, before);
      if (best.empty())
        return false;
      setCurrent(std::move(best));
    }
    return true;
  }

  // Some values are worth dropping only together: one is what the other comes back from.
  std::vector<Retention> dropTwo(int64_t target, double before) {
    double bestScore = 0;
    std::vector<Retention> best;
    for (size_t i = 0; i < saved.size(); ++i)
      for (size_t j = i + 1; j < std::min(saved.size(), i + 4); ++j) {
        std::vector<Retention> next = current.retention;
        for (int value : {saved[i], saved[j]})
          if (next[value] == Retention::Keep)
            next[value] = Retention::Drop;
        if (next == current.retention)
          continue;
        ScheduleCost nextCost = costOf(graph, buildSchedule(graph, next));
        double gain = before - excess(nextCost, target);
        double score = gain / std::max(1e-9, nextCost.seconds - cost.seconds);
        if (gain > 0 && score > bestScore) {
          bestScore = score;
          best = std::move(next);
        }
      }
    return best;
  }

  // Changes one value at a time as long as the peak falls; every pass looks at all that are alive
  // at the peak, so large graphs get few passes.
  RematPlan lowerPeak(RematPlan plan) {
    for (int pass = 0; pass < options.lowerPasses; ++pass) {
      bool changed = false;
      for (int value : saved) {
        Retention old = plan.retention[value];
        for (Retention other : {Retention::Keep, Retention::Drop, Retention::Forget}) {
          if (other == plan.retention[value])
            continue;
          std::vector<Retention> next = plan.retention;
          next[value] = other;
          RematPlan changedPlan = planOf(graph, std::move(next));
          if (changedPlan.peak < plan.peak ||
              (changedPlan.peak == plan.peak && changedPlan.seconds < plan.seconds))
            plan = std::move(changedPlan);
        }
        changed |= plan.retention[value] != old;
        record(plan);
      }
      if (!changed)
        break;
    }
    return plan;
  }

  // Keeps after all what fits, the dearest to bring back first.
  void restore(int64_t target) {
    std::vector<std::pair<double, int>> order;
    for (int value : saved)
      if (current.retention[value] != Retention::Keep)
        order.push_back({graph.ops[graph.values[value].producer].seconds /
                             static_cast<double>(graph.values[value].bytes + 1),
                         value});
    std::sort(order.rbegin(), order.rend());
    if (static_cast<int>(order.size()) > options.restores)
      order.resize(options.restores);
    for (auto [ratio, value] : order) {
      std::vector<Retention> next = current.retention;
      next[value] = Retention::Keep;
      Schedule nextSchedule = buildSchedule(graph, next);
      ScheduleCost nextCost = costOf(graph, nextSchedule);
      if (nextCost.peak <= target && nextCost.seconds < cost.seconds) {
        schedule = std::move(nextSchedule);
        cost = std::move(nextCost);
        current = {std::move(next), cost.peak, cost.seconds, cost.recomputeSeconds};
      }
    }
  }

  std::vector<RematPlan> pareto() {
    std::sort(found.begin(), found.end(), [](const RematPlan &a, const RematPlan &b) {
      return a.peak != b.peak ? a.peak < b.peak : a.seconds < b.seconds;
    });
    std::vector<RematPlan> best; // by rising peak, falling time
    for (RematPlan &plan : found)
      if (best.empty() || plan.seconds < best.back().seconds)
        best.push_back(std::move(plan));
    std::reverse(best.begin(), best.end());
    return best;
  }

  const StepGraph &graph;
  const FrontierOptions &options;
  std::vector<int> saved; // ascending
  RematPlan current;
  Schedule schedule;
  ScheduleCost cost;
  std::vector<RematPlan> found;
};

} // namespace

std::vector<RematPlan> frontier(const StepGraph &graph, const FrontierOptions &options) {
  return Descent(graph, options).run();
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

double recomputeLowerBound(const StepGraph &graph, int64_t budget) {
  std::vector<int> saved = savedValues(graph);
  std::vector<int> lastUse(graph.values.size(), -1);
  for (size_t i = 0; i < graph.ops.size(); ++i)
    for (int operand : graph.ops[i].operands)
      lastUse[operand] = static_cast<int>(i);
  double bound = 0;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const StepOp &op = graph.ops[i];
    auto touches = [&](int value) {
      return std::find(op.operands.begin(), op.operands.end(), value) != op.operands.end() ||
             std::find(op.results.begin(), op.results.end(), value) != op.results.end();
    };
    // What is saved across this op and not used by it, by producer: freeing any part of it costs
    // at least the producer once.
    struct Item {
      int64_t bytes = 0;
      double seconds = 0;
    };
    std::vector<Item> items;
    int64_t across = 0;
    for (int value : saved) {
      int producer = graph.values[value].producer;
      if (producer < static_cast<int>(i) && lastUse[value] > static_cast<int>(i) &&
          !touches(value)) {
        items.push_back({graph.values[value].bytes, graph.ops[producer].seconds});
        across += graph.values[value].bytes;
      }
    }
    // The op itself needs at least its workspace and its largest tensor (others may be in place).
    int64_t own = op.workspace;
    int64_t largest = 0;
    for (const std::vector<int> *list : {&op.operands, &op.results})
      for (int value : *list)
        if (graph.values[value].producer >= 0)
          largest = std::max(largest, graph.values[value].bytes);
    int64_t mustFree = across + own + largest - budget;
    if (mustFree <= 0)
      continue;
    std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
      return a.seconds * static_cast<double>(b.bytes) < b.seconds * static_cast<double>(a.bytes);
    });
    double seconds = 0;
    for (const Item &item : items) {
      if (mustFree <= 0)
        break;
      double part = std::min(1.0, static_cast<double>(mustFree) /
                                      static_cast<double>(std::max<int64_t>(1, item.bytes)));
      seconds += part * item.seconds;
      mustFree -= item.bytes;
    }
    bound = std::max(bound, seconds);
  }
  return bound;
}

int64_t peakLowerBound(const StepGraph &graph) {
  int64_t bound = 0;
  for (const StepOp &op : graph.ops) {
    // Operands are all there when the op begins; results may be written over some of them.
    int64_t operands = 0, results = 0;
    std::vector<int> seen;
    for (int value : op.operands)
      if (graph.values[value].producer >= 0 &&
          std::find(seen.begin(), seen.end(), value) == seen.end()) {
        seen.push_back(value);
        operands += graph.values[value].bytes;
      }
    for (int value : op.results)
      results += graph.values[value].bytes;
    int64_t own = op.inPlace.empty() ? operands + results : std::max(operands, results);
    bound = std::max(bound, own + op.workspace);
  }
  return bound;
}

} // namespace gc
