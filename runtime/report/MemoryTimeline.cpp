#include "runtime/report/MemoryTimeline.h"

#include "runtime/report/HtmlParts.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace gc::runtime {

using nlohmann::json;

namespace {

/// Reads with a memory of what was missing, so that one check at the end is enough.
class Reader {
public:
  uint64_t bytes(const json &object, const char *key) {
    auto found = object.find(key);
    if (found != object.end() && found->is_number_unsigned())
      return found->get<uint64_t>();
    return complain<uint64_t>(key);
  }
  std::string text(const json &object, const char *key) {
    auto found = object.find(key);
    if (found != object.end() && found->is_string())
      return found->get<std::string>();
    return complain<std::string>(key);
  }
  const json &list(const json &object, const char *key) {
    static const json none = json::array();
    auto found = object.find(key);
    if (found != object.end() && found->is_array())
      return *found;
    complain<int>(key);
    return none;
  }

  StepTimeline step(const json &timeline, const char *key) {
    StepTimeline step;
    auto found = timeline.find(key);
    if (found == timeline.end() || !found->is_object())
      return complain<StepTimeline>(key);
    step.peakBytes = bytes(*found, "peak_bytes");
    step.peakOp = text(*found, "peak_op");
    for (const json &live : list(*found, "live"))
      step.live.push_back(live.is_number_unsigned() ? live.get<uint64_t>()
                                                    : complain<uint64_t>("live"));
    if (step.live.empty())
      complain<int>("live");
    for (const json &tensor : list(*found, "alive_at_peak"))
      if (tensor.is_object())
        step.aliveAtPeak.push_back(
            {text(tensor, "name"), text(tensor, "kind"), bytes(tensor, "bytes")});
      else
        complain<int>("alive_at_peak");
    std::stable_sort(step.aliveAtPeak.begin(), step.aliveAtPeak.end(),
                     [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
    return step;
  }

  std::string missing; // the first key that was not what it must be

private:
  template <class T> T complain(const char *key) {
    if (missing.empty())
      missing = key;
    return T();
  }
};

} // namespace

Result<std::optional<MemoryTimeline>> readTimeline(const std::string &compileReport) {
  json report = json::parse(compileReport, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("timeline"))
    return std::optional<MemoryTimeline>();
  MemoryTimeline timeline;
  Reader reader;
  const json &from = report["timeline"];
  timeline.persistentBytes = reader.bytes(from, "persistent_bytes");
  timeline.before = reader.step(from, "before");
  timeline.after = reader.step(from, "after");
  if (!reader.missing.empty())
    return badInput(fmt::format("the compile report's timeline has no proper '{}'; compile the "
                                "model again",
                                reader.missing));
  if (auto remat = report.find("remat"); remat != report.end() && remat->is_object())
    if (auto budget = remat->find("budget_bytes");
        budget != remat->end() && budget->is_number_unsigned() && *budget > 0)
      timeline.budgetBytes = budget->get<uint64_t>();
  return std::optional(std::move(timeline));
}

namespace {

/// Steps of 1, 2 or 5 times a power of ten, at least `least`.
double niceStep(double least) {
  double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * 0.999)
      return factor * power;
  return 10 * power;
}

constexpr const char *persistentKind = "persistent", *persistentColour = "#4477aa";
constexpr const char *transientColour = "#8fc49a";

class Chart {
public:
  static constexpr double left = 74, right = 90, top = 20, bottom = 38, width = 1000, height = 300;

  explicit Chart(const MemoryTimeline &t) : timeline(t) {
    double highest = static_cast<double>(
        std::max<uint64_t>({t.before.peakBytes, t.after.peakBytes, t.persistentBytes, 1,
                            highestLive(t.before), highestLive(t.after)}));
    // A budget far above the peaks would flatten them.
    budgetShown = t.budgetBytes && static_cast<double>(*t.budgetBytes) <= 1.3 * highest;
    if (budgetShown)
      highest = std::max(highest, static_cast<double>(*t.budgetBytes));
    unit = highest >= 10240 * 0x1p20 ? 0x1p30 : highest >= 4 * 0x1p20 ? 0x1p20 : 0x1p10;
    unitName = unit == 0x1p30 ? "GiB" : unit == 0x1p20 ? "MiB" : "KiB";
    tick = niceStep(highest / unit / 6) * unit;
    ceiling = highest * 1.02;
    ops = static_cast<double>(std::max(t.before.live.size(), t.after.live.size()));
  }

