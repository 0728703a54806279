//===- ChooseStep.cpp - which plan a step gets ----------------------------===//
#include "passes/ChooseStep.h"
#include "passes/Rematerialize.h"
#include "passes/analysis/PeakFacts.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace gc {
namespace {

StepDecision refuse(StepDecision::Outcome outcome, std::string error) {
  StepDecision decision;
  decision.outcome = outcome;
  decision.error = std::move(error);
  return decision;
}

std::string aliveText(const PeakFacts &peak) {
  constexpr size_t shown = 6;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "the peak is at " << (peak.op.empty() ? "the end of the step" : peak.op)
      << ", where these are alive:";
  for (const PeakFacts::Alive &alive : ArrayRef(peak.alive).take_front(shown))
    out << "\n  " << bytesText(alive.bytes) << "  " << alive.name;
  if (peak.alive.size() > shown)
    out << "\n  and " << peak.alive.size() - shown << " more";
  return text;
}

// Tells what the smallest of all plans needs.
StepDecision refuseBudget(std::vector<StepCandidate> &candidates, const MemoryWishes &wishes) {
  auto [least, needed] = smallestStep(candidates);
  int64_t lowest = lowestBytes(candidates);
  StepPlans &plans = candidates[least].plans;
  int64_t parts = candidates[least].split.parts;
  bool isAnySplit =
      llvm::any_of(candidates, [](const StepCandidate &own) { return own.split.parts > 1; });
  StepDecision decision = refuse(
      StepDecision::Outcome::BudgetMissed,
      llvm::formatv(
          "the budget of {0} cannot be met: this step needs at least {1}{2}\nno plan {9} can "
          "need less than {3}; weights, state, input and library "
          "transients alone take {4}\n{5}\ntry {6}={7}{8}",
          bytesText(wishes.budgetBytes), bytesText(needed),
          plans.microBatches() > 1
              ? llvm::formatv(" with {0} micro-batches", plans.microBatches()).str()
          : parts > 1 ? llvm::formatv(", with chains of ops in {0} parts of the batch", parts).str()
                      : "",
          bytesText(lowest), bytesText(plans.persistent()),
          aliveText(peakOf(plans.function(), plans.smallest())), wishes.budgetOption, needed,
          llvm::all_of(candidates,
                       [](const StepCandidate &own) { return own.plans.microBatches() == 1; })
              ? ", a smaller batch or --accumulate"
              : " or a smaller batch",
          isAnySplit ? "in these orders of ops, with and without such parts,"
                     : "in this order of ops"));
  decision.smallestBytes = needed;
  decision.lowestBytes = lowest;
  return decision;
}

// Those that may be fastest come first, so that others are not searched: a proven bound tells that
// they cannot be.
StepDecision meetBudget(std::vector<StepCandidate> &candidates, const MemoryWishes &wishes) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, candidate] : llvm::enumerate(candidates))
    order.push_back({candidate.plans.leastSeconds(wishes.budgetBytes), i});
  llvm::sort(order);
  StepDecision decision;
  std::optional<std::pair<double, size_t>> best;
  for (auto bound : order) {
    // The same seconds, added up in another order, may differ in their last bits.
    constexpr double rounding = 1e-12;
    if (std::isinf(bound.first) || (best && bound.first > best->first * (1 + rounding)))
      break;
    StepPlans &plans = candidates[bound.second].plans;
    const RematPlan *plan = plans.fastest(wishes.budgetBytes);
    if (!plan)
      continue;
    if (std::pair found(plans.seconds(*plan), bound.second); !best || found < *best) {
      best = found;
      decision.candidate = bound.second;
      decision.plan = *plan;
    }
  }
  return best ? decision : refuseBudget(candidates, wishes);
}

StepDecision followPolicy(StepPlans &plans, const MemoryWishes &wishes) {
  const StepGraph &graph = plans.function().graph;
  auto bad = [&](const Twine &what) {
    return refuse(StepDecision::Outcome::BadWish, (wishes.policyAsWritten + what).str());
  };
  size_t saved = savedValues(graph).size();
  if (wishes.policy == "checkpoints" && static_cast<size_t>(wishes.checkpoints) > saved)
    return bad(": the step saves only " + Twine(saved) +
               " values; use at most that many checkpoints");
  std::optional<RematPlan> plan = planByPolicy(graph, wishes.policy, wishes.checkpoints);
  if (!plan)
    return bad(": there is no such policy; there are none, all, sqrt and checkpoints");
  if (!scheduleOf(graph, *plan).valid())
    return bad(" would run an op again after its weights have changed; use " + wishes.budgetOption +
               ", which avoids that");
  StepDecision decision;
  decision.plan = std::move(*plan);
  return decision;
}

} // namespace

int64_t lowestBytes(const std::vector<StepCandidate> &candidates) {
  int64_t lowest = std::numeric_limits<int64_t>::max();
  for (const StepCandidate &candidate : candidates)
    lowest = std::min(lowest, candidate.plans.lowestBytes());
  return lowest;
}

void addCandidates(ModuleOp module, func::FuncOp train, int64_t microBatches, bool lean,
                   bool scarce, const PlanMemoryOptions &memory,
                   std::vector<StepCandidate> &candidates) {
  candidates.push_back({module, StepPlans(module, train, microBatches, OpCosts(), memory), lean});
  if (scarce && memory.inputSlots > 1)
    candidates.push_back({module, candidates.back().plans.withOneInputSlot(), lean});
}

std::pair<size_t, int64_t> smallestStep(std::vector<StepCandidate> &candidates) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, candidate] : llvm::enumerate(candidates))
    order.push_back({candidate.plans.lowestBytes(), i});
  llvm::sort(order);
  std::optional<std::pair<int64_t, size_t>> best;
  for (auto bound : order) {
    if (best && bound > *best)
      break;
    StepPlans &plans = candidates[bound.second].plans;
    std::pair found(plans.arenaBytes(plans.smallest()), bound.second);
    best = std::min(best.value_or(found), found);
  }
  return {best->second, best->first};
}

StepDecision chooseStep(std::vector<StepCandidate> &candidates, const MemoryWishes &wishes) {
  return wishes.budgetBytes ? meetBudget(candidates, wishes)
                            : followPolicy(candidates.front().plans, wishes);
}

FailureOr<MemoryPlan> placeStep(StepCandidate &candidate, const RematPlan &plan,
                                PlanMemoryOptions memory) {
  int64_t promised = candidate.plans.arenaBytes(plan);
  applyRematerialization(candidate.plans.function(), plan);
  memory.inputSlots = candidate.plans.inputSlots();
  FailureOr<MemoryPlan> placed = planMemory(candidate.module, memory);
  if (failed(placed))
    return failure();
  for (auto function : candidate.module.getOps<func::FuncOp>())
    if (failed(verifyRematerialization(function)))
      return failure();
  // The packer remembers what it scored; another size means that other bytes were placed.
  if (placed->arenaBytes != promised)
    return candidate.module.emitError("the placed step needs ")
           << bytesText(placed->arenaBytes) << ", not the " << bytesText(promised)
           << " that its plan promised; please report this";
  return placed;
}

} // namespace gc
