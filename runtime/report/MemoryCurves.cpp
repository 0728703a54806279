#include "runtime/report/MemoryCurves.h"

#include "runtime/report/HtmlParts.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gc::runtime {
namespace {

double bytesOf(uint64_t bytes) { return static_cast<double>(bytes); }

uint64_t highestOf(const MemoryCurve &curve) {
  return *std::max_element(curve.live.begin(), curve.live.end());
}

/// How much of the width the forward pass has.
double forwardShare(const MemoryCurve &a, const MemoryCurve &b) {
  auto share = [](const MemoryCurve &c) {
    return static_cast<double>(c.firstBackward) / static_cast<double>(c.live.size());
  };
  if (a.firstBackward == 0 || b.firstBackward == 0)
    return 0;
  return std::clamp((share(a) + share(b)) / 2, 0.15, 0.85);
}

class CurveChart {
public:
  CurveChart(const MemoryCurve &a, const MemoryCurve &b, bool wide)
      : a(a), b(b), wide(wide), width(wide ? 1000 : 376), height(wide ? 340 : 290),
        left(wide ? 80 : 64), forward(forwardShare(a, b)) {
    double highest = bytesOf(std::max<uint64_t>({highestOf(a), highestOf(b), 1}));
    // A budget far above the peaks would flatten them.
    for (const MemoryCurve *curve : {&a, &b})
      if (isShown(curve->budgetBytes, highest))
        ceiling = std::max(ceiling, bytesOf(*curve->budgetBytes));
    ceiling = 1.04 * std::max(ceiling, highest);
    unit = highest >= 10240 * 0x1p20 ? 0x1p30 : highest >= 4 * 0x1p20 ? 0x1p20 : 0x1p10;
    unitName = unit == 0x1p30 ? "GiB" : unit == 0x1p20 ? "MiB" : "KiB";
  }

  std::string draw() const {
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" class=\"curves {}\" role=\"img\" "
                                  "aria-label=\"memory of both plans over a step\">\n",
                                  width, height, wide ? "wide" : "narrow");
    svg += byteAxis() + phases();
    svg += fmt::format("<path class=\"area a\" d=\"{}V{:.1f}H{:.1f}Z\"/>\n", outline(a), floor(),
                       x(a, 0));
    svg += fmt::format("<path class=\"a\" d=\"{}\"/>\n<path class=\"b\" d=\"{}\"/>\n", outline(a),
                       outline(b));
    svg += budgetLine(a, "a", false) + budgetLine(b, "b", true);
    return svg + peakMark(a, "a") + peakMark(b, "b") + "</svg>\n";
  }

private:
  static constexpr double right = 12, top = 14, bottom = 44;

  static bool isShown(const std::optional<uint64_t> &budget, double highest) {
    return budget && bytesOf(*budget) <= 1.3 * highest;
  }
  double floor() const { return height - bottom; }
  double y(double bytes) const { return floor() - bytes / ceiling * (floor() - top); }
  double across(double share) const { return left + share * (width - left - right); }
  double x(const MemoryCurve &curve, size_t command) const {
    auto commands = static_cast<double>(curve.live.size());
    auto at = static_cast<double>(command), turn = static_cast<double>(curve.firstBackward);
    if (forward == 0)
      return across(at / commands);
    return across(at <= turn ? at / turn * forward
                             : forward + (at - turn) / (commands - turn) * (1 - forward));
  }

