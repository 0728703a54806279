//===- Remat.cpp - which plan a step gets ---------------------------------===//
#include "compiler/Remat.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace gc {
namespace {

constexpr int badInput = 2, noBudget = 3;

StepDecision refuse(int exitCode, std::string error) {
  StepDecision decision;
  decision.exitCode = exitCode;
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

// The best of all candidates; equal seconds: fewer micro-batches.
StepDecision meetBudget(std::vector<StepPlans> &candidates, int64_t budget) {
  StepDecision decision;
  const RematPlan *best = nullptr;
  for (auto [i, plans] : llvm::enumerate(candidates))
    if (const RematPlan *plan = plans.fastest(budget))
      if (!best || plans.seconds(*plan) < candidates[decision.candidate].seconds(*best)) {
        best = plan;
        decision.candidate = i;
      }
  if (best) {
    decision.plan = *best;
    return decision;
  }
  auto smallestBytes = [](StepPlans &plans) { return plans.arenaBytes(plans.smallest()); };
  size_t least = 0;
  int64_t needed = smallestBytes(candidates[0]), lowest = candidates[0].lowestBytes();
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (int64_t bytes = smallestBytes(candidates[i]); bytes < needed) {
      needed = bytes;
      least = i;
    }
    lowest = std::min(lowest, candidates[i].lowestBytes());
  }
  StepPlans &plans = candidates[least];
  return refuse(
      noBudget,
      llvm::formatv("the budget of {0} cannot be met: this step needs at least {1}{2}\nno plan in "
                    "this order of ops can need less than {3}; weights, state, input and library "
                    "transients alone take {4}\n{5}\ntry --budget={6}{7}",
                    bytesText(budget), bytesText(needed),
                    plans.microBatches() > 1
                        ? llvm::formatv(" with {0} micro-batches", plans.microBatches()).str()
                        : "",
                    bytesText(lowest), bytesText(plans.persistent()),
                    aliveText(peakOf(plans.function(), plans.smallest())), needed,
                    candidates.back().microBatches() == 1 ? ", a smaller batch or --accumulate"
                                                          : " or a smaller batch"));
}

// --remat=NAME, or --remat=checkpoints:N.
StepDecision followPolicy(StepPlans &plans, const std::string &policy) {
  const StepGraph &graph = plans.function().graph;
  auto [name, number] = StringRef(policy).split(':');
  int count = 0;
  if (name == "checkpoints") {
    if (number.getAsInteger(10, count) || count < 0)
      return refuse(badInput, "--remat=" + policy + ": expected checkpoints:N with N from 0 on");
    size_t saved = savedValues(graph).size();
    if (static_cast<size_t>(count) > saved)
      return refuse(badInput, llvm::formatv("--remat={0}: the step saves only {1} values; use at "
                                            "most that many checkpoints",
                                            policy, saved));
  }
  std::optional<RematPlan> plan = planByPolicy(graph, name, count);
  if (!plan || (name != "checkpoints" && name.size() != policy.size()))
    return refuse(badInput, "--remat=" + policy + ": expected none, all, sqrt or checkpoints:N");
  if (!scheduleOf(graph, *plan).valid())
    return refuse(badInput,
                  "--remat=" + policy +
                      " would run an op again after its weights have changed; use --budget, "
                      "which avoids that");
  StepDecision decision;
  decision.plan = std::move(*plan);
  return decision;
}

} // namespace

StepDecision decide(std::vector<StepPlans> &candidates, const CompileOptions &options) {
  if (!options.budgetBytes)
    return followPolicy(candidates.front(), options.remat);
  if (options.remat != "none")
    return refuse(badInput, "--budget and --remat=" + options.remat +
                                " exclude each other: the budget decides what is recomputed");
  return meetBudget(candidates, static_cast<int64_t>(options.budgetBytes));
}

nlohmann::json paretoTable(std::vector<StepPlans> &candidates, int points) {
  int64_t top = candidates[0].arenaBytes(candidates[0].keepEverything()), bottom = top;
  for (StepPlans &plans : candidates)
    bottom = std::min(bottom, plans.arenaBytes(plans.smallest()));
  nlohmann::json rows = nlohmann::json::array();
  for (int i = 0; i < points; ++i) {
    int64_t budget = points == 1 ? top : top - (top - bottom) * i / (points - 1);
    StepDecision decision = meetBudget(candidates, budget);
    StepPlans &plans = candidates[decision.candidate];
    double base = candidates[0].seconds(candidates[0].keepEverything());
    Schedule schedule = scheduleOf(plans.function().graph, decision.plan);
    int again = 0;
    for (int place = 0; place < schedule.size(); ++place)
      again += schedule.recomputed(place);
    rows.push_back({{"budget_bytes", budget},
                    {"peak_bytes", plans.arenaBytes(decision.plan)},
                    {"step_seconds_predicted", plans.seconds(decision.plan)},
                    {"recompute_fraction", plans.recomputeSeconds(decision.plan) / base},
                    {"time_lower_bound", plans.recomputeBound(budget) / base},
                    {"micro_batches", plans.microBatches()},
                    {"input_slots", plans.inputSlots()},
                    {"recomputed_ops", again}});
  }
  return rows;
}

} // namespace gc
