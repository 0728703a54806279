#include "runtime/trainer/PlanFacts.h"

#include "runtime/plan/Plan_generated.h"

#include <nlohmann/json.hpp>

namespace gc::runtime {

using nlohmann::json;

/// The compiler's own account of what it recomputes; a plan without one recomputes nothing.
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
  if (auto bytes = number("budget_bytes"); bytes && *bytes > 0)
    remat.budgetBytes = static_cast<uint64_t>(*bytes);
  remat.retained = static_cast<uint64_t>(number("retained").value_or(0));
  remat.recomputed = static_cast<uint64_t>(number("recomputed").value_or(0));
  remat.recomputeSecondsPredicted = number("recompute_seconds_predicted").value_or(0);
  remat.recomputeFraction = number("recompute_fraction").value_or(0);
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

  if (plan.report())
    takeRemat(report.remat, plan.report()->str());
}

void fillMemoryUse(TrainingReport &report, const MemoryUse &use) {
  report.memory.measuredPeakBytes = use.measuredPeakBytes;
  report.memory.allocationsInStep = use.allocationsInStep;
  report.memory.libraryBytes = use.libraryBytes;
  report.memory.processRssBeforeBytes = use.rssBeforeBytes;
  report.memory.processRssPeakBytes = use.rssPeakBytes;
  if (!use.device)
    return;
  DeviceMemoryReport &device = report.memory.device.emplace();
  device.capacityBytes = use.device->total;
  device.withContextBytes = use.device->usedWithContext;
  device.beforeBytes = use.device->usedBefore;
  device.librariesBytes = use.device->libraries;
  device.arenaBytes = use.device->arena;
  device.driverUsedBytes = use.device->used;
}

bool keepsGradients(const plan::Plan &plan) {
  for (size_t i = 0; plan.variables() && i < plan.variables()->size(); ++i)
    if (plan.variables()->Get(i)->gradient_buffer() >= 0)
      return true;
  return false;
}

} // namespace gc::runtime
