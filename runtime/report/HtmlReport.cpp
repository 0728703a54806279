#include "runtime/report/HtmlReport.h"

#include "runtime/plan/Plan_generated.h"
#include "runtime/report/Sizes.h"
#include "runtime/weights/AtomicFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gc::runtime {

static std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

static constexpr double chartWidth = 1000, chartHeight = 320;

/// One rectangle for each buffer: commands to the right, arena offsets upwards; hover for the name.
static std::string memoryChart(const plan::Plan &plan) {
  auto count = [](const plan::CommandList *list) -> int64_t {
    return list && list->commands() ? list->commands()->size() : 0;
  };
  double commands =
      static_cast<double>(std::max<int64_t>(1, count(plan.micro_batch()) + count(plan.step())));
  double arena = std::max<double>(1, static_cast<double>(plan.arena_bytes()));
  static constexpr const char *colours[] = {"#4477aa", "#66ccee", "#aa3377", "#ee6677",
                                            "#228833", "#ccbb44", "#bbbbbb", "#000000"};
  static constexpr const char *kinds[] = {"parameter",  "state",     "optimizer state", "gradient",
                                          "activation", "workspace", "input",           "metric"};
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {} {}\" class=\"chart\">\n", chartWidth, chartHeight);
  for (size_t i = 0; plan.buffers() && i < plan.buffers()->size(); ++i) {
    const plan::Buffer &buffer = *plan.buffers()->Get(i);
    size_t kind = std::min<size_t>(static_cast<size_t>(buffer.kind()), 7);
    double left = std::clamp<double>(buffer.first_command(), 0, commands) / commands * chartWidth;
    double right =
        std::clamp<double>(buffer.last_command() + 1.0, 0, commands) / commands * chartWidth;
    double height = static_cast<double>(buffer.bytes()) / arena * chartHeight;
    double top = chartHeight - static_cast<double>(buffer.offset()) / arena * chartHeight - height;
    svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.3f}\" width=\"{:.2f}\" height=\"{:.3f}\" "
                       "fill=\"{}\"><title>{} ({}): {}, commands {} to {}</title></rect>\n",
                       left, top, std::max(0.0, right - left), height, colours[kind],
                       escaped(buffer.name()->str()), kinds[kind], sizeText(buffer.bytes()),
                       buffer.first_command(), buffer.last_command());
  }
  svg += "</svg>\n<p>";
  for (size_t kind = 0; kind < std::size(kinds); ++kind)
    svg += fmt::format("<span style=\"color:{}\">&#9632;</span> {} &nbsp; ", colours[kind],
                       kinds[kind]);
  return svg + "</p>\n";
}

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

static std::string row(const char *label, const std::string &value) {
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", label, escaped(value));
}

std::string htmlReport(const TrainingReport &r, const plan::Plan &plan) {
  const MemoryReport &m = r.memory;
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                     escaped(r.model) +
                     "</title>\n<style>body{font:15px sans-serif;max-width:1040px;margin:2em auto}"
                     "th{text-align:left;padding-right:2em;font-weight:normal;color:#555}"
                     ".chart{width:100%;border:1px solid #ccc}</style></head><body>\n";
  page += "<h1>" + escaped(r.model) + "</h1>\n<table>\n";
  page += row("parameters", countText(static_cast<uint64_t>(r.parameters)));
  page += row("device", fmt::format("{}, {} threads", r.device, r.threads));
  page += row("data", r.data);
  page += row("batch", fmt::format("{} in {} micro-batches", r.batch, r.microBatches));
  page += row("steps", fmt::format("{}{}", r.steps, r.interrupted ? " (interrupted)" : ""));
  page += row("samples per second", fmt::format("{:.4g}", r.samplesPerSecond()));
  if (r.accuracy)
    page += row("training accuracy", fmt::format("{:.2f} %", 100 * *r.accuracy));
  if (!r.evaluations.empty() && r.evaluations.back().accuracy)
    page += row("test accuracy", fmt::format("{:.2f} %", 100 * *r.evaluations.back().accuracy));
  page += row("predicted peak", sizeText(m.predictedPeakBytes));
  page += row("measured peak", sizeText(m.measuredPeakBytes));
  page += row("lower bound", sizeText(m.lowerBoundBytes));
  page += row("allocations in the step", std::to_string(m.allocationsInStep));
  page += "</table>\n<h2>Memory over the step's commands</h2>\n" + memoryChart(plan);
  page += "<h2>Loss</h2>\n" + lossChart(r.loss);
  return page + "</body></html>\n";
}

Result<void> writeHtmlReport(const std::string &path, const TrainingReport &report,
                             const plan::Plan &plan) {
  return writeFileAtomically(path, htmlReport(report, plan));
}

} // namespace gc::runtime
