#include "passes/algorithms/rematerialization/Rematerialization.h"

#include "passes/algorithms/rematerialization/PlanTracker.h"

#include <algorithm>
#include <cmath>

namespace gc {

Schedule scheduleOf(const StepGraph &graph, const RematPlan &plan) {
  if (plan.explicitly)
    return *plan.explicitly;
  return plan.byMoments ? PlanTracker(graph, plan.retention).schedule()
                        : Scheduler(graph).build(plan.retention);
}

const RematPlan *fastestWithin(const std::vector<RematPlan> &plans, int64_t target) {
  const RematPlan *best = nullptr;
  for (const RematPlan &plan : plans)
    if (plan.peak <= target && (!best || plan.seconds < best->seconds))
      best = &plan;
  return best;
}

std::vector<RematPlan> paretoOf(std::vector<RematPlan> plans) {
  std::sort(plans.begin(), plans.end(), [](const RematPlan &a, const RematPlan &b) {
    return a.peak != b.peak ? a.peak < b.peak : a.seconds < b.seconds;
  });
  std::vector<RematPlan> best; // by rising peak, falling time
  for (RematPlan &plan : plans)
    if (best.empty() || plan.seconds < best.back().seconds)
      best.push_back(std::move(plan));
  std::reverse(best.begin(), best.end());
  return best;
}

static RematPlan planOf(const StepGraph &graph, std::vector<Retention> retention) {
  Lives lives;
  Scheduler scheduler(graph);
  lives.analyse(scheduler.flat(), scheduler.build(retention));
  return {std::move(retention), nullptr, lives.peak(), lives.seconds(), lives.recomputeSeconds()};
}

RematPlan keepAll(const StepGraph &graph) { return planOf(graph, retainSaved(graph)); }

static std::vector<Retention> dropWhatCanBe(const StepGraph &graph) {
  std::vector<Retention> retention(graph.values.size(), Retention::Keep);
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (canDrop(graph, static_cast<int>(v)))
      retention[v] = Retention::Drop;
  return retention;
}

RematPlan dropAll(const StepGraph &graph) { return planOf(graph, dropWhatCanBe(graph)); }

// A cut after forward op i keeps what is made at or before i and read by forward ops behind it:
// from there everything behind can be computed again. Cuts are placed where the saved bytes passed
// are a multiple of the total / (count + 1), each moved to the cheapest crossing nearby.
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
      // From here to before its last use; summed up below.
      crossing[i] += graph.values[r].bytes;
      crossing[std::max(i, lastForwardUse[r])] -= graph.values[r].bytes;
    }
    passed[i] = sum;
  }
  for (size_t i = 1; i < crossing.size(); ++i)
    crossing[i] += crossing[i - 1];
  std::vector<Retention> retention = dropWhatCanBe(graph);
  // What is small costs little to keep and often much to make (statistics): keep it.
  int64_t largest = 0;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (isSaved[v])
      largest = std::max(largest, graph.values[v].bytes);
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (isSaved[v] && graph.values[v].bytes * 256 < largest)
      retention[v] = Retention::Keep;
  std::vector<int> cutsBefore(graph.ops.size() + 1, 0); // first marked, then summed up
  for (int k = 1; k <= count; ++k) {
    double goal = static_cast<double>(sum) * k / (count + 1);
    double slack = static_cast<double>(sum) / (count + 1) / 3;
    // What was passed never falls from op to op.
    auto isBefore = [&](int op, double bytes) { return static_cast<double>(passed[op]) < bytes; };
    auto nearest = std::lower_bound(forward.begin(), forward.end(), goal, isBefore);
    auto near = std::lower_bound(forward.begin(), nearest, goal - slack, isBefore);
    int best = -1;
    for (; near != forward.end() && static_cast<double>(passed[*near]) <= goal + slack; ++near)
      if (best < 0 || crossing[*near] < crossing[best])
        best = *near;
    if (best < 0) {
      if (nearest == forward.end() ||
          (nearest != forward.begin() && goal - static_cast<double>(passed[*(nearest - 1)]) <=
                                             static_cast<double>(passed[*nearest]) - goal))
        --nearest;
      // The first op that has passed as much.
      best = *std::lower_bound(forward.begin(), nearest, static_cast<double>(passed[*nearest]),
                               isBefore);
    }
    cutsBefore[best + 1] = 1;
  }
  for (size_t i = 0; i + 1 < cutsBefore.size(); ++i)
    cutsBefore[i + 1] += cutsBefore[i];
  // Kept is what is made before a cut and read behind it.
  for (size_t v = 0; v < graph.values.size(); ++v) {
    int producer = graph.values[v].producer, last = lastForwardUse[v];
    if (producer >= 0 && !graph.ops[producer].backward && last > producer &&
        cutsBefore[last] > cutsBefore[producer])
      retention[v] = Retention::Keep;
  }
  return planOf(graph, std::move(retention));
}

RematPlan keepSquareRoot(const StepGraph &graph) {
  double saved = static_cast<double>(savedValues(graph).size());
  return keepCheckpoints(graph, static_cast<int>(std::lround(std::sqrt(saved))));
}

std::optional<RematPlan> planByPolicy(const StepGraph &graph, std::string_view policy,
                                      int checkpoints) {
  if (policy == "none")
    return keepAll(graph);
  if (policy == "all")
    return dropAll(graph);
  if (policy == "sqrt")
    return keepSquareRoot(graph);
  if (policy == "checkpoints")
    return keepCheckpoints(graph, checkpoints);
  return std::nullopt;
}

} // namespace gc
