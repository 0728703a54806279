#include "runtime/report/HtmlReport.h"

#include "runtime/plan/Plan_generated.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/report/HtmlParts.h"
#include "runtime/report/RunCharts.h"
#include "runtime/report/Sizes.h"
#include "runtime/report/StepData.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gc::runtime {

static std::string percentText(double fraction) { return fmt::format("{:.2f} %", 100 * fraction); }

static std::string timeFacts(const TrainingReport &r) {
  std::string rows;
  if (!r.stepSeconds.empty())
    rows += factRow("a step", fmt::format("{} (median), {:.4g} samples per second",
                                          secondsText(r.stepMedian()), r.samplesPerSecond()));
  if (r.prediction.stepSeconds)
    rows += factRow("predicted", fmt::format("{}{}{}", secondsText(*r.prediction.stepSeconds),
                                             r.prediction.ratesFrom.empty() ? "" : " by rates: ",
                                             r.prediction.ratesFrom));
  if (!r.loss.empty())
    rows += factRow("loss", fmt::format("{:.4f} to {:.4f}", r.loss.front(), r.loss.back()));
  if (r.accuracy)
    rows += factRow("training accuracy", percentText(*r.accuracy));
  if (!r.evaluations.empty() && r.evaluations.back().accuracy)
    rows += factRow("test accuracy", percentText(*r.evaluations.back().accuracy));
  if (!r.validations.empty() && r.validations.back().accuracy)
    rows += factRow("validation accuracy", percentText(*r.validations.back().accuracy));
  if (r.best)
    rows += factRow("best validation", fmt::format("{} {:.6g} after step {}", r.best->monitor,
                                                   r.best->value, r.best->step));
  if (r.earlyStop)
    rows += factRow("stopped early",
                    fmt::format("after step {}: {}", r.earlyStop->step, r.earlyStop->reason));
  return rows;
}

static std::string memoryFacts(const TrainingReport &r) {
  const MemoryReport &m = r.memory;
  std::string rows = factRow("predicted peak", sizeText(m.arenaBytes));
  rows += factRow("measured peak", sizeText(m.measured.peakBytes));
  rows += factRow("lower bound", sizeText(m.planned.lower_bound));
  if (r.remat.budgetBytes)
    rows += factRow("budget", sizeText(*r.remat.budgetBytes));
  if (r.remat.recomputed > 0)
    rows +=
        factRow("recomputes", fmt::format("{} of {} saved values, {} more time predicted",
                                          r.remat.recomputed, r.remat.recomputed + r.remat.retained,
                                          percentText(r.remat.recomputeFraction)));
  rows += factRow("libraries", sizeText(m.measured.libraryBytes) + " apart");
  return rows + factRow("allocations in the step", std::to_string(m.measured.allocationsInStep));
}

static std::string facts(const TrainingReport &r) {
  std::string rows = factRow("parameters", countText(static_cast<uint64_t>(r.parameters)));
  if (r.trainableParameters != r.parameters)
    rows += factRow("of them trained", countText(static_cast<uint64_t>(r.trainableParameters)));
  rows += factRow("device", fmt::format("{}, {} threads", r.device, r.threads));
  if (!r.optimizer.empty())
    rows += factRow("optimizer", r.optimizer);
  rows += factRow("data", r.data);
  rows += factRow("batch", r.microBatches > 1
                               ? fmt::format("{} in {} micro-batches", r.batch, r.microBatches)
                               : std::to_string(r.batch));
  rows += factRow("steps", fmt::format("{}{}", r.steps, r.interrupted ? " (interrupted)" : ""));
  return factTable(rows + timeFacts(r) + memoryFacts(r));
}

Result<std::string> htmlReport(const TrainingReport &r, const plan::Plan &plan) {
  nlohmann::ordered_json data;
  Result<nlohmann::ordered_json> step = stepData(plan, plan.report() ? plan.report()->str() : "");
  if (!step)
    return step.error();
  data["step"] = std::move(*step);
  std::vector<Chart> charts = runCharts(r);
  data["charts"] = chartsJson(charts);
  std::string page = pageBegin(r.model) + facts(r);
  if (r.memory.device)
    page += deviceMemoryHtml(*r.memory.device);
  if (r.nvml)
    page += nvmlHtml(*r.nvml, r.monitor);
  page += "<h2>Over the run</h2>\n";
  page += charts.empty() ? "<p>no step was run</p>\n" : chartElements(charts);
  if (r.validationClasses)
    page += classCountsHtml("Classes of the validation split", *r.validationClasses, r.classes);
  if (r.testClasses)
    page += classCountsHtml("Classes of the test split", *r.testClasses, r.classes);
  return page + stepSection() + dataBlock(data) + pageEnd();
}

Status writeHtmlReport(const std::string &path, const TrainingReport &report,
                       const plan::Plan &plan) {
  Result<std::string> page = htmlReport(report, plan);
  if (!page)
    return page.error();
  return writeFileAtomically(path, *page);
}

} // namespace gc::runtime
