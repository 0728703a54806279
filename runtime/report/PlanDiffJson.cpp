// A comparison of plans as JSON. Keys are a promise: add freely, rename none.
#include "runtime/report/PlanDiff.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace gc::runtime {

using json = nlohmann::ordered_json;

namespace {

json orNull(const std::optional<double> &value) { return value ? json(*value) : json(); }

/// B less A; bytes and counts are whole numbers.
json changeOf(const ComparedFigure &figure) {
  if (!figure.a || !figure.b)
    return nullptr;
  bool isWhole =
      figure.unit == ComparedFigure::Unit::Bytes || figure.unit == ComparedFigure::Unit::Count;
  double change = *figure.b - *figure.a;
  return isWhole ? json(static_cast<int64_t>(change)) : json(change);
}

json planJson(const DescribedPlan &plan) {
  const TrainingReport &facts = plan.facts;
  json out;
  out["path"] = plan.path;
  out["model"] = facts.model;
  out["parameters"] = facts.parameters;
  out["trainable_parameters"] = facts.trainableParameters;
  out["device"] = facts.device;
  out["target"] = plan.machine;
  out["library"] = plan.library;
  out["threads"] = plan.threads;
  out["precision"] = plan.types;
  out["batch"] = facts.batch;
  out["micro_batches"] = facts.microBatches;
  out["split"] = {{"parts", facts.split.parts}, {"chains", facts.split.chains}};
  out["input_buffers"] = plan.inputBuffers;
  out["optimizer"] = facts.optimizer;
  out["memory"] = plannedMemoryJson(facts.memory);
  out["remat"] = {{"policy", facts.remat.policy},
                  {"budget_bytes", facts.remat.budgetBytes.value_or(0)},
                  {"retained", facts.remat.retained},
                  {"recomputed", facts.remat.recomputed},
                  {"recompute_seconds_predicted", facts.remat.recomputeSecondsPredicted}};
  out["prediction"] = {{"step_seconds", orNull(facts.prediction.stepSeconds)},
                       {"samples_per_second", orNull(plan.samplesPerSecond())},
                       {"rates_from", facts.prediction.ratesFrom}};
  out["commands"] = {{"once", plan.commands.once},
                     {"micro_batch", plan.commands.microBatch},
                     {"step", plan.commands.step},
                     {"evaluate", plan.commands.evaluate}};
  out["kernels"] = plan.kernels;
  out["library_graphs"] = plan.libraryGraphs;
  out["keeps_gradients"] = plan.keepsGradients;
  out["plan_bytes"] = plan.planBytes;
  out["peak_op"] = plan.timeline ? json(plan.timeline->after.peakOp) : json();
  return out;
}

json savedJson(const SavedValue &value, const DescribedPlan &plan) {
  return {{"op", value.op},           {"bytes", value.bytes},
          {"kept", value.kept},       {"executions", value.executions},
          {"seconds", value.seconds}, {"seconds_paid", plan.secondsPaid(value)},
          {"at_peak", value.atPeak}};
}

/// Of all parts: `seconds_paid` is their sum, for they need not run equally often.
json totalJson(const SavedValue &total, const std::vector<SavedValue> &parts,
               const DescribedPlan &plan) {
  json out = savedJson(total, plan);
  out["seconds_paid"] = plan.secondsPaid(parts);
  return out;
}

size_t keptOf(const std::vector<SavedValue> &parts) {
  return static_cast<size_t>(
      std::count_if(parts.begin(), parts.end(), [](const SavedValue &part) { return part.kept; }));
}

json bothJson(const std::vector<ComparedValue> &values, const PlanDiff &diff) {
  json list = json::array();
  for (const ComparedValue &value : values)
    list.push_back({{"name", value.a.name},
                    {"result", value.a.result},
                    {"a", totalJson(value.a, value.partsA, diff.a)},
                    {"b", totalJson(value.b, value.partsB, diff.b)},
                    {"values_a", value.partsA.size()},
                    {"values_b", value.partsB.size()},
                    {"kept_values_a", keptOf(value.partsA)},
                    {"kept_values_b", keptOf(value.partsB)}});
  return list;
}

json onlyJson(const std::vector<SavedValue> &values, const DescribedPlan &plan) {
  json list = json::array();
  for (const SavedValue &value : values) {
    json entry = {{"name", value.name}, {"result", value.result}};
    entry.update(savedJson(value, plan));
    list.push_back(std::move(entry));
  }
  return list;
}

json valuesJson(const PlanDiff &diff) {
  if (!diff.a.saved || !diff.b.saved)
    return nullptr;
  return {{"kept_in_both", diff.keptInBoth},
          {"kept_in_both_values_a", diff.keptPartsA},
          {"kept_in_both_values_b", diff.keptPartsB},
          {"recomputed_in_a", bothJson(diff.recomputedInA, diff)},
          {"recomputed_in_b", bothJson(diff.recomputedInB, diff)},
          {"recomputed_in_both", bothJson(diff.recomputedInBoth, diff)},
          {"only_in_a", onlyJson(diff.onlyInA, diff.a)},
          {"only_in_b", onlyJson(diff.onlyInB, diff.b)},
          {"why_unmatched", diff.whyUnmatched}};
}

} // namespace

std::string diffJson(const PlanDiff &diff) {
  json out;
  out["a"] = planJson(diff.a);
  out["b"] = planJson(diff.b);
  out["identical"] = diff.identical;
  out["same_model"] = diff.sameModel;
  out["settings"] = json::array();
  for (const ComparedSetting &setting : diff.settings)
    if (setting.differs())
      out["settings"].push_back({{"name", setting.name}, {"a", setting.a}, {"b", setting.b}});
  out["difference"] = json::object();
  for (const auto *figures : {&diff.figures, &diff.memory})
    for (const ComparedFigure &figure : *figures)
      out["difference"][figure.key] = changeOf(figure);
  out["values"] = valuesJson(diff);
  out["alive_at_peak"] = json::array();
  for (const ComparedTensor &tensor : diff.alive)
    out["alive_at_peak"].push_back({{"name", tensor.name},
                                    {"kind", tensor.kind},
                                    {"a_bytes", tensor.a},
                                    {"b_bytes", tensor.b}});
  out["run_otherwise"] = json::array();
  for (const ComparedOp &op : diff.implementations)
    out["run_otherwise"].push_back({{"name", op.a.name},
                                    {"a", op.a.how},
                                    {"b", op.b.how},
                                    {"a_seconds", op.a.seconds},
                                    {"b_seconds", op.b.seconds}});
  out["notes"] = diff.notes;
  // Names in a plan that somebody made by hand may be no text.
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace gc::runtime