  std::string byteAxis() const {
    double least = ceiling / unit / (wide ? 7 : 5),
           power = std::pow(10, std::floor(std::log10(least)));
    double step = 10 * power;
    for (double factor : {5.0, 2.0, 1.0})
      if (factor * power >= least * 0.85)
        step = factor * power;
    std::string svg;
    for (double level = 0; level * unit <= ceiling; level += step)
      svg += fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}H{:.1f}\"/><text x=\"{:.1f}\" "
                         "y=\"{:.1f}\" text-anchor=\"end\">{:g} {}</text>\n",
                         left, y(level * unit), width - right, left - 6, y(level * unit) + 4, level,
                         unitName);
    return svg;
  }

  std::string phases() const {
    auto label = [&](double from, double to, const char *text) {
      return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         across((from + to) / 2), floor() + 17, text);
    };
    std::string svg = fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">commands of the step, in order{}"
        "</text>\n",
        across(0.5), floor() + 36,
        forward > 0 && wide ? "; each phase as wide for both plans" : "");
    if (forward == 0)
      return svg;
    return svg + label(0, forward, "forward") + label(forward, 1, "backward and update") +
           fmt::format("<path class=\"phase\" d=\"M{:.1f},{:.1f}V{:.1f}\"/>\n", across(forward),
                       top, floor() + 22);
  }

  /// Commands that would lie within half a pixel are one, with the most that is alive at them.
  std::string outline(const MemoryCurve &curve) const {
    std::string path;
    for (size_t i = 0; i < curve.live.size();) {
      double begin = x(curve, i);
      uint64_t most = curve.live[i++];
      while (i < curve.live.size() && x(curve, i) < begin + 0.5)
        most = std::max(most, curve.live[i++]);
      path += path.empty() ? fmt::format("M{:.1f},{:.1f}", begin, y(bytesOf(most)))
                           : fmt::format("V{:.1f}", y(bytesOf(most)));
      path += fmt::format("H{:.1f}", x(curve, i));
    }
    return path;
  }

  std::string budgetLine(const MemoryCurve &curve, const char *colour, bool atRight) const {
    if (!isShown(curve.budgetBytes, bytesOf(std::max(highestOf(a), highestOf(b)))))
      return "";
    double level = y(bytesOf(*curve.budgetBytes));
    return fmt::format("<path class=\"budget {0}\" d=\"M{1:.1f},{2:.1f}H{3:.1f}\"/><text "
                       "class=\"{0}\" x=\"{4:.1f}\" y=\"{5:.1f}\" text-anchor=\"{6}\">budget of "
                       "{7}</text>\n",
                       colour, left, level, width - right, atRight ? width - right - 4 : left + 4,
                       level - 4 < top ? level + 13 : level - 4, atRight ? "end" : "start",
                       escaped(curve.name));
  }

  std::string peakMark(const MemoryCurve &curve, const char *colour) const {
    auto highest = std::max_element(curve.live.begin(), curve.live.end());
    auto place = static_cast<size_t>(highest - curve.live.begin());
    return fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"><title>{}: {} "
                       "at command {} of {}</title></circle>\n",
                       colour, (x(curve, place) + x(curve, place + 1)) / 2, y(bytesOf(*highest)),
                       escaped(curve.name), sizeText(*highest), place, curve.live.size());
  }

  const MemoryCurve &a, &b;
  bool wide;
  double width, height, left, forward;
  double ceiling = 0, unit = 1;
  const char *unitName = "";
};

} // namespace

std::string memoryCurvesSvg(const MemoryCurve &a, const MemoryCurve &b) {
  if (a.live.empty() || b.live.empty())
    return "";
  return CurveChart(a, b, /*wide=*/true).draw() + CurveChart(a, b, /*wide=*/false).draw();
}

std::string memoryCurvesStyle() {
  return R"(:root{--a:#0b62c4;--b:#c4320a;--chart-line:#d9dde2;--chart-text:#5d6671}
@media (prefers-color-scheme:dark){:root{--a:#6cb2ff;--b:#ff8f5e;--chart-line:#343b44;--chart-text:#9aa5b1}}
.curves{width:100%;height:auto;display:block}
.curves.narrow{display:none}
@media (max-width:640px){.curves.wide{display:none}.curves.narrow{display:block}}
.curves text{font:12px sans-serif;fill:var(--chart-text)}
.curves path{fill:none;stroke-width:1.6}
.curves .grid{stroke:var(--chart-line);stroke-width:1}
.curves .phase{stroke:var(--chart-text);stroke-width:1;stroke-dasharray:2 3}
.curves path.a{stroke:var(--a)}
.curves path.b{stroke:var(--b)}
.curves path.area{fill:var(--a);fill-opacity:.14;stroke:none}
.curves path.budget{stroke-width:1.2;stroke-dasharray:7 4}
.curves text.a,.curves circle.a{fill:var(--a)}
.curves text.b,.curves circle.b{fill:var(--b)}
)";
}

} // namespace gc::runtime
