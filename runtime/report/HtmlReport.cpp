#include "runtime/report/HtmlReport.h"

#include "runtime/plan/Plan_generated.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/report/HtmlParts.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gc::runtime {

static constexpr double chartWidth = 1000, chartHeight = 320;

static std::string lossChart(const std::vector<float> &loss) {
  float highest = 0;
  for (float value : loss)
    if (std::isfinite(value))
      highest = std::max(highest, value);
  if (loss.size() < 2 || highest <= 0)
    return "<p>too few steps for a curve</p>\n";
  // A thousand points are as many as the chart has columns.
  size_t stride = (loss.size() + 999) / 1000;
  std::string points;
  for (size_t i = 0; i < loss.size(); i += stride)
    if (std::isfinite(loss[i]))
      points +=
          fmt::format("{:.2f},{:.2f} ",
                      static_cast<double>(i) / static_cast<double>(loss.size() - 1) * chartWidth,
                      chartHeight * (1 - 0.98 * loss[i] / highest));
  return fmt::format("<svg viewBox=\"0 0 {} {}\" class=\"chart\"><polyline points=\"{}\" "
                     "fill=\"none\" stroke=\"#4477aa\" stroke-width=\"1.5\"/></svg>\n"
                     "<p>from {:.4f} to {:.4f}; the top of the chart is {:.4f}</p>\n",
                     chartWidth, chartHeight, points, loss.front(), loss.back(), highest);
}

std::string htmlReport(const TrainingReport &r, const plan::Plan &plan,
                       const std::optional<MemoryTimeline> &timeline) {
  const MemoryReport &m = r.memory;
  std::string page = pageBegin(r.model) + "<table>\n";
  page += factRow("parameters", countText(static_cast<uint64_t>(r.parameters)));
  page += factRow("device", fmt::format("{}, {} threads", r.device, r.threads));
  page += factRow("data", r.data);
  page += factRow("batch", fmt::format("{} in {} micro-batches", r.batch, r.microBatches));
  page += factRow("steps", fmt::format("{}{}", r.steps, r.interrupted ? " (interrupted)" : ""));
  page += factRow("samples per second", fmt::format("{:.4g}", r.samplesPerSecond()));
  if (r.accuracy)
    page += factRow("training accuracy", fmt::format("{:.2f} %", 100 * *r.accuracy));
  if (!r.evaluations.empty() && r.evaluations.back().accuracy)
    page += factRow("test accuracy", fmt::format("{:.2f} %", 100 * *r.evaluations.back().accuracy));
  page += factRow("predicted peak", sizeText(m.arenaBytes));
  page += factRow("measured peak", sizeText(m.measured.peakBytes));
  page += factRow("lower bound", sizeText(m.planned.lower_bound));
  page += factRow("allocations in the step", std::to_string(m.measured.allocationsInStep));
  page += "</table>\n";
  if (m.device)
    page += deviceMemoryHtml(*m.device);
  if (r.nvml)
    page += nvmlHtml(*r.nvml, r.monitor);
  if (timeline)
    page += "<h2>Memory of a step</h2>\n" + timelineHtml(*timeline);
  page += "<h2>The arena over the step's commands</h2>\n" + arenaChart(plan);
  page += "<h2>Loss</h2>\n" + lossChart(r.loss);
  return page + pageEnd();
}

Status writeHtmlReport(const std::string &path, const TrainingReport &report,
                       const plan::Plan &plan) {
  // Before and after are the same picture where nothing is recomputed.
  std::optional<MemoryTimeline> timeline;
  if (report.remat.recomputed > 0 && plan.report()) {
    Result<std::optional<MemoryTimeline>> read = readTimeline(plan.report()->str());
    if (!read)
      return read.error();
    timeline = std::move(*read);
  }
  return writeFileAtomically(path, htmlReport(report, plan, timeline));
}

} // namespace gc::runtime
