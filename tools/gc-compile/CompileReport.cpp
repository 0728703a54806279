#include "tools/gc-compile/CompileReport.h"
#include "tools/gc-compile/CudaReport.h"

#include "runtime/report/HtmlParts.h"
#include "runtime/report/Sizes.h"
#include "runtime/report/StepData.h"
#include "runtime/trainer/ConsoleText.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/PlanText.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace gc::runtime;
using json = nlohmann::ordered_json;

static std::string cpuOf(const gc::plan::Plan &plan) {
  return plan.target()->cpu() ? plan.target()->cpu()->str() : "";
}

static std::string architectureOf(const gc::plan::Plan &plan) {
  return plan.target()->architecture() ? plan.target()->architecture()->str() : "";
}

static json orNull(const std::optional<double> &value) { return value ? json(*value) : json(); }

std::string ratesFrom(const std::string &compilerReport) {
  json report = json::parse(compilerReport, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("prediction"))
    return "";
  return report["prediction"].value("rates_from", "");
}

// What a step takes, where that has decided something or is told as a part of it; a GPU's is told
// with its kernels.
static std::string predictionText(const TrainingReport &facts, const CompileReport &report) {
  if (facts.device != "cpu" || !facts.prediction.stepSeconds ||
      (!facts.remat.budgetBytes && facts.remat.policy == "none"))
    return "";
  return labelled("a step",
                  fmt::format("{} by rates: {}", secondsText(*facts.prediction.stepSeconds),
                              ratesFrom(report.compilerReport)));
}

// What runs in parts of the batch.
static std::string splitText(const json &report) {
  if (!report.contains("split") || report["split"].value("parts", int64_t(1)) < 2)
    return "";
  const json &split = report["split"];
  size_t chains = split["ops"].size();
  std::string text = fmt::format("{} chain{} of ops in {} parts of the batch", chains,
                                 chains == 1 ? "" : "s", split["parts"].get<int64_t>());
  if (split.contains("fraction_predicted"))
    text +=
        fmt::format(", {:+.2f} % time predicted", 100 * split["fraction_predicted"].get<double>());
  text = labelled("split", text);
  constexpr size_t shown = 4;
  for (size_t i = 0; i < std::min(chains, shown); ++i)
    text += labelled("", fmt::format("{} to {}", split["ops"][i][0].get<std::string>(),
                                     split["ops"][i][1].get<std::string>()));
  if (chains > shown)
    text += labelled("", fmt::format("and {} more (--split={}:{})", chains - shown,
                                     split["parts"].get<int64_t>(),
                                     split["chains"].get<std::string>()));
  return text +
         labelled("", "gradients are sums over the parts: those of the whole batch up to rounding");
}

// Micro-batches, what a budget costs and how far that is from what no plan can beat.
static std::string recomputationText(const std::string &compilerReport) {
  json report = json::parse(compilerReport, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("remat"))
    return "";
  const json &remat = report["remat"];
  std::string text;
  if (remat.value("budget_bytes", uint64_t(0)) > 0)
    text += labelled("budget", sizeText(remat["budget_bytes"].get<uint64_t>()));
  double waits = report.value("input_seconds_predicted", 0.0);
  double base = report.value("step_seconds_predicted", 0.0) -
                remat.value("recompute_seconds_predicted", 0.0) - waits;
  if (waits > 0 && base > 0)
    text += labelled("input", fmt::format("one buffer, +{:.2f} % time predicted to fill it",
                                          100 * waits / base));
  text += splitText(report);
  int64_t again = remat.value("recomputed", int64_t(0));
  double fraction = remat.value("recompute_fraction", 0.0), gap = remat.value("gap", 0.0);
  bool hasBound = remat.contains("gap"), isOptimal = gap < 1e-6;
  if (again == 0)
    text += labelled("recomputes", "nothing");
  else
    text += labelled("recomputes",
                     fmt::format("{} of {} saved values, +{:.2f} % time predicted", again,
                                 again + remat.value("retained", int64_t(0)), 100 * fraction));
  if (hasBound && isOptimal && again > 0)
    text += labelled("", "proven optimal: no plan within the budget takes less time");
  if (hasBound && !isOptimal)
    text += labelled("", fmt::format("no plan within the budget below {:+.2f} %, gap {:.2f} %",
                                     100 * (fraction - gap), 100 * gap));
  return text;
}

std::string summaryText(const PlanFile &file, const CompileReport &report) {
  const gc::plan::Plan &plan = file.get();
  TrainingReport facts;
  fillPlanFacts(facts, plan);
  std::string text = peakText(plan);
  text += recomputationText(report.compilerReport);
  text += predictionText(facts, report);
  std::string commands =
      fmt::format("{} in a step", commandsOf(plan.micro_batch()) + commandsOf(plan.step()));
  if (size_t evaluate = commandsOf(plan.evaluate()))
    commands += fmt::format(", {} in inference mode", evaluate);
  text += labelled("commands", fmt::format("{}, {} generated kernels", commands, kernelsOf(plan)));
  text += cudaSummary(report.compilerReport);
  if (facts.precision.products != "f32")
    text += labelled("precision", fmt::format("products and saved values in {}, weights in {} ({})",
                                              facts.precision.products, facts.precision.master,
                                              sizeText(facts.memory.masterBytes)));
  if (keepsGradients(plan))
    text += labelled("gradients", "kept to the end of the step");
  text += labelled("compiled in", fmt::format("{:.2f} s", report.seconds));
  return text;
}

