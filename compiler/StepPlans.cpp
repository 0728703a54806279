//===- StepPlans.cpp - the plans between fast and small -------------------===//
#include "compiler/StepPlans.h"
#include "passes/algorithms/Packing.h"

using namespace mlir;

namespace gc {

static int64_t bytesWhenPacked(const StepGraph &graph, const Schedule &schedule,
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
    : shared(std::make_shared<Frontier>()), parts(microBatches), slots(memory.inputSlots),
      searchSteps(memory.searchSteps), inputBytesPerSecond(memory.inputBytesPerSecond) {
  auto seconds = [&](Operation *op) { return costs.seconds(op); };
  graph = std::make_shared<FunctionGraph>(stepGraphOf(train, seconds));
  always = persistentBytes(module, memory);
  for (BlockArgument argument : train.getArguments())
    inputBytes += alignedBytes(byteSize(argument.getType()));
  keep = keepAll(graph->graph);
  for (auto function : module.getOps<func::FuncOp>()) {
    auto list = function->getAttrOfType<StringAttr>("gc.list");
    if (!list || function == train)
      continue;
    FunctionGraph other = stepGraphOf(function, seconds);
    elsewhere =
        std::max(elsewhere, bytesWhenPacked(other.graph, plainSchedule(FlatGraph(other.graph)),
                                            searchSteps));
    if (list.getValue() == "step")
      for (const StepOp &op : other.graph.ops)
        updateSeconds += op.seconds;
  }
}

StepPlans StepPlans::withOneInputSlot() const {
  StepPlans one = *this;
  one.slots = 1;
  one.always -= (slots - 1) * inputBytes;
  one.waitSeconds = static_cast<double>(parts * inputBytes) / inputBytesPerSecond;
  return one;
}

const std::vector<RematPlan> &StepPlans::frontier() {
  if (shared->plans.empty()) {
    shared->plans = gc::frontier(graph->graph);
    shared->packed.resize(shared->plans.size());
  }
  return shared->plans;
}

int64_t StepPlans::packedBytes(const RematPlan &plan) const {
  return bytesWhenPacked(graph->graph, scheduleOf(graph->graph, plan), searchSteps);
}

int64_t StepPlans::arenaBytes(const RematPlan &plan) const {
  // Known already if it is one of the frontier's.
  for (size_t i = 0; i < shared->plans.size(); ++i)
    if (shared->plans[i].retention == plan.retention &&
        shared->plans[i].explicitly == plan.explicitly && shared->packed[i])
      return always + std::max(*shared->packed[i], elsewhere);
  return always + std::max(packedBytes(plan), elsewhere);
}

int64_t StepPlans::frontierBytes(size_t index) {
  std::optional<int64_t> &bytes = shared->packed[index];
  if (!bytes)
    bytes = packedBytes(shared->plans[index]);
  return always + std::max(*bytes, elsewhere);
}

const RematPlan *StepPlans::fastest(int64_t budget) {
  // Nothing is faster than to recompute nothing.
  if (always + keep.peak <= budget && arenaBytes(keep) <= budget)
    return &keep;
  frontier();
  for (size_t i = 0; i < shared->plans.size(); ++i)
    if (always + shared->plans[i].peak <= budget && frontierBytes(i) <= budget)
      return &shared->plans[i];
  return nullptr;
}

const RematPlan &StepPlans::smallest() {
  frontier();
  // Packing may lose more on the last than on one before it.
  constexpr size_t looked = 4;
  size_t count = shared->plans.size(), best = count - 1;
  for (size_t i = count - std::min(looked, count); i < count; ++i)
    if (frontierBytes(i) < frontierBytes(best))
      best = i;
  return shared->plans[best];
}

} // namespace gc
