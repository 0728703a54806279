#include "runtime/report/PlanDiffWords.h"

#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace gc::runtime {

std::string figureText(ComparedFigure::Unit unit, const std::optional<double> &value) {
  if (!value || !std::isfinite(*value))
    return "?";
  switch (unit) {
  case ComparedFigure::Unit::Bytes:
    return shortSizeText(static_cast<uint64_t>(std::clamp(*value, 0.0, 0x1p62)));
  case ComparedFigure::Unit::Seconds:
    return secondsText(*value);
  case ComparedFigure::Unit::Count:
    return countText(static_cast<uint64_t>(std::clamp(*value, 0.0, 0x1p62)));
  case ComparedFigure::Unit::PerSecond:
    return *value < 1000 ? fmt::format("{:.4g}", *value)
                         : countText(static_cast<uint64_t>(std::min(*value, 0x1p62)));
  }
  return "?";
}

bool isNothing(const ComparedFigure &figure) { return figure.a == 0.0 && figure.b == 0.0; }

/// ` (-33.3 %)`, ` (12.5 times)`; nothing where there is no whole.
static std::string shareText(double from, double to) {
  if (!(from > 0))
    return "";
  return to / from < 10 ? fmt::format(" ({:+.1f} %)", 100 * (to / from - 1))
                        : fmt::format(" ({:.4g} times)", to / from);
}

std::string changeText(const ComparedFigure &figure) {
  if (!figure.a || !figure.b || *figure.a == *figure.b)
    return "";
  double change = *figure.b - *figure.a;
  return (change < 0 ? "-" : "+") + figureText(figure.unit, std::abs(change)) +
         shareText(*figure.a, *figure.b);
}