std::string reportJson(const PlanFile &file, const CompileReport &report) {
  const gc::plan::Plan &plan = file.get();
  TrainingReport facts;
  fillPlanFacts(facts, plan);
  const MemoryReport &m = facts.memory;
  json out;
  out["model"] = facts.model;
  out["device"] = facts.device;
  out["cpu"] = cpuOf(plan);
  out["target"] = architectureOf(plan);
  out["batch"] = facts.batch;
  out["micro_batches"] = facts.microBatches;
  out["parameters"] = facts.parameters;
  out["trainable_parameters"] = facts.trainableParameters;
  out["compile_seconds"] = report.seconds;
  out["memory"] = plannedMemoryJson(m);
  out["memory"]["gap"] = gapOf(m);
  out["precision"] = precisionJson(facts.precision);
  out["split"] = {{"parts", facts.split.parts}, {"chains", facts.split.chains}};
  out["remat"] = {{"policy", facts.remat.policy},
                  {"retained", facts.remat.retained},
                  {"recomputed", facts.remat.recomputed},
                  {"recompute_seconds_predicted", facts.remat.recomputeSecondsPredicted},
                  {"recompute_fraction", facts.remat.recomputeFraction},
                  {"budget_bytes", facts.remat.budgetBytes.value_or(0)},
                  {"time_lower_bound", orNull(facts.remat.timeLowerBound)},
                  {"gap", orNull(facts.remat.gap)}};
  out["prediction"] = {{"step_seconds", facts.prediction.stepSeconds.value_or(0)},
                       {"rates_from", facts.prediction.ratesFrom}};
  out["commands"] = {{"once", commandsOf(plan.once())},
                     {"micro_batch", commandsOf(plan.micro_batch())},
                     {"step", commandsOf(plan.step())},
                     {"evaluate", commandsOf(plan.evaluate())}};
  out["kernels"] = kernelsOf(plan);
  out["keeps_gradients"] = keepsGradients(plan);
  out["plan_bytes"] = file.sizeBytes();
  json origin = originJson(report.origin);
  origin.erase("cpu"); // here the one that the plan is for
  out.update(origin);
  out["compiler"] = json::parse(report.compilerReport, nullptr, /*allow_exceptions=*/false);
  if (out["compiler"].is_discarded())
    out["compiler"] = nullptr;
  return out.dump(1) + "\n";
}

// The same numbers as the summary's, as rows.
static std::string factRows(const gc::plan::Plan &plan, const CompileReport &report) {
  TrainingReport facts;
  fillPlanFacts(facts, plan);
  const MemoryReport &m = facts.memory;
  std::string machine = cpuOf(plan) + architectureOf(plan);
  std::string rows = factRow("parameters", countText(facts.parameters));
  if (facts.trainableParameters != facts.parameters)
    rows += factRow("of them trained", countText(facts.trainableParameters));
  rows += factRow("target", facts.device + (machine.empty() ? "" : ", " + machine));
  if (!facts.optimizer.empty())
    rows += factRow("optimizer", facts.optimizer);
  rows += factRow("batch", facts.microBatches > 1 ? fmt::format("{} in {} micro-batches",
                                                                facts.batch, facts.microBatches)
                                                  : std::to_string(facts.batch));
  rows += factRow("plan peak", sizeText(m.arenaBytes));
  rows += factRow("lower bound",
                  fmt::format("{}, gap {:.2f} %", sizeText(m.planned.lower_bound), 100 * gapOf(m)));
  rows += factRow("recomputation", rematText(facts.remat));
  if (facts.remat.gap)
    rows += factRow("no plan below",
                    fmt::format("{:+.2f} % time within the budget, gap {:.2f} %",
                                100 * (facts.remat.recomputeFraction - *facts.remat.gap),
                                100 * *facts.remat.gap));
  if (facts.prediction.stepSeconds)
    rows += factRow("a step", fmt::format("{} predicted by rates: {}",
                                          secondsText(*facts.prediction.stepSeconds),
                                          ratesFrom(report.compilerReport)));
  rows += factRow("commands", fmt::format("{} in a step, {} generated kernels",
                                          commandsOf(plan.micro_batch()) + commandsOf(plan.step()),
                                          kernelsOf(plan)));
  return rows + factRow("compiled in", fmt::format("{:.2f} s", report.seconds));
}

Result<std::string> htmlPage(const PlanFile &file, const CompileReport &report) {
  const gc::plan::Plan &plan = file.get();
  Result<json> step = stepData(plan, report.compilerReport);
  if (!step)
    return step.error();
  json data;
  data["step"] = std::move(*step);
  return pageBegin(plan.model()->string_view()) + factTable(factRows(plan, report)) +
         stepSection() + dataBlock(data) + pageEnd();
}
