#include "tools/gc-compile/Pareto.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

std::vector<ParetoPoint> paretoPoints(const std::string &compileReport) {
  std::vector<ParetoPoint> points;
  const nlohmann::json report = nlohmann::json::parse(compileReport);
  auto add = [&](const nlohmann::json &row, const std::string &policy) {
    points.push_back({row.at("budget_bytes"), row.at("peak_bytes"), row.at("micro_batches"),
                      row.at("split_parts"), row.at("recomputed_ops"),
                      row.at("step_seconds_predicted"), row.at("recompute_fraction"),
                      row.at("time_lower_bound"), policy});
  };
  for (const auto &row : report.at("pareto"))
    add(row, "");
  if (report.contains("policy"))
    add(report["policy"], report["policy"].at("name"));
  return points;
}

std::string paretoTable(const std::vector<ParetoPoint> &points) {
  std::string text = fmt::format("{:>14} {:>14} {:>9} {:>8} {:>8} {:>10} {:>13} {:>5}\n",
                                 "budget, bytes", "peak, bytes", "step, s", "slower", "bound",
                                 "ops again", "micro-batches", "parts");
  double fastest = points.empty() ? 0 : points.front().stepSeconds;
  for (const ParetoPoint &point : points)
    text +=
        fmt::format("{:>14} {:>14} {:>9.4g} {:>7.2f}% {:>7.2f}% {:>10} {:>13} {:>5}\n",
                    point.policy.empty() ? std::to_string(point.budgetBytes) : point.policy,
                    point.peakBytes, point.stepSeconds, 100 * (point.stepSeconds / fastest - 1),
                    100 * point.lowerBound, point.recomputedOps, point.microBatches, point.parts);
  return text;
}

std::string paretoCsv(const std::vector<ParetoPoint> &points) {
  std::string text = "budget_bytes,peak_bytes,step_seconds_predicted,recompute_fraction,"
                     "time_lower_bound,recomputed_ops,micro_batches,split_parts,policy\n";
  for (const ParetoPoint &point : points)
    text += fmt::format("{},{},{:.9g},{:.9g},{:.9g},{},{},{},{}\n", point.budgetBytes,
                        point.peakBytes, point.stepSeconds, point.recomputed, point.lowerBound,
                        point.recomputedOps, point.microBatches, point.parts,
                        point.policy.empty() ? "budget" : point.policy);
  return text;
}

namespace {

// 1, 2 or 5 times a power of ten, so that about `count` of them make `range`.
double niceStep(double range, int count) {
  double rough = range / count;
  double power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough)
      return factor * power;
  return 10 * power;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

} // namespace

std::string paretoPlot(const std::vector<ParetoPoint> &points, const std::string &title) {
  constexpr double width = 760, height = 440, left = 70, right = 24, top = 48, bottom = 56;
  double mostBytes = 1, mostSlower = 1e-3;
  double fastest = points.empty() ? 1 : points.front().stepSeconds;
  auto slower = [&](const ParetoPoint &point) { return 100 * (point.stepSeconds / fastest - 1); };
  for (const ParetoPoint &point : points) {
    mostBytes = std::max<double>(mostBytes, static_cast<double>(point.peakBytes));
    mostSlower = std::max({mostSlower, slower(point), 100 * point.lowerBound});
  }
  double xStep = niceStep(mostBytes, 6), yStep = niceStep(mostSlower, 5);
  double xMost = std::ceil(mostBytes / xStep) * xStep,
         yMost = std::ceil(mostSlower / yStep) * yStep;
  auto x = [&](double bytes) { return left + bytes / xMost * (width - left - right); };
  auto y = [&](double percent) {
    return height - bottom - percent / yMost * (height - top - bottom);
  };

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"white\"/>\n<text x=\"{2}\" y=\"26\" font-size=\"15\">{3}: peak memory against step "
      "time, "
      "predicted</text>\n",
      width, height, left, escaped(title));
  for (double tick = 0; tick <= xMost * 1.001; tick += xStep)
    svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
                       "stroke=\"#e4e4e4\"/>\n<text x=\"{0:.1f}\" y=\"{3:.1f}\" "
                       "text-anchor=\"middle\">{4:.4g}</text>\n",
                       x(tick), y(0), y(yMost), y(0) + 18, tick / 1e6);
  for (double tick = 0; tick <= yMost * 1.001; tick += yStep)
    svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" "
                       "stroke=\"#e4e4e4\"/>\n<text x=\"{3:.1f}\" y=\"{4:.1f}\" "
                       "text-anchor=\"end\">{5:.4g} %</text>\n",
                       x(0), x(xMost), y(tick), x(0) - 8, y(tick) + 4, tick);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">peak, MB (10^6 bytes)</text>\n"
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">slower than without recomputation</text>\n",
      (left + width - right) / 2, height - 14, (y(0) + y(yMost)) / 2);
  // A plan is good for every budget from its peak on: steps, not slopes.
  std::string plans, bound;
  for (size_t i = 0; i < points.size(); ++i) {
    const ParetoPoint &point = points[i];
    double px = x(static_cast<double>(point.peakBytes));
    if (!point.policy.empty()) {
      svg += fmt::format("<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"3.5\" fill=\"none\" "
                         "stroke=\"#c05a1f\"/>\n<text x=\"{2:.1f}\" y=\"{1:.1f}\">{3}</text>\n",
                         px, y(slower(point)), px + 7, escaped(point.policy));
      continue;
    }
    if (i > 0)
      plans += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(points[i - 1].peakBytes)),
                           y(slower(point)));
    plans += fmt::format("{:.1f},{:.1f} ", px, y(slower(point)));
    bound += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(point.budgetBytes)),
                         y(100 * point.lowerBound));
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"#1f6fb4\"/>\n", px,
                       y(slower(point)));
  }
  svg += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6fb4\" stroke-width=\"1.5\"/>\n"
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#999\" "
      "stroke-dasharray=\"4 3\"/>\n",
      plans, bound);
  svg +=
      fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"58\" y2=\"58\" stroke=\"#1f6fb4\" "
                  "stroke-width=\"1.5\"/><text x=\"{2}\" y=\"62\">plans</text>\n"
                  "<line x1=\"{0}\" x2=\"{1}\" y1=\"76\" y2=\"76\" stroke=\"#999\" "
                  "stroke-dasharray=\"4 3\"/><text x=\"{2}\" y=\"80\">no plan can be below</text>\n"
                  "</svg>\n",
                  width - 190, width - 160, width - 152);
  return svg;
}
