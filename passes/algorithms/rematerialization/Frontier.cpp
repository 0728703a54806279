// The first plans come from a greedy search: from keeping everything downwards, rung by rung. At
// each rung the decision that frees most per second is taken, found by simulating the whole
// schedule; then what turned out not to be needed is kept after all. Beside them are plans from
// minimum cuts. Those near a budget are improved when someone asks for it.
#include "passes/algorithms/rematerialization/Frontier.h"

#include "passes/algorithms/ParallelTasks.h"
#include "passes/algorithms/rematerialization/CutPlans.h"
#include "passes/algorithms/rematerialization/ExactRemat.h"
#include "passes/algorithms/rematerialization/LiveProfile.h"
#include "passes/algorithms/rematerialization/PlanImprover.h"
#include "passes/algorithms/rematerialization/RematBounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace gc {
namespace {

const RematPlan *fastest(const std::vector<RematPlan> &plans, int64_t target) {
  const RematPlan *best = nullptr;
  for (const RematPlan &plan : plans)
    if (plan.peak <= target && (!best || plan.seconds < best->seconds))
      best = &plan;
  return best;
}

class Search {
public:
  Search(const StepGraph &graph, const FrontierOptions &options, const std::vector<RematPlan> &cuts)
      : graph(graph), options(options), cuts(cuts), scheduler(graph), saved(savedValues(graph)),
        decidable(decidableValues(graph)), isSaved(graph.values.size(), 0),
        trials(options.exchanges) {
    for (int value : saved)
      isSaved[value] = 1;
    for (size_t v = 0; v < graph.values.size(); ++v) {
      secondsToFree.push_back(graph.values[v].producer < 0 ? 0 : ownSeconds(static_cast<int>(v)));
      droppable.push_back(canDrop(graph, static_cast<int>(v)));
    }
    visited.assign(graph.ops.size(), 0);
    isLarge = graph.ops.size() > options.simulatedOneByOne;
    if (isLarge) {
      batch = std::max<size_t>(1, decidable.size() / options.decisions);
      trials = std::min(options.exchanges, options.simulatedInTrials / graph.ops.size());
    }
  }

