// A comparison of plans as a page.
#include "runtime/report/HtmlParts.h"
#include "runtime/report/MemoryCurves.h"
#include "runtime/report/PlanDiffWords.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace gc::runtime {
namespace {

constexpr const char *pageLook = R"(:root{color-scheme:light dark}
body{padding:0 16px}
.diff{border-collapse:collapse;width:100%;font-size:14px}
.diff th,.diff td{padding:3px 10px 3px 0;border-bottom:1px solid var(--chart-line);vertical-align:top;color:inherit}
.diff th{text-align:left;font-weight:600}
.diff .name{overflow-wrap:anywhere;width:60%}
.diff .way{width:20%}
.diff .number{text-align:right;white-space:nowrap}
.diff .kind{white-space:nowrap}
.diff.figures{width:auto}
.figures th{font-weight:normal;white-space:nowrap}
.figures .number{padding-left:22px}
.figures .part th{padding-left:14px}
.side{font-weight:bold}
.side.a{color:var(--a)}
.side.b{color:var(--b)}
.verdict{font-size:18px;margin:6px 0}
.diff-page p{margin:4px 0}
.quiet{color:var(--chart-text)}
@media (max-width:640px){.diff{font-size:12px}.diff th,.diff td{padding-right:6px}
.figures th{white-space:normal}.figures .number{padding-left:0}.verdict{font-size:16px}}
)";

std::string paragraph(const std::string &text, const char *look) {
  return fmt::format("<p class=\"{}\">{}</p>\n", look, escaped(text));
}

std::string cell(const std::string &text, const char *look = "number") {
  return fmt::format("<td class=\"{}\">{}</td>", look, escaped(text));
}

std::string headings(std::initializer_list<std::pair<const char *, const char *>> columns) {
  std::string row = "<tr>";
  for (auto [look, text] : columns)
    row += fmt::format("<th class=\"{}\">{}</th>", look, text);
  return row + "</tr>\n";
}

/// The first rows; the others unfold.
std::string table(const std::string &head, const std::vector<std::string> &rows, size_t shown) {
  std::string first, folded;
  for (size_t i = 0; i < rows.size(); ++i)
    (i < shown ? first : folded) += "<tr>" + rows[i] + "</tr>\n";
  std::string html = "<table class=\"diff\">" + head + first + "</table>\n";
  if (folded.empty())
    return html;
  return html + fmt::format("<details><summary>{} more</summary>\n<table class=\"diff\">{}{}"
                            "</table></details>\n",
                            countText(rows.size() - shown), head, folded);
}

std::string figureRow(const ComparedFigure &figure, const char *look) {
  return fmt::format("<tr class=\"{}\"><th>{}</th>{}{}{}</tr>\n", look, escaped(figure.label),
                     cell(figureText(figure.unit, figure.a)),
                     cell(figureText(figure.unit, figure.b)), cell(changeText(figure)));
}

std::string figureTable(const PlanDiff &diff) {
  std::string html = "<table class=\"diff figures\">";
  html += headings(
      {{"", ""}, {"number side a", "A"}, {"number side b", "B"}, {"number", "B &minus; A"}});
  for (const ComparedFigure &figure : diff.figures) {
    if (!isNothing(figure))
      html += figureRow(figure, "");
    if (figure.key == "peak_bytes")
      for (const ComparedFigure &kind : diff.memory)
        if (!isNothing(kind))
          html += figureRow(kind, "part");
  }
  return html + "</table>\n";
}

std::string curves(const PlanDiff &diff) {
  std::string svg =
      memoryCurvesSvg({"A", diff.a.live, diff.a.firstBackward, diff.a.facts.remat.budgetBytes},
                      {"B", diff.b.live, diff.b.firstBackward, diff.b.facts.remat.budgetBytes});
  if (svg.empty())
    return "";
  auto legend = [](const DescribedPlan &plan, const char *look, char name) {
    std::string text =
        fmt::format("{}: peak {}", plan.path, shortSizeText(plan.facts.memory.arenaBytes));
    if (plan.timeline && !plan.timeline->after.peakOp.empty())
      text += ", at " + plan.timeline->after.peakOp;
    if (plan.facts.microBatches > 1)
      text += fmt::format("; one of {} micro-batches and the update", plan.facts.microBatches);
    return fmt::format("<p><span class=\"side {}\">{}</span> {}</p>\n", look, name, escaped(text));
  };
  return "<h2>Memory over the step</h2>\n" + svg + legend(diff.a, "a", 'A') +
         legend(diff.b, "b", 'B');
}

