//===- StepPlans.cpp - the plans between fast and small -------------------===//
#include "passes/StepPlans.h"
#include <deque>
#include <limits>
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

double StepPlans::recomputeBound(int64_t budget) const {
  double bound = recomputeLowerBound(graph->graph, budget - always);
  if (search->frontier)
    bound = std::max(bound, search->frontier->provenSeconds(budget - always));
  return parts * bound;
}

double StepPlans::leastSeconds(int64_t budget) const {
  return lowestBytes() <= budget ? seconds(keep) + recomputeBound(budget)
                                 : std::numeric_limits<double>::infinity();
}

const RematPlan *StepPlans::fastest(int64_t budget) {
  auto fits = [&](const RematPlan &plan) {
    return always + plan.peak <= budget && arenaBytes(plan) <= budget;
  };
  // The first plan recomputes nothing, and none is faster.
  if (fits(keep))
    return &keep;
  auto plan = llvm::find_if(frontier(), fits);
  double seconds =
      plan == frontier().end() ? std::numeric_limits<double>::infinity() : plan->recomputeSeconds;
  std::vector<RematPlan> better = search->frontier->plansFor(budget - always, seconds);
  auto best = llvm::find_if(better, fits);
  return best == better.end() ? nullptr : &search->given.emplace_back(*best);
}

const RematPlan &StepPlans::smallest() {
  // The plan with the fewest live bytes is not always the one with the smallest arena, because
  // packing may lose more on it. One whose live bytes alone exceed the best arena cannot be better.
  RematPlan best = frontier().back();
  int64_t bytes = arenaBytes(best);
  auto lookAmong = [&](std::vector<RematPlan> plans) {
    llvm::stable_sort(plans,
                      [](const RematPlan &a, const RematPlan &b) { return a.peak < b.peak; });
    for (RematPlan &plan : plans) {
      if (always + plan.peak >= bytes)
        break;
      if (int64_t own = arenaBytes(plan); own < bytes) {
        best = std::move(plan);
        bytes = own;
      }
    }
  };
  constexpr double anySeconds = std::numeric_limits<double>::infinity();
  lookAmong(frontier());
  // Who has less room than this is shown no other plans than these.
  lookAmong(search->frontier->plansFor(bytes - always, anySeconds));
  return search->given.emplace_back(std::move(best));
}

} // namespace gc
