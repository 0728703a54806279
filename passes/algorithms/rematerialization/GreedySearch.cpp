// From keeping everything downwards, rung by rung. At each rung the decision that frees most per
// second is taken, found by simulating the whole schedule; then what turned out not to be needed is
// kept after all.
#include "passes/algorithms/rematerialization/GreedySearch.h"

#include "passes/algorithms/rematerialization/RematBounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gc {
namespace {

class Search {
public:
  Search(const StepGraph &graph, const GreedyOptions &options)
      : graph(graph), options(options), scheduler(graph), saved(savedValues(graph)),
        decidable(decidableValues(graph)), isSaved(graph.values.size(), 0) {
    for (int value : saved)
      isSaved[value] = 1;
    for (size_t v = 0; v < graph.values.size(); ++v)
      secondsToFree.push_back(graph.values[v].producer < 0 ? 0 : ownSeconds(static_cast<int>(v)));
  }

  std::vector<RematPlan> run() {
    move(retainSaved(graph));
    int64_t top = current.peak;
    if (top <= peakLowerBound(graph) || decidable.empty())
      return paretoOf(std::move(found));
    std::vector<RematPlan> starts = checkpointPlans();
    int64_t floor = top;
    for (const RematPlan &plan : starts)
      floor = std::min(floor, plan.peak);

    // From rung to rung the target falls by the same ratio.
    auto targetOf = [&](int rung) {
      double part = static_cast<double>(rung) / options.rungs;
      return static_cast<int64_t>(top * std::pow(static_cast<double>(floor) / top, part));
    };
    // Downwards: each target is reached by the decisions that cost least.
    move(retainSaved(graph));
    for (int rung = 1; rung <= options.rungs; ++rung) {
      int64_t target = targetOf(rung);
      if (rung % 4 == 1)
        refreshSeconds();
      if (!descend(target)) {
        // No decision lowers the peak to the target: go on from the fastest known plan that fits.
        const RematPlan *best = fastestWithin(found, target);
        if (!best)
          break;
        move(best->retention);
      }
      improve(target);
      if (const RematPlan *other = fastestWithin(starts, target);
          other && other->seconds < 1.1 * current.seconds) {
        RematPlan before = current;
        move(other->retention);
        improve(target);
        if (before.seconds <= current.seconds)
          move(before.retention);
      }
    }
    // Upwards: plans that were found for smaller targets are improved for the larger ones.
    for (int rung = options.rungs; rung > 0; --rung)
      if (const RematPlan *best = fastestWithin(found, targetOf(rung))) {
        move(best->retention);
        improve(targetOf(rung));
      }
    return paretoOf(std::move(found));
  }

private:
  struct Gap {
    int begin = -1, end = -1; // places
  };
  struct Outcome {
    int64_t peak = 0;
    double seconds = 0, recomputeSeconds = 0;
    double excess = 0; // bytes above the target, averaged over the step
  };

  static double excessOf(const std::vector<int64_t> &live, int64_t target) {
    double excess = 0;
    for (int64_t bytes : live)
      excess += static_cast<double>(std::max<int64_t>(0, bytes - target));
    return excess / static_cast<double>(live.size());
  }

  Outcome evaluate(const std::vector<Retention> &retention, int64_t target) {
    const Schedule &schedule = scheduler.build(retention);
    if (!schedule.valid()) {
      constexpr double never = std::numeric_limits<double>::infinity();
      return {std::numeric_limits<int64_t>::max(), never, never, never};
    }
    lives.analyse(scheduler.flat(), schedule);
    return {lives.peak(), lives.seconds(), lives.recomputeSeconds(),
            excessOf(lives.live(), target)};
  }

  // Makes these decisions the present plan, and notes where in its schedule each value is not
  // alive.
  void move(std::vector<Retention> retention) {
    Outcome outcome = evaluate(retention, 0);
    current = {std::move(retention), nullptr, outcome.peak, outcome.seconds,
               outcome.recomputeSeconds};
    live = lives.live();
    const Schedule &schedule = scheduler.last();
    away.assign(graph.values.size(), {});
    back.assign(graph.values.size(), {});
    const FlatGraph &flat = scheduler.flat();
    for (int place = 0; place < schedule.size(); ++place) {
      const FlatGraph::Op &op = flat.ops[schedule.op(place)];
      bool backward = op.backward || schedule.recomputed(place);
      auto touch = [&](int value) {
        if (!backward) {
          away[value].begin = place;
          return;
        }
        if (away[value].end < 0)
          away[value].end = back[value].begin = place;
        back[value].end = place;
      };
      for (int value : flat.list(op.operands))
        touch(value);
      for (int value : flat.list(op.results))
        touch(value);
    }
    if (!found.empty() && found.back().peak == current.peak &&
        found.back().seconds == current.seconds)
      return;
    found.push_back(current);
    if (std::find(current.retention.begin(), current.retention.end(), Retention::Forget) !=
        current.retention.end())
      recordHeld(schedule);
  }

