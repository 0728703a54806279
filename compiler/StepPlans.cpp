//===- StepPlans.cpp - the plans between fast and small -------------------===//
#include "compiler/StepPlans.h"
#include "passes/algorithms/Packing.h"

using namespace mlir;

namespace gc {

static int64_t packedBytes(const StepGraph &graph, const Schedule &schedule,
                           uint64_t searchSteps) {
  Lives lives;
  lives.analyse(FlatGraph(graph), schedule);
  std::vector<Interval> intervals;
  for (const StorageLife &storage : lives.storages()) {
    Interval interval;
    interval.lower = storage.first;
    interval.upper = storage.last + 1;
    interval.size = storage.bytes;
    interval.alignment = storageAlignment;
    intervals.push_back(interval);
  }
  PackingOptions options;
  options.stepLimit = searchSteps;
  return static_cast<int64_t>(packIntervals(intervals, options).bytes);
}

StepPlans::StepPlans(ModuleOp module, func::FuncOp train, int64_t microBatches,
                     const OpCosts &costs, const PlanMemoryOptions &memory)
    : parts(microBatches), searchSteps(memory.searchSteps) {
  auto seconds = [&](Operation *op) { return costs.seconds(op); };
  graph = stepGraphOf(train, seconds);
  always = persistentBytes(module, memory);
  keep = keepAll(graph.graph);
  for (auto function : module.getOps<func::FuncOp>()) {
    auto list = function->getAttrOfType<StringAttr>("gc.list");
    if (!list || function == train)
      continue;
    FunctionGraph other = stepGraphOf(function, seconds);
    elsewhere = std::max(
        elsewhere,
        always + packedBytes(other.graph, plainSchedule(FlatGraph(other.graph)), searchSteps));
    if (list.getValue() == "step")
      for (const StepOp &op : other.graph.ops)
        updateSeconds += op.seconds;
  }
}

const std::vector<RematPlan> &StepPlans::frontier() {
  if (plans.empty()) {
    plans = gc::frontier(graph.graph);
    packed.resize(plans.size());
  }
  return plans;
}

int64_t StepPlans::arenaBytes(const RematPlan &plan) const {
  int64_t own = packedBytes(graph.graph, scheduleOf(graph.graph, plan), searchSteps);
  return std::max(always + own, elsewhere);
}

int64_t StepPlans::frontierBytes(size_t index) {
  if (!packed[index])
    packed[index] = arenaBytes(plans[index]);
  return *packed[index];
}

const RematPlan *StepPlans::fastest(int64_t budget) {
  frontier();
  for (size_t i = 0; i < plans.size(); ++i)
    if (always + plans[i].peak <= budget && frontierBytes(i) <= budget)
      return &plans[i];
  return nullptr;
}

const RematPlan &StepPlans::smallest() {
  frontier();
  // Packing may lose more on the last than on one before it.
  constexpr size_t looked = 4;
  size_t best = plans.size() - 1;
  for (size_t i = plans.size() - std::min(looked, plans.size()); i < plans.size(); ++i)
    if (frontierBytes(i) < frontierBytes(best))
      best = i;
  return plans[best];
}

} // namespace gc