  bool showsBudget() const { return budgetShown; }

  std::string draw(const StepTimeline &step) const {
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" class=\"chart\">\n", width, height);
    svg += grid();
    svg += fmt::format("<path d=\"{}\" fill=\"{}\" stroke=\"#228833\"/>\n", outline(step),
                       transientColour);
    double base = y(timeline.persistentBytes), end = x(static_cast<double>(step.live.size()));
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" "
                       "fill=\"{}\"/>\n",
                       left, base, end - left, height - bottom - base, persistentColour);
    if (budgetShown)
      svg += budgetLine();
    return svg + peakMark(step) + "</svg>\n";
  }

private:
  static uint64_t highestLive(const StepTimeline &step) {
    return *std::max_element(step.live.begin(), step.live.end());
  }
  double x(double op) const { return left + op / ops * (width - left - right); }
  double y(double bytes) const {
    return height - bottom - bytes / ceiling * (height - top - bottom);
  }
  double y(uint64_t bytes) const { return y(static_cast<double>(bytes)); }

  std::string grid() const {
    std::string svg;
    for (double bytes = 0; bytes <= ceiling; bytes += tick)
      svg += fmt::format("<path d=\"M{:.1f},{:.1f}H{:.1f}\" stroke=\"#e4e4e4\"/><text x=\"{:.1f}\" "
                         "y=\"{:.1f}\" class=\"axis\" text-anchor=\"end\">{:g} {}</text>\n",
                         left, y(bytes), width - right, left - 6, y(bytes) + 4, bytes / unit,
                         unitName);
    double opTick = std::max(1.0, niceStep(ops / 8));
    for (double op = 0; op <= ops; op += opTick)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"axis\" text-anchor=\"middle\">"
                         "{:.0f}</text>\n",
                         x(op), height - bottom + 16, op);
    return svg + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"axis\" "
                             "text-anchor=\"middle\">ops of the step, in order</text>\n",
                             (left + width - right) / 2, height - 6);
  }

  std::string outline(const StepTimeline &step) const {
    std::string path = fmt::format("M{:.1f},{:.1f}", left, height - bottom);
    for (size_t i = 0; i < step.live.size(); ++i)
      path += fmt::format("V{:.2f}H{:.2f}", y(step.live[i]), x(static_cast<double>(i + 1)));
    return path + fmt::format("V{:.1f}Z", height - bottom);
  }

  /// Its name is beside the chart, where no curve comes.
  std::string budgetLine() const {
    double at = y(*timeline.budgetBytes);
    return fmt::format("<path d=\"M{:.1f},{:.2f}H{:.1f}\" stroke=\"#cc3311\" stroke-width=\"1.5\" "
                       "stroke-dasharray=\"7 4\"/><text x=\"{:.1f}\" y=\"{:.2f}\" class=\"axis\" "
                       "style=\"fill:#cc3311\">budget</text><text x=\"{:.1f}\" y=\"{:.2f}\" "
                       "class=\"axis\" style=\"fill:#cc3311\">{}</text>\n",
                       left, at, width - right, width - right + 6, at - 2, width - right + 6,
                       at + 12, shortSizeText(*timeline.budgetBytes));
  }

  std::string peakMark(const StepTimeline &step) const {
    auto highest = std::max_element(step.live.begin(), step.live.end());
    double at = x(static_cast<double>(highest - step.live.begin()) + 0.5), level = y(*highest);
    double text = level - 5; // above the budget's line too, where that is close
    if (budgetShown && std::abs(y(*timeline.budgetBytes) - level) < 16)
      text = std::min(text, y(*timeline.budgetBytes) - 5);
    bool toTheLeft = at > (left + width - right) / 2;
    return fmt::format(
        "<path d=\"M{:.1f},{:.2f}V{:.1f}\" stroke=\"#222\" stroke-dasharray=\"2 3\"/>"
        "<circle cx=\"{:.1f}\" cy=\"{:.2f}\" r=\"4\" fill=\"#222\"><title>{}: {}</title></circle>"
        "<text x=\"{:.1f}\" y=\"{:.2f}\" class=\"axis\" style=\"fill:#222\" text-anchor=\"{}\">"
        "peak</text>\n",
        at, level, height - bottom, at, level, escaped(step.peakOp), sizeText(step.peakBytes),
        toTheLeft ? at - 7 : at + 7, text, toTheLeft ? "end" : "start");
  }

  const MemoryTimeline &timeline;
  bool budgetShown = false;
  double unit = 1, tick = 1, ceiling = 1, ops = 1;
  const char *unitName = "";
};