  // Records a variant of the present plan, too: a forgotten value is held between two of its uses
  // wherever that fits below the plan's peak.
  void recordHeld(const Schedule &schedule) {
    auto held =
        std::make_shared<Schedule>(holdWhereItFits(scheduler.flat(), schedule, live, current.peak));
    lives.analyse(scheduler.flat(), *held);
    found.push_back(
        {current.retention, held, lives.peak(), lives.seconds(), lives.recomputeSeconds()});
  }

  //===--- freeing ---===//

  // The decisions that hold a value for a shorter time than the present plan.
  std::vector<std::vector<Retention>> waysToFree(int value) {
    std::vector<std::vector<Retention>> ways;
    const std::vector<Retention> &now = current.retention;
    if (now[value] == Retention::Forget)
      return ways;
    ways.push_back(now);
    ways.back()[value] = now[value] == Retention::Keep ? Retention::Drop : Retention::Forget;
    if (now[value] != Retention::Keep)
      return ways;
    // Another way: keep the operands that the value is made from instead of it, where they would
    // die.
    int64_t bytes = 0;
    std::vector<Retention> instead = ways.front();
    for (int operand : graph.ops[graph.values[value].producer].operands)
      if (canDrop(graph, operand) && !isSaved[operand] && now[operand] == Retention::Drop) {
        instead[operand] = Retention::Keep;
        bytes += graph.values[operand].bytes;
      }
    if (bytes > 0 && bytes < graph.values[value].bytes)
      ways.push_back(std::move(instead));
    return ways;
  }

  struct Candidate {
    double estimate; // bytes above the target that this frees, per second that it costs
    int value;
  };

  // Estimates what freeing a value gains, without building a schedule: the bytes above the target
  // that it would free, divided by the seconds that this cost when it was last simulated.
  double estimate(int value, int64_t target) const {
    const Gap &gap = gapOf(value);
    if (gap.begin >= gap.end)
      return 0;
    int64_t bytes = graph.values[value].bytes;
    double sum = 0;
    for (int place = gap.begin; place < gap.end; ++place)
      sum += static_cast<double>(std::clamp<int64_t>(live[place] - target, 0, bytes));
    return sum / static_cast<double>(live.size()) / std::max(1e-9, secondsToFree[value]);
  }

  // Where the bytes of a value could be freed next.
  const Gap &gapOf(int value) const {
    return current.retention[value] == Retention::Keep ? away[value] : back[value];
  }

  // What dropping each kept value would cost in the present plan.
  void refreshSeconds() {
    for (int value : decidable)
      if (current.retention[value] == Retention::Keep)
        secondsToFree[value] = simulatedSeconds(value);
  }

  double simulatedSeconds(int value) {
    std::vector<Retention> next = current.retention;
    next[value] = Retention::Drop;
    return evaluate(next, 0).seconds - current.seconds;
  }

  // Frees one value after the other until the target is reached. Values are dropped first; only
  // when none can be dropped any more is a dropped one forgotten, because making it again for each
  // use costs much.
  bool descend(int64_t target) {
    while (current.peak > target) {
      if (!freeOne(target, Retention::Keep) && !freeOne(target, Retention::Drop))
        return false;
    }
    return true;
  }