std::string valueTable(const ValueList &list, size_t shown) {
  std::vector<std::string> rows;
  for (const ValueList::Row &row : list.rows) {
    std::string bytes = row.bytesA == row.bytesB
                            ? shortSizeText(row.bytesA)
                            : shortSizeText(row.bytesA) + " / " + shortSizeText(row.bytesB);
    rows.push_back(cell(timesText(row.name, row.count), "name") + cell(bytes) +
                   cell(secondsText(row.seconds)) +
                   cell(row.timesA > 0 && row.timesB > 0
                            ? fmt::format("{} / {}", row.timesA, row.timesB)
                            : std::to_string(std::max(row.timesA, row.timesB))));
  }
  std::string title = list.title;
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return fmt::format("<h2>{}</h2>\n", escaped(title)) + paragraph(list.costs, "quiet") +
         table(headings(
                   {{"name", "op"}, {"number", "bytes"}, {"number", "paid"}, {"number", "again"}}),
               rows, shown);
}

std::string unmatched(const PlanDiff &diff, const std::vector<SavedValue> &values,
                      const DescribedPlan &plan, char name, size_t shown) {
  if (values.empty())
    return "";
  std::vector<std::string> rows;
  for (const UnmatchedRow &row : unmatchedRows(values, plan))
    rows.push_back(cell(timesText(row.name, row.count), "name") + cell(shortSizeText(row.bytes)) +
                   cell(row.paid));
  return fmt::format("<h2>Only in {}: {} saved value{}</h2>\n", name, countText(values.size()),
                     values.size() == 1 ? "" : "s") +
         paragraph("No counterpart in the other plan: " + diff.whyUnmatched + ".", "quiet") +
         table(headings({{"name", "op"}, {"number", "bytes"}, {"number", "paid"}}), rows, shown);
}

std::string aliveTable(const PlanDiff &diff, size_t shown) {
  if (!diff.a.timeline || !diff.b.timeline)
    return "";
  auto size = [](uint64_t bytes) { return cell(bytes == 0 ? "–" : shortSizeText(bytes)); };
  std::vector<std::string> rows = {
      cell("weights, state, input, library pool", "name") + cell("persistent", "kind") +
      size(diff.a.timeline->persistentBytes) + size(diff.b.timeline->persistentBytes)};
  for (const ComparedTensor &tensor : diff.alive)
    rows.push_back(cell(tensor.name, "name") + cell(tensor.kind, "kind") + size(tensor.a) +
                   size(tensor.b));
  return "<h2>Alive at the peaks</h2>\n" +
         paragraph("The largest differences come first.", "quiet") +
         table(headings({{"name", "op"},
                         {"kind", "kind"},
                         {"number side a", "A"},
                         {"number side b", "B"}}),
               rows, shown + 1);
}

std::string implementations(const PlanDiff &diff, size_t shown) {
  if (diff.implementations.empty())
    return "";
  std::vector<std::string> rows;
  for (const ComparedOp &op : diff.implementations)
    rows.push_back(cell(op.a.name, "name") +
                   cell(op.a.how + ", " + secondsText(op.a.seconds), "way") +
                   cell(op.b.how + ", " + secondsText(op.b.seconds), "way"));
  return fmt::format("<h2>Run otherwise: {} ops</h2>\n", countText(rows.size())) +
         table(headings({{"name", "op"}, {"way side a", "A"}, {"way side b", "B"}}), rows, shown);
}

std::string settings(const PlanDiff &diff) {
  std::string rows = factRow("A", diff.a.path) + factRow("B", diff.b.path);
  for (const ComparedSetting &setting : diff.settings)
    rows += factRow(setting.name, setting.differs() ? setting.a + " in A, " + setting.b + " in B"
                                                    : setting.a + " in both");
  return "<table class=\"facts\">\n" + rows + "</table>\n";
}

} // namespace

std::string diffPage(const PlanDiff &diff, size_t shown) {
  std::string model =
      diff.sameModel ? diff.a.facts.model : diff.a.facts.model + " and " + diff.b.facts.model;
  std::string page = pageBegin("Two plans of " + model) + "<style>" + memoryCurvesStyle() +
                     pageLook + "</style>\n<div class=\"diff-page\">\n";
  for (const std::string &line : whatDiffers(diff))
    page += paragraph(line, "");
  if (diff.identical)
    page += paragraph("The plans do the same: every command, every byte.", "verdict");
  else
    for (const std::string &line : inShort(diff))
      page += paragraph(line, "verdict");
  for (const std::string &note : diff.notes)
    page += paragraph("note: " + note, "quiet");
  page += curves(diff) + "<h2>Side by side</h2>\n" + figureTable(diff);
  for (const ValueList &list : valueLists(diff))
    page += valueTable(list, shown);
  page += unmatched(diff, diff.onlyInA, diff.a, 'A', shown) +
          unmatched(diff, diff.onlyInB, diff.b, 'B', shown);
  page += aliveTable(diff, shown) + implementations(diff, shown);
  return page + "<h2>What they were compiled for</h2>\n" + settings(diff) + "</div>\n" + pageEnd();
}

} // namespace gc::runtime