std::string tensorRow(const AliveTensor &tensor) {
  return fmt::format("<tr><td>{}</td><td><span style=\"color:{}\">&#9632;</span>&nbsp;{}</td>"
                     "<td class=\"bytes\" title=\"{} bytes\">{}</td></tr>\n",
                     escaped(tensor.name),
                     tensor.kind == persistentKind ? persistentColour : kindColour(tensor.kind),
                     escaped(tensor.kind), tensor.bytes, shortSizeText(tensor.bytes));
}

/// The largest; the others unfold. What is alive and not named has a row of its own.
std::string aliveTable(const StepTimeline &step, uint64_t persistent) {
  constexpr size_t shown = 16;
  std::vector<AliveTensor> alive = step.aliveAtPeak;
  uint64_t named = 0;
  for (const AliveTensor &tensor : alive)
    named += tensor.bytes;
  if (step.peakBytes > named) {
    uint64_t rest = step.peakBytes - named;
    AliveTensor others = rest == persistent ? AliveTensor{"weights, state, input, library pool",
                                                          persistentKind, rest}
                                            : AliveTensor{"all others", "not named", rest};
    auto smaller = [&](const AliveTensor &tensor) { return tensor.bytes < rest; };
    alive.insert(std::find_if(alive.begin(), alive.end(), smaller), others);
  }
  const char *head = "<table class=\"alive\"><tr><th>tensor</th><th>kind</th>"
                     "<th class=\"bytes\">size</th></tr>\n";
  std::string rows, folded;
  uint64_t foldedBytes = 0;
  for (size_t i = 0; i < alive.size(); ++i) {
    (i < shown ? rows : folded) += tensorRow(alive[i]);
    foldedBytes += i < shown ? 0 : alive[i].bytes;
  }
  rows = head + rows + "</table>\n";
  if (folded.empty())
    return rows;
  return rows + fmt::format("<details class=\"alive\"><summary>{} smaller, {}</summary>\n{}{}"
                            "</table></details>\n",
                            alive.size() - shown, shortSizeText(foldedBytes), head, folded);
}

std::string title(const char *name, const StepTimeline &step, const std::string &more) {
  return fmt::format("<h3>{}</h3>\n<p>{} at the peak{}, at <code>{}</code>; {} ops</p>\n", name,
                     sizeText(step.peakBytes), more, escaped(step.peakOp), step.live.size());
}

} // namespace

std::string timelineHtml(const MemoryTimeline &t) {
  Chart chart(t);
  double change =
      t.before.peakBytes > 0
          ? static_cast<double>(t.after.peakBytes) / static_cast<double>(t.before.peakBytes) - 1
          : 0;
  std::string html = title("Before: nothing recomputed", t.before, "") + chart.draw(t.before);
  html += title("After: as planned", t.after, fmt::format(" ({:+.1f} %)", 100 * change)) +
          chart.draw(t.after);
  html += "<p>" +
          legendEntry(persistentColour, "always there: weights, state, input, library pool") +
          legendEntry(transientColour, "what this op needs or a later one will read");
  if (t.budgetBytes && !chart.showsBudget())
    html += fmt::format("the budget of {} is far above both", sizeText(*t.budgetBytes));
  html += "</p>\n<table class=\"side\"><tr><td><h3>Alive at the peak before</h3>\n";
  html += aliveTable(t.before, t.persistentBytes) + "</td><td><h3>Alive at the peak after</h3>\n";
  return html + aliveTable(t.after, t.persistentBytes) + "</td></tr></table>\n";
}

} // namespace gc::runtime