  std::vector<Candidate> candidatesToFree(int64_t target, Retention from) {
    std::vector<Candidate> candidates;
    for (int value : decidable)
      if (current.retention[value] == from)
        if (double rate = estimate(value, target); rate > 0)
          candidates.push_back({rate, value});
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate &a, const Candidate &b) { return a.estimate > b.estimate; });
    return candidates;
  }

  bool freeOne(int64_t target, Retention from) {
    std::vector<Candidate> candidates = candidatesToFree(target, from);
    double before = excessOf(live, target);
    double bestRate = 0;
    std::vector<Retention> best;
    size_t looked = 0;
    for (const Candidate &candidate : candidates) {
      if (bestRate > 0 && (candidate.estimate < bestRate || looked >= options.looks))
        break;
      ++looked;
      for (std::vector<Retention> &way : waysToFree(candidate.value)) {
        Outcome outcome = evaluate(way, target);
        double seconds = std::max(1e-9, outcome.seconds - current.seconds);
        secondsToFree[candidate.value] = seconds;
        double rate = (before - outcome.excess) / seconds;
        if (rate > bestRate) {
          bestRate = rate;
          best = std::move(way);
        }
      }
    }
    if (best.empty())
      return false;
    move(std::move(best));
    return true;
  }

  //===--- holding ---===//

  // By how many bytes the plan would exceed the target if it kept this value.
  int64_t overshoot(int value, int64_t target) const {
    int64_t most = 0;
    for (int place = away[value].begin; place < away[value].end; ++place)
      most = std::max(most, live[place]);
    return std::max<int64_t>(0, most + graph.values[value].bytes - target);
  }

  double ownSeconds(int value) const { return graph.ops[graph.values[value].producer].seconds; }

  bool take(std::vector<Retention> next, int64_t target) {
    Outcome outcome = evaluate(next, target);
    if (outcome.peak > target || outcome.seconds >= current.seconds)
      return false;
    move(std::move(next));
    return true;
  }

  // Keeps values that the plan recomputes where they fit after all, beginning with those that cost
  // most seconds per byte; where one does not fit, it is kept instead of another that costs less.
  void improve(int64_t target) {
    std::vector<std::pair<double, int>> dear; // seconds per byte, and the value
    double cheapest = std::numeric_limits<double>::infinity();
    for (int value : decidable) {
      double ratio = ownSeconds(value) / static_cast<double>(graph.values[value].bytes + 1);
      if (current.retention[value] != Retention::Keep && away[value].end >= 0)
        dear.push_back({ratio, value});
      else if (current.retention[value] == Retention::Keep && isSaved[value])
        cheapest = std::min(cheapest, ratio);
    }
    std::sort(dear.rbegin(), dear.rend());
    size_t exchanges = options.exchanges;
    for (auto [ratio, value] : dear) {
      std::vector<Retention> next = current.retention;
      if (next[value] == Retention::Forget) {
        next[value] = Retention::Drop;
        take(next, target);
        next = current.retention;
      }
      if (next[value] == Retention::Keep)
        continue;
      int64_t over = overshoot(value, target);
      next[value] = Retention::Keep;
      if (over == 0) {
        take(std::move(next), target);
      } else if (exchanges > 0 && ratio > cheapest)
        exchange(next, value, over, target, exchanges);
    }
  }

  // `next` keeps `value`, which exceeds the target by `over`: drops one other value to make room
  // for it. Each attempt lowers `tries`; none is made when it is 0.
  void exchange(std::vector<Retention> &next, int value, int64_t over, int64_t target,
                size_t &tries) {
    // The seconds that keeping the value saves, if all other decisions stay.
    double gain = current.seconds - evaluate(next, target).seconds;
    --tries;
    std::vector<std::pair<double, int>> cheap;
    for (int other : decidable)
      if (other != value && next[other] == Retention::Keep && secondsToFree[other] < gain &&
          graph.values[other].bytes >= over && away[other].end > away[value].begin)
        cheap.push_back({secondsToFree[other], other});
    std::sort(cheap.begin(), cheap.end());
    for (size_t i = 0; i < cheap.size() && i < 6 && tries > 0; ++i, --tries) {
      next[cheap[i].second] = Retention::Drop;
      if (take(next, target))
        return;
      next[cheap[i].second] = Retention::Keep;
    }
  }

  //===--- other beginnings ---===//

  // Plans with evenly spaced checkpoints; those with the smallest peaks are lowered further.
  std::vector<RematPlan> checkpointPlans() {
    std::vector<RematPlan> plans;
    for (int count = 0; count < static_cast<int>(saved.size()); count += 1 + count / 4) {
      RematPlan plan = keepCheckpoints(graph, count);
      if (!scheduleOf(graph, plan).valid())
        continue;
      plans.push_back(plan);
      found.push_back(std::move(plan));
    }
    std::sort(plans.begin(), plans.end(),
              [](const RematPlan &a, const RematPlan &b) { return a.peak < b.peak; });
    int count = decidable.size() > 200 ? 1 : options.lowered;
    for (int i = 0; i < count && i < static_cast<int>(plans.size()); ++i)
      plans.push_back(lowerPeak(RematPlan(plans[i])));
    return plans;
  }

  // Frees one value after the other as long as the peak falls.
  RematPlan lowerPeak(const RematPlan &plan) {
    move(plan.retention);
    RematPlan lowest = current;
    int64_t floor = peakLowerBound(graph);
    while (lowest.peak > floor) {
      descend(std::max(floor, lowest.peak - std::max(storageAlignment, lowest.peak / 50)));
      if (current.peak >= lowest.peak)
        break;
      lowest = current;
    }
    return lowest;
  }

  const StepGraph &graph;
  const GreedyOptions &options;
  Scheduler scheduler;
  Lives lives;
  std::vector<int> saved, decidable;
  std::vector<char> isSaved;
  RematPlan current;
  std::vector<int64_t> live; // of the present plan, at each place
  std::vector<Gap> away; // for each value: from its last use in forward to its first in backward
  std::vector<Gap> back; // for each value: from its first use in backward to its last
  std::vector<double> secondsToFree; // for each value: what freeing it cost when last simulated
  std::vector<RematPlan> found;
};

} // namespace

std::vector<RematPlan> greedyPlans(const StepGraph &graph, const GreedyOptions &options) {
  return Search(graph, options).run();
}

} // namespace gc
