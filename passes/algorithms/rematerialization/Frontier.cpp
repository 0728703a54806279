// Small graphs are solved exactly. Others get their first plans from minimum cuts, from a greedy
// search and from descents with a PlanTracker. Plans near a budget are improved when someone asks
// for it.
#include "passes/algorithms/rematerialization/Frontier.h"

#include "passes/algorithms/ParallelTasks.h"
#include "passes/algorithms/rematerialization/ExactRemat.h"
#include "passes/algorithms/rematerialization/PlanImprover.h"
#include "passes/algorithms/rematerialization/RematBounds.h"

#include <algorithm>
#include <limits>

namespace gc {

// The smallest plan above the target, or null.
static const RematPlan *nextLarger(const std::vector<RematPlan> &plans, int64_t target) {
  const RematPlan *next = nullptr;
  for (const RematPlan &plan : plans)
    if (plan.peak > target && (!next || plan.peak < next->peak))
      next = &plan;
  return next;
}

// Plans by the exact search. Each is asked for with a budget below the peak of the one before: just
// below it in small graphs, which gives every point of the frontier, else some steps below it.
// `complete` tells whether no search was cut short; `proven` gets what the others tell of a budget.
static std::vector<RematPlan> exactPlans(const StepGraph &graph, const FrontierOptions &options,
                                         bool &complete,
                                         std::vector<std::pair<int64_t, double>> &proven) {
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
    if (exact.complete && !exact.schedule) {
      proven.push_back({budget, std::numeric_limits<double>::infinity()});
      return plans;
    }
    if (!exact.schedule)
      continue;
    lives.analyse(flat, *exact.schedule);
    proven.push_back({budget, lives.recomputeSeconds()});
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
    base = exactPlans(graph, options, isOptimal, proven);
  else
    base.push_back(keepAll(graph));
  if (isOptimal)
    return;
  int64_t top = base.front().peak, least = peakLowerBound(graph);
  for (auto target = static_cast<double>(top); target >= static_cast<double>(least) && target > 0;
       target *= options.rungRatio)
    targets.push_back(static_cast<int64_t>(target));
  improved.resize(targets.size());
  bounds.resize(targets.size());
  cuts = cutPlans(graph, options.cuts);
  if (!isLarge())
    addSearched();
  add(cuts);
  base = paretoOf(std::move(base));
}

// Greedy plans, and descents from keeping everything and from cuts.
void Frontier::addSearched() {
  std::vector<const RematPlan *> starts{&base.front()};
  size_t descents = std::min(options.descents, cuts.size() - 1); // the first keeps everything
  for (size_t i = 1; i <= descents; ++i)
    starts.push_back(&cuts[(cuts.size() - 1) * i / descents]);
  std::vector<std::vector<RematPlan>> found(1 + starts.size());
  runTasks(static_cast<int>(found.size()), searchThreads(), [&](int task) {
    found[task] = task == 0 ? greedyPlans(graph, options.greedy) : descend(*starts[task - 1]);
  });
  for (std::vector<RematPlan> &plans : found)
    add(std::move(plans));
}

bool Frontier::isLarge() const { return graph.ops.size() > options.largeOps; }

void Frontier::add(std::vector<RematPlan> plans) {
  std::move(plans.begin(), plans.end(), std::back_inserter(base));
}

// From target to target the cheapest values are freed, and then others kept where they fit.
std::vector<RematPlan> Frontier::descend(const RematPlan &start) const {
  std::vector<RematPlan> plans;
  PlanImprover improver(graph, decidable);
  improver.begin(start.retention);
  for (size_t rung = 1; rung < targets.size(); ++rung) {
    if (targets[rung] >= start.peak)
      continue;
    improver.lower(targets[rung]);
    // Filling looks at every value; a large graph is lowered several rungs before that pays.
    if (!isLarge() || rung % 4 == 0)
      improver.fill(targets[rung]);
    std::optional<RematPlan> plan = improver.plan();
    if (!plan || plan->peak > targets[rung] ||
        plan->seconds > options.slowest * base.front().seconds)
      break;
    plans.push_back(std::move(*plan));
  }
  return plans;
}

// Plans of a large graph that are smaller than those from cuts.
const std::vector<RematPlan> &Frontier::smallPlans() {
  if (!small)
    small = isLarge() ? descend(base.back()) : std::vector<RematPlan>();
  return *small;
}

// Seconds that improve() does not go below, so that few rungs need to be improved for a budget:
// what plans take that have much more room, or much less than those that are there at first.
double Frontier::leastFor(int rung) const {
  const RematPlan *own = fastestWithin(base, targets[rung]);
  while (!own) // smaller than what is there: as for the last rung that is not
    own = fastestWithin(base, targets[--rung]);
  const RematPlan *above = fastestWithin(base, targets[std::max(0, rung - options.reach)]);
  return std::min(above->recomputeSeconds, options.mostGain * own->recomputeSeconds);
}

// What no plan of a rung can beat.
double Frontier::boundOf(int rung) {
  if (!bounds[rung])
    bounds[rung] = std::max(recomputeLowerBound(graph, targets[rung - 1]), leastFor(rung));
  return *bounds[rung];
}

double Frontier::provenSeconds(int64_t room) const {
  double seconds = 0;
  for (auto [budget, best] : proven)
    if (room <= budget)
      seconds = std::max(seconds, best);
  return seconds;
}

std::vector<RematPlan> Frontier::plansFor(int64_t room, double recomputeSeconds) {
  std::vector<RematPlan> plans = base;
  if (isOptimal)
    return plans;
  if (recomputeLowerBound(graph, base.back().peak) <= recomputeSeconds)
    plans.insert(plans.end(), smallPlans().begin(), smallPlans().end());
  // Smaller targets have larger bounds: the rungs that are worth it are next to each other.
  auto rungs = static_cast<int>(targets.size());
  int begin = 1;
  while (begin < rungs && room <= lowestOf(begin))
    ++begin;
  int end = begin, beyond = rungs;
  while (end < beyond) {
    int middle = (end + beyond) / 2;
    if (boundOf(middle) <= recomputeSeconds)
      end = middle + 1;
    else
      beyond = middle;
  }
  std::vector<int> missing;
  for (int rung = begin; rung < end; ++rung)
    if (!improved[rung])
      missing.push_back(rung);
  std::vector<RematPlan> starts = base;
  if (!missing.empty() && targets[missing.back() - 1] <= base.back().peak)
    starts.insert(starts.end(), smallPlans().begin(), smallPlans().end());
  runTasks(static_cast<int>(missing.size()), searchThreads(), [&](int task) {
    int rung = missing[task];
    improved[rung] = improve(rung, targets[rung - 1] <= base.back().peak ? starts : base);
  });
  for (int rung = begin; rung < end; ++rung)
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

// Improves the plans next to the rung's target by random changes, and makes of them plans for the
// targets up to the next rung's.
std::vector<RematPlan> Frontier::improve(int rung, const std::vector<RematPlan> &starts) const {
  int64_t target = targets[rung], above = targets[rung - 1];
  auto count = static_cast<int64_t>(decidable.size()), ops = static_cast<int64_t>(graph.ops.size());
  int64_t changes = std::min(count * std::min(options.changesPerValue, 4 * count),
                             std::clamp(options.changesTimesOps / std::max<int64_t>(1, ops),
                                        options.fewestChanges, options.mostChanges));
  std::vector<RematPlan> plans;
  if (!fastestWithin(starts, target))
    return plans; // smaller than all that is known
  double least = leastFor(rung);
  PlanImprover improver(graph, decidable);
  const RematPlan *fast = fastestWithin(starts, target), *cut = fastestWithin(cuts, target);
  struct Start {
    const RematPlan *plan;
    int64_t changes;
  };
  // The last one begins far from what others found, and has time to go far.
  for (auto [start, changes] : {Start{fast, changes},
                                {cut && cut->seconds != fast->seconds ? cut : nullptr, changes},
                                {nextLarger(starts, target), changes},
                                {cut ? cut : &cuts.back(), options.longer * changes}}) {
    if (!start)
      continue;
    improver.begin(start->retention);
    improver.lower(target);
    improver.fill(target);
    improver.anneal(target, changes);
    for (int part = 0; part < options.between; ++part) {
      improver.fill(target + (above - target) * part / options.between);
      if (std::optional<RematPlan> plan = improver.plan(); plan && plan->peak <= above &&
                                                           plan->peak > lowestOf(rung) &&
                                                           plan->recomputeSeconds >= least)
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