  std::vector<RematPlan> run() {
    move(retainSaved(graph));
    int64_t top = current.peak;
    if (top <= peakLowerBound(graph) || decidable.empty())
      return paretoOf(std::move(found));
    std::vector<RematPlan> starts = checkpointPlans();
    if (isLarge)
      for (const RematPlan &plan : cuts) {
        starts.push_back(plan);
        found.push_back(plan);
      }
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
        const RematPlan *best = fastest(found, target);
        if (!best)
          break;
        move(best->retention);
      }
      improve(target);
      if (const RematPlan *other = fastest(starts, target);
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
      if (const RematPlan *best = fastest(found, targetOf(rung))) {
        move(best->retention);
        improve(targetOf(rung));
      }
    if (!isLarge)
      found.insert(found.end(), cuts.begin(), cuts.end());
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

  Outcome evaluate(const std::vector<Retention> &retention, int64_t target) {
    const Schedule &schedule = scheduler.build(retention);
    if (!schedule.valid()) {
      constexpr double never = std::numeric_limits<double>::infinity();
      return {std::numeric_limits<int64_t>::max(), never, never, never};
    }
    lives.analyse(scheduler.flat(), schedule);
    simulated += graph.ops.size();
    Outcome outcome{lives.peak(), lives.seconds(), lives.recomputeSeconds(), 0};
    for (int64_t live : lives.live())
      outcome.excess += static_cast<double>(std::max<int64_t>(0, live - target));
    outcome.excess /= static_cast<double>(lives.live().size());
    return outcome;
  }

  // Makes these decisions the present plan, and notes where in its schedule each value is not
  // alive.
  void move(std::vector<Retention> retention) {
    Outcome outcome = evaluate(retention, 0);
    current = {std::move(retention), nullptr, outcome.peak, outcome.seconds,
               outcome.recomputeSeconds};
    live = lives.live();
    const Schedule &schedule = scheduler.last();
    runsAgain.assign(graph.ops.size(), 0);
    for (int place = 0; place < schedule.size(); ++place)
      if (schedule.recomputed(place))
        runsAgain[schedule.op(place)] = 1;
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
    if (isLarge)
      sum = std::min(excessBefore[gap.end] - excessBefore[gap.begin],
                     static_cast<double>(bytes) * (aboveBefore[gap.end] - aboveBefore[gap.begin]));
    else
      for (int place = gap.begin; place < gap.end; ++place)
        sum += static_cast<double>(std::clamp<int64_t>(live[place] - target, 0, bytes));
    return sum / static_cast<double>(live.size()) / std::max(1e-9, secondsToFree[value]);
  }

  // Where the bytes of a value could be freed next.
  const Gap &gapOf(int value) const {
    return current.retention[value] == Retention::Keep ? away[value] : back[value];
  }

  // Prepares estimates: sums over the places before each of them.
  void sumExcess(int64_t target) {
    excessBefore.assign(live.size() + 1, 0);
    aboveBefore.assign(live.size() + 1, 0);
    for (size_t place = 0; place < live.size(); ++place) {
      int64_t excess = std::max<int64_t>(0, live[place] - target);
      excessBefore[place + 1] = excessBefore[place] + static_cast<double>(excess);
      aboveBefore[place + 1] = aboveBefore[place] + (excess > 0);
    }
  }

  // What dropping each kept value would cost in the present plan: its producer runs again, and so
  // does what made the producer's operands, unless it runs again anyway.
  void refreshSeconds() {
    for (int value : decidable)
      if (current.retention[value] == Retention::Keep) {
        ++visit;
        secondsToFree[value] =
            isLarge ? secondsAgain(graph.values[value].producer) : simulatedSeconds(value);
      }
  }

  double simulatedSeconds(int value) {
    std::vector<Retention> next = current.retention;
    next[value] = Retention::Drop;
    return evaluate(next, 0).seconds - current.seconds;
  }

  double secondsAgain(int op) {
    std::vector<int> open{op};
    double seconds = 0;
    while (!open.empty()) {
      op = open.back();
      open.pop_back();
      if (runsAgain[op] || visited[op] == visit)
        continue;
      visited[op] = visit;
      seconds += graph.ops[op].seconds;
      for (int operand : graph.ops[op].operands)
        if (graph.values[operand].producer >= 0 && droppable[operand] &&
            current.retention[operand] != Retention::Keep)
          open.push_back(graph.values[operand].producer);
    }
    return seconds;
  }

  // Frees one value after the other until the target is reached. Values are dropped first; only
  // when none can be dropped any more is a dropped one forgotten, because making it again for each
  // use costs much.
  bool descend(int64_t target) {
    while (current.peak > target) {
      if (batch > 1) {
        refreshSeconds();
        if (freeMany(target, Retention::Keep, batch) ||
            freeMany(target, Retention::Drop, batch / 8))
          continue;
      }
      if (isLarge && simulated > options.simulatedInAll)
        return false;
      if (!freeOne(target, Retention::Keep) && !freeOne(target, Retention::Drop))
        return false;
    }
    return true;
  }

  std::vector<Candidate> candidatesToFree(int64_t target, Retention from) {
    sumExcess(target);
    std::vector<Candidate> candidates;
    for (int value : decidable)
      if (current.retention[value] == from)
        if (double rate = estimate(value, target); rate > 0)
          candidates.push_back({rate, value});
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate &a, const Candidate &b) { return a.estimate > b.estimate; });
    return candidates;
  }

  // Frees the best candidates together, as many as the target still needs where they are and at
  // most `most`; half as many if that turns out to help less than it seemed.
  bool freeMany(int64_t target, Retention from, size_t most) {
    if (most < 2)
      return false;
    std::vector<Candidate> candidates = candidatesToFree(target, from);
    LiveProfile profile(live);
    std::vector<int> chosen;
    for (const Candidate &candidate : candidates) {
      const Gap &gap = gapOf(candidate.value);
      if (profile.most(gap.begin, gap.end) <= target)
        continue;
      profile.add(gap.begin, gap.end, -graph.values[candidate.value].bytes);
      chosen.push_back(candidate.value);
      if (chosen.size() == most)
        break;
    }
    double before = excessBefore.back() / static_cast<double>(live.size());
    for (; chosen.size() > 1; chosen.resize(chosen.size() / 2)) {
      std::vector<Retention> next = current.retention;
      for (int value : chosen)
        next[value] = from == Retention::Keep ? Retention::Drop : Retention::Forget;
      Outcome outcome = evaluate(next, target);
      if (outcome.excess >= before)
        continue;
      move(std::move(next));
      return true;
    }
    return false;
  }

