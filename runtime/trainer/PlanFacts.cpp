#include "runtime/trainer/PlanFacts.h"

#include "runtime/plan/Plan_generated.h"

#include <nlohmann/json.hpp>

namespace gc::runtime {

using nlohmann::json;

/// The compiler's own account, where its report has one; numbers that are missing stay.
static void takeRemat(RematReport &remat, const std::string &text) {
  json report = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("remat") || !report["remat"].is_object())
    return;
  const json &from = report["remat"];
  auto number = [&](const char *key) -> std::optional<double> {
    auto found = from.find(key);
    if (found == from.end() || !found->is_number())
      return std::nullopt;
    return found->get<double>();
  };
  if (from.contains("policy") && from["policy"].is_string())
    remat.policy = from["policy"].get<std::string>();
  remat.timeLowerBound = number("time_lower_bound");
  remat.gap = number("gap");
}

void fillPlanFacts(TrainingReport &report, const plan::Plan &plan) {
  report.model = plan.model()->str();
  report.device = plan.target()->device()->str();
  report.batch = plan.batch();
  report.microBatches = plan.micro_batches();
  report.parameters = plan.parameters();
  const plan::Memory &memory = *plan.memory();
  report.memory.predictedPeakBytes = plan.arena_bytes();
  report.memory.arenaBytes = plan.arena_bytes();
  report.memory.lowerBoundBytes = memory.lower_bound();
  report.memory.weightsBytes = memory.weights();
  report.memory.gradientsBytes = memory.gradients();
  report.memory.optimizerBytes = memory.optimizer();
  report.memory.activationsBytes = memory.activations();
  report.memory.workspaceBytes = memory.workspace();
  report.memory.inputBytes = memory.input();
  report.memory.fragmentationBytes = memory.fragmentation();

  double recompute = 0, other = 0;
  for (const plan::CommandList *list : {plan.micro_batch(), plan.step()})
    for (size_t i = 0; list && list->commands() && i < list->commands()->size(); ++i) {
      const plan::Command &command = *list->commands()->Get(i);
      (command.recomputed() ? report.remat.recomputed : report.remat.retained) += 1;
      (command.recomputed() ? recompute : other) += command.seconds_predicted();
    }
  report.remat.recomputeSecondsPredicted = recompute;
  report.remat.recomputeFraction = other > 0 ? recompute / other : 0;
  if (plan.report())
    takeRemat(report.remat, plan.report()->str());
}

void fillMemoryUse(TrainingReport &report, const MemoryUse &use) {
  report.memory.measuredPeakBytes = use.measuredPeakBytes;
  report.memory.allocationsInStep = use.allocationsInStep;
  report.memory.libraryBytes = use.libraryBytes;
  report.memory.processRssBeforeBytes = use.rssBeforeBytes;
  report.memory.processRssPeakBytes = use.rssPeakBytes;
}

bool keepsGradients(const plan::Plan &plan) {
  for (size_t i = 0; plan.variables() && i < plan.variables()->size(); ++i)
    if (plan.variables()->Get(i)->gradient_buffer() >= 0)
      return true;
  return false;
}

} // namespace gc::runtime