static std::string joinWithAnd(const std::vector<std::string> &parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string whatIsTheSame(const PlanDiff &diff) {
  std::vector<std::string> same;
  for (const ComparedSetting &setting : diff.settings)
    for (const char *name : {"model", "device", "batch", "optimizer", "budget"})
      if (setting.name == name && !setting.differs() && setting.a != "none")
        same.push_back(fmt::format("{} ({})", name, setting.a));
  return same.empty() ? "" : "the same " + joinWithAnd(same);
}

std::vector<std::string> whatDiffers(const PlanDiff &diff) {
  std::vector<std::string> lines;
  for (const ComparedSetting &setting : diff.settings)
    if (setting.differs())
      lines.push_back(fmt::format("{}: {} in A, {} in B", setting.name, setting.a, setting.b));
  return lines;
}

static const ComparedFigure &figureOf(const PlanDiff &diff, const char *key) {
  return *std::find_if(diff.figures.begin(), diff.figures.end(),
                       [&](const ComparedFigure &figure) { return figure.key == key; });
}

std::vector<std::string> inShort(const PlanDiff &diff) {
  std::vector<std::string> lines;
  const ComparedFigure &peak = figureOf(diff, "peak_bytes");
  double bytes = *peak.b - *peak.a;
  lines.push_back(
      bytes == 0 ? fmt::format("both need {}", figureText(peak.unit, peak.a))
                 : fmt::format("B needs {} {} memory{}", figureText(peak.unit, std::abs(bytes)),
                               bytes < 0 ? "less" : "more", shareText(*peak.a, *peak.b)));
  const ComparedFigure &step = figureOf(diff, "step_seconds_predicted");
  const ComparedFigure &speed = figureOf(diff, "samples_per_second_predicted");
  if (!step.a || !step.b)
    return lines;
  if (diff.a.facts.batch != diff.b.facts.batch && speed.a && speed.b) {
    lines.push_back(fmt::format("B is predicted to train {} samples a second, A {}{}",
                                figureText(speed.unit, speed.b), figureText(speed.unit, speed.a),
                                shareText(*speed.a, *speed.b)));
    return lines;
  }
  double seconds = *step.b - *step.a;
  lines.push_back(
      seconds == 0
          ? fmt::format("a step of both is predicted to take {}", figureText(step.unit, step.a))
          : fmt::format("B's step is predicted to take {} {}{}", secondsText(std::abs(seconds)),
                        seconds < 0 ? "less" : "longer", shareText(*step.a, *step.b)));
  return lines;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::string valueName(const SavedValue &value) {
  return value.result == 0 ? value.name : fmt::format("{}, result {}", value.name, value.result);
}

std::string timesText(const std::string &name, size_t count) {
  return count == 1 ? name : fmt::format("{} × {}", name, countText(count));
}

/// ` (16 parts in B, kept 6 of 16)`; nothing where a value is matched with one.
static std::string partsText(const ComparedValue &value) {
  std::string text;
  for (auto [parts, name] : {std::pair(&value.partsA, 'A'), std::pair(&value.partsB, 'B')}) {
    if (parts->size() < 2)
      continue;
    auto kept = static_cast<size_t>(std::count_if(
        parts->begin(), parts->end(), [](const SavedValue &part) { return part.kept; }));
    text +=
        fmt::format("{}{} parts in {}", text.empty() ? " (" : "; ", countText(parts->size()), name);
    if (kept > 0 && kept < parts->size())
      text += fmt::format(", kept {} of {}", countText(kept), countText(parts->size()));
  }
  return text.empty() ? "" : text + ")";
}

/// Rows that say the same are one.
static std::vector<ValueList::Row> foldedRows(const std::vector<ValueList::Row> &rows) {
  std::vector<ValueList::Row> folded;
  std::map<std::tuple<std::string, uint64_t, uint64_t, std::string, int64_t, int64_t, bool>, size_t>
      found;
  for (const ValueList::Row &row : rows) {
    auto [at, isNew] = found.insert({{row.name, row.bytesA, row.bytesB, secondsText(row.seconds),
                                      row.timesA, row.timesB, row.atPeak},
                                     folded.size()});
    if (isNew)
      folded.push_back(row);
    else
      ++folded[at->second].count;
  }
  return folded;
}

static ValueList::Row rowOf(const ComparedValue &value, const PlanDiff &diff) {
  double a = diff.a.secondsPaid(value.partsA), b = diff.b.secondsPaid(value.partsB);
  return {valueName(value.a) + partsText(value),
          value.a.bytes,
          value.b.bytes,
          std::max(a, b),
          value.a.executions - 1,
          value.b.executions - 1,
          value.a.atPeak || value.b.atPeak};
}

static std::string countOf(size_t values) {
  return fmt::format("{} value{}", countText(values), values == 1 ? "" : "s");
}

/// One plan keeps what the other one, `payer`, computes again.
static ValueList movedList(const std::vector<ComparedValue> &values, const PlanDiff &diff,
                           bool payerIsB) {
  const DescribedPlan &payer = payerIsB ? diff.b : diff.a;
  ValueList list;
  list.title = fmt::format("kept in {}, recomputed in {}: {}", payerIsB ? 'A' : 'B',
                           payerIsB ? 'B' : 'A', countOf(values.size()));
  std::vector<SavedValue> paid;
  uint64_t bytes = 0;
  for (const ComparedValue &value : values) {
    for (const SavedValue &part : payerIsB ? value.partsB : value.partsA) {
      if (part.kept)
        continue;
      paid.push_back(part);
      bytes += part.bytes;
    }
    list.rows.push_back(rowOf(value, diff));
  }
  list.costs = fmt::format("{} does not keep {} and pays {} for it in a step", payerIsB ? 'B' : 'A',
                           shortSizeText(bytes), secondsText(payer.secondsPaid(paid)));
  return list;
}

std::vector<ValueList> valueLists(const PlanDiff &diff) {
  std::vector<ValueList> lists;
  if (!diff.recomputedInB.empty())
    lists.push_back(movedList(diff.recomputedInB, diff, true));
  if (!diff.recomputedInA.empty())
    lists.push_back(movedList(diff.recomputedInA, diff, false));
  ValueList more;
  for (const ComparedValue &value : diff.recomputedInBoth)
    if (!value.runsAgainAlike())
      more.rows.push_back(rowOf(value, diff));
  more.title = fmt::format("recomputed in both, more often in one: {}", countOf(more.rows.size()));
  if (!more.rows.empty())
    lists.push_back(std::move(more));
  for (ValueList &list : lists)
    list.rows = foldedRows(list.rows);
  return lists;
}

std::vector<UnmatchedRow> unmatchedRows(const std::vector<SavedValue> &values,
                                        const DescribedPlan &plan) {
  std::vector<UnmatchedRow> rows;
  std::map<std::tuple<std::string, uint64_t, std::string>, size_t> found;
  for (const SavedValue &value : values) {
    UnmatchedRow row = {valueName(value), value.bytes,
                        value.kept ? "kept" : secondsText(plan.secondsPaid(value))};
    auto [at, isNew] = found.insert({{row.name, row.bytes, row.paid}, rows.size()});
    if (isNew)
      rows.push_back(std::move(row));
    else
      ++rows[at->second].count;
  }
  return rows;
}

} // namespace gc::runtime