  bool freeOne(int64_t target, Retention from) {
    std::vector<Candidate> candidates = candidatesToFree(target, from);
    double before = excessBefore.back() / static_cast<double>(live.size());
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

  // Keeps dropped values as long as they seem to fit, those first that cost most seconds per byte,
  // and simulates all of them at once; half of them if that was too many. False: none was kept.
  bool fill(int64_t target) {
    std::vector<std::pair<double, int>> dear; // seconds per byte, and the value
    for (int value : decidable)
      if (current.retention[value] == Retention::Drop && away[value].end >= 0)
        dear.push_back(
            {ownSeconds(value) / static_cast<double>(graph.values[value].bytes + 1), value});
    std::sort(dear.rbegin(), dear.rend());
    LiveProfile profile(live);
    std::vector<int> chosen;
    for (auto [ratio, value] : dear) {
      const Gap &gap = away[value];
      if (profile.most(gap.begin, gap.end) + graph.values[value].bytes > target)
        continue;
      profile.add(gap.begin, gap.end, graph.values[value].bytes);
      chosen.push_back(value);
    }
    for (; !chosen.empty(); chosen.resize(chosen.size() / 2)) {
      std::vector<Retention> next = current.retention;
      for (int value : chosen)
        next[value] = Retention::Keep;
      if (take(std::move(next), target))
        return true;
    }
    return false;
  }

  // Keeps values that the plan recomputes where they fit after all, beginning with those that cost
  // most seconds per byte; where one does not fit, it is kept instead of another that costs less.
  void improve(int64_t target) {
    while (isLarge && fill(target))
      ;
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
    size_t exchanges = trials;
    auto singles = static_cast<int>(trials);
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
        if (!isLarge || singles-- > 0)
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
  const FrontierOptions &options;
  const std::vector<RematPlan> &cuts;
  Scheduler scheduler;
  Lives lives;
  std::vector<int> saved, decidable;
  std::vector<char> isSaved;
  RematPlan current;
  std::vector<int64_t> live; // of the present plan, at each place
  std::vector<Gap> away; // for each value: from its last use in forward to its first in backward
  std::vector<Gap> back; // for each value: from its first use in backward to its last
  std::vector<char> runsAgain, droppable;
  std::vector<int> visited; // for each op: the last visit of secondsAgain()
  int visit = 0;
  std::vector<double> excessBefore, aboveBefore; // see sumExcess()
  bool isLarge = false;
  size_t batch = 1;                  // how many values are freed at a time
  size_t trials;                     // simulations to improve one plan
  size_t simulated = 0;              // ops
  std::vector<double> secondsToFree; // for each value: what freeing it cost when last simulated
  std::vector<RematPlan> found;
};

} // namespace

// Plans by the exact search. Each is asked for with a budget below the peak of the one before: just
// below it in small graphs, which gives every point of the frontier, else some steps below it.
// `complete` tells whether no search was cut short.
static std::vector<RematPlan> exactPlans(const StepGraph &graph, const FrontierOptions &options,
                                         bool &complete) {
  std::vector<RematPlan> plans{keepAll(graph)};
  FlatGraph flat(graph);
  Lives lives;
  int64_t floor = peakLowerBound(graph);
  bool isSmall = static_cast<int>(graph.ops.size()) <= options.exactOps;
  complete = true;
  int states = options.exactStates, cutShort = 0;
  for (int64_t budget = plans.front().peak; budget > floor && states > 0;) {
    int64_t stride = isSmall ? 0 : budget / options.exactSteps;
    budget -= std::max(storageAlignment, stride);
    ExactRemat exact = solveExactly(graph, budget, options.statesPerBudget);
    states -= exact.states;
    complete &= exact.complete;
    // The exact search was cut short too often: the greedy search does better in less time.
    if (!exact.complete && ++cutShort == options.cutShort)
      break;
    if (exact.complete && !exact.schedule)
      return plans;
    if (!exact.schedule)
      continue;
    lives.analyse(flat, *exact.schedule);
    plans.push_back({retentionOf(graph, *exact.schedule), exact.schedule, lives.peak(),
                     lives.seconds(), lives.recomputeSeconds()});
    budget = std::min(budget, lives.peak());
  }
  complete &= states > 0;
  return plans;
}

Frontier::Frontier(const StepGraph &graph, const FrontierOptions &options)
    : graph(graph), options(options), decidable(decidableValues(graph)) {
  if (canSolveExactly(graph) && options.exactStates > 0)
    base = exactPlans(graph, options, isOptimal);
  if (!isOptimal) {
    cuts = cutPlans(graph, options.cuts);
    for (RematPlan &plan : Search(graph, options, cuts).run())
      base.push_back(std::move(plan));
  }
  base = paretoOf(std::move(base));
  if (base.size() < 2)
    return; // there is nothing between the largest peak and the smallest
  // From target to target bytes fall by the same ratio.
  auto top = static_cast<double>(base.front().peak), floor = static_cast<double>(base.back().peak);
  for (int rung = 0; rung <= options.rungs; ++rung)
    targets.push_back(static_cast<int64_t>(
        top * std::pow(floor / top, static_cast<double>(rung) / options.rungs)));
  improved.resize(targets.size());
}

std::vector<RematPlan> Frontier::plansFor(int64_t room, double recomputeSeconds) {
  std::vector<int> missing;
  std::vector<RematPlan> plans = base;
  auto rungs = static_cast<int>(targets.size());
  for (int rung = 1; rung < rungs && !isOptimal; ++rung)
    if (room > lowestOf(rung) && !improved[rung] &&
        recomputeLowerBound(graph, targets[rung - 1]) <= recomputeSeconds)
      missing.push_back(rung);
  int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  runTasks(static_cast<int>(missing.size()), threads,
           [&](int task) { improved[missing[task]] = improve(missing[task]); });
  for (int rung = 1; rung < rungs; ++rung)
    if (room > lowestOf(rung) && improved[rung])
      plans.insert(plans.end(), improved[rung]->begin(), improved[rung]->end());
  std::stable_sort(plans.begin(), plans.end(), [](const RematPlan &a, const RematPlan &b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.peak < b.peak;
  });
  return plans;
}

// Plans of a rung are larger than this.
int64_t Frontier::lowestOf(int rung) const {
  return rung + 1 < static_cast<int>(targets.size()) ? targets[rung + 1] : 0;
}

// Improves the best plan of the rung's target by random changes, and makes of it plans for the
// targets up to the next rung's.
std::vector<RematPlan> Frontier::improve(int rung) const {
  int64_t target = targets[rung], above = targets[rung - 1];
  auto count = static_cast<int64_t>(decidable.size());
  int64_t changes =
      std::min(count * std::min(options.changesPerValue, 4 * count), options.changesPerTarget);
  std::vector<RematPlan> plans;
  PlanImprover improver(graph, decidable);
  for (const RematPlan *start : {fastest(base, target), fastest(cuts, target)}) {
    if (!start)
      continue;
    improver.begin(start->retention);
    improver.fill(target);
    improver.anneal(target, changes);
    for (int part = 0; part < options.between; ++part) {
      improver.fill(target + (above - target) * part / options.between);
      if (std::optional<RematPlan> plan = improver.plan();
          plan && plan->peak <= above && plan->peak > lowestOf(rung))
        plans.push_back(std::move(*plan));
    }
  }
  return plans;
}

std::vector<RematPlan> frontier(const StepGraph &graph, const FrontierOptions &options) {
  constexpr auto anyRoom = std::numeric_limits<int64_t>::max();
  constexpr auto anySeconds = std::numeric_limits<double>::max();
  return paretoOf(Frontier(graph, options).plansFor(anyRoom, anySeconds));
}

} // namespace gc
