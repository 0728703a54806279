//===- StepPlans.cpp - the plans between fast and small -------------------===//
#include "passes/StepPlans.h"
#include <deque>
#include <optional>

using namespace mlir;

namespace gc {

// The plans, once someone has asked for them; and those that were given away.
struct StepPlans::Search {
  std::optional<Frontier> frontier;
  std::deque<RematPlan> given;
};

StepPlans::StepPlans(ModuleOp module, func::FuncOp train, int64_t microBatches,
                     const OpCosts &costs, const PlanMemoryOptions &memory)
    : search(std::make_shared<Search>()), parts(microBatches), slots(memory.inputSlots),
      packer(memory.packer), inputBytesPerSecond(memory.inputBytesPerSecond) {
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
    const PackingResult &packed = packer->pack(other.graph, plainSchedule(FlatGraph(other.graph)));
    elsewhere = std::max(elsewhere, static_cast<int64_t>(packed.bytes));
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
  if (!search->frontier)
    search->frontier.emplace(graph->graph);
  return search->frontier->plans();
}

int64_t StepPlans::arenaBytes(const RematPlan &plan) const {
  const PackingResult &packed = packer->pack(graph->graph, scheduleOf(graph->graph, plan));
  return always + std::max(static_cast<int64_t>(packed.bytes), elsewhere);
}

const RematPlan *StepPlans::fastest(int64_t budget) {
  auto fits = [&](const RematPlan &plan) {
    return always + plan.peak <= budget && arenaBytes(plan) <= budget;
  };
  // The first plan recomputes nothing, and none is faster.
  if (fits(keep))
    return &keep;
  auto plan = llvm::find_if(frontier(), fits);
  if (plan == frontier().end())
    return nullptr;
  std::vector<RematPlan> better =
      search->frontier->plansFor(budget - always, plan->recomputeSeconds);
  return &search->given.emplace_back(*llvm::find_if(better, fits));
}

const RematPlan &StepPlans::smallest() {
  // The last plan has the fewest live bytes, but packing may lose more on it than on those before
  // it. A plan whose live bytes alone exceed the best arena so far cannot be better.
  const RematPlan *best = &frontier().back();
  int64_t bytes = arenaBytes(*best);
  for (const RematPlan &plan : llvm::reverse(frontier())) {
    if (always + plan.peak >= bytes)
      break;
    if (int64_t own = arenaBytes(plan); own < bytes) {
      best = &plan;
      bytes = own;
    }
  }
  return *best;
}

} // namespace gc
