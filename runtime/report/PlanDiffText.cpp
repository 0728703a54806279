// A comparison of plans for a terminal.
#include "runtime/report/PlanDiffWords.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace gc::runtime {
namespace {

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("{:<11} {}\n", label, text);
}

std::string lines(std::string_view label, const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts) {
    all += line(label, text);
    label = "";
  }
  return all;
}

std::string figureRow(const ComparedFigure &figure, std::string_view indent) {
  std::string row = fmt::format("{:<20} {:>12} {:>12}  {}", std::string(indent) + figure.label,
                                figureText(figure.unit, figure.a),
                                figureText(figure.unit, figure.b), changeText(figure));
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string figureTable(const PlanDiff &diff) {
  std::string text = fmt::format("\n{:<20} {:>12} {:>12}  {}\n", "", "A", "B", "B - A");
  for (const ComparedFigure &figure : diff.figures) {
    if (!isNothing(figure))
      text += figureRow(figure, "");
    if (figure.key == "lower_bound_bytes") {
      text += "at the peak\n";
      for (const ComparedFigure &kind : diff.memory)
        if (!isNothing(kind))
          text += figureRow(kind, "  ");
    }
  }
  return text;
}

std::string andMore(size_t all, size_t shown) {
  return all > shown ? fmt::format("  and {} more (--all)\n", countText(all - shown)) : "";
}

std::string valueTable(const ValueList &list, size_t shown) {
  auto isSame = [](const ValueList::Row &row) { return row.bytesA == row.bytesB; };
  bool oneColumn = std::all_of(list.rows.begin(), list.rows.end(), isSame);
  std::string text = "\n" + list.title + "\n";
  if (!list.costs.empty())
    text += list.costs + "\n";
  text += oneColumn ? fmt::format("  {:>11}", "bytes")
                    : fmt::format("  {:>11} {:>11}", "bytes in A", "in B");
  text += fmt::format("  {:>12}  {:>7}  op\n", "seconds paid", "again");
  for (size_t i = 0; i < std::min(shown, list.rows.size()); ++i) {
    const ValueList::Row &row = list.rows[i];
    text += fmt::format("  {:>11}", shortSizeText(row.bytesA));
    if (!oneColumn)
      text += fmt::format(" {:>11}", shortSizeText(row.bytesB));
    std::string times = row.timesA == 0 || row.timesB == 0
                            ? std::to_string(std::max(row.timesA, row.timesB))
                            : fmt::format("{} and {}", row.timesA, row.timesB);
    text += fmt::format("  {:>12}  {:>7}  {}\n", secondsText(row.seconds), times,
                        timesText(row.name, row.count));
  }
  return text + andMore(list.rows.size(), shown);
}

std::string unmatchedTable(const PlanDiff &diff, size_t shown) {
  std::string text;
  for (auto [values, plan, name] :
       {std::tuple(&diff.onlyInA, &diff.a, 'A'), std::tuple(&diff.onlyInB, &diff.b, 'B')}) {
    if (values->empty())
      continue;
    text +=
        fmt::format("\nonly in {}: {} saved value{} without a counterpart: {}\n", name,
                    countText(values->size()), values->size() == 1 ? "" : "s", diff.whyUnmatched);
    text += fmt::format("  {:>11}  {:>12}  op\n", "bytes", "seconds paid");
    std::vector<UnmatchedRow> rows = unmatchedRows(*values, *plan);
    for (size_t i = 0; i < std::min(shown, rows.size()); ++i)
      text += fmt::format("  {:>11}  {:>12}  {}\n", shortSizeText(rows[i].bytes), rows[i].paid,
                          timesText(rows[i].name, rows[i].count));
    text += andMore(rows.size(), shown);
  }
  return text;
}

std::string peakOf(const DescribedPlan &plan, char name) {
  const StepTimeline &step = plan.timeline->after;
  return fmt::format("  {} has its peak at {}\n", name,
                     step.peakOp.empty() ? "the end of the step" : step.peakOp);
}

std::string aliveTable(const PlanDiff &diff, size_t shown) {
  if (!diff.a.timeline || !diff.b.timeline)
    return "";
  auto differs = [](const ComparedTensor &tensor) { return tensor.a != tensor.b; };
  auto different =
      static_cast<size_t>(std::count_if(diff.alive.begin(), diff.alive.end(), differs));
  std::string text = fmt::format("\nalive at the peaks: {} names, {} of them not alike\n",
                                 countText(diff.alive.size()), countText(different));
  text += peakOf(diff.a, 'A') + peakOf(diff.b, 'B');
  text += fmt::format("  {:>11} {:>11}  {:<10}  op\n", "bytes in A", "in B", "kind");
  auto size = [](uint64_t bytes) { return bytes == 0 ? "-" : shortSizeText(bytes); };
  text += fmt::format("  {:>11} {:>11}  {:<10}  weights, state, input, library pool\n",
                      size(diff.a.timeline->persistentBytes),
                      size(diff.b.timeline->persistentBytes), "persistent");
  for (size_t i = 0; i < std::min(shown, diff.alive.size()); ++i) {
    const ComparedTensor &tensor = diff.alive[i];
    text += fmt::format("  {:>11} {:>11}  {:<10}  {}\n", size(tensor.a), size(tensor.b),
                        tensor.kind, tensor.name);
  }
  return text + andMore(diff.alive.size(), shown);
}

std::string implementationTable(const PlanDiff &diff, size_t shown) {
  if (diff.implementations.empty())
    return "";
  std::string text =
      fmt::format("\nrun otherwise: {} op{}\n", countText(diff.implementations.size()),
                  diff.implementations.size() == 1 ? "" : "s");
  text += fmt::format("  {:>12} {:>12}  {}\n", "seconds in A", "in B", "op: in A -> in B");
  for (size_t i = 0; i < std::min(shown, diff.implementations.size()); ++i) {
    const ComparedOp &op = diff.implementations[i];
    text += fmt::format("  {:>12} {:>12}  {}: {} -> {}\n", secondsText(op.a.seconds),
                        secondsText(op.b.seconds), op.a.name, op.a.how, op.b.how);
  }
  return text + andMore(diff.implementations.size(), shown);
}

std::string valueCounts(const PlanDiff &diff) {
  if (!diff.a.saved || !diff.b.saved)
    return "";
  size_t paired = diff.keptInBoth + diff.recomputedInBoth.size() + diff.recomputedInA.size() +
                  diff.recomputedInB.size();
  if (paired == 0)
    return "\nno saved value is in both plans\n";
  return fmt::format("\nsaved values in both plans: {} kept, {} recomputed, {} recomputed in A "
                     "alone, {} in B alone\n",
                     countText(diff.keptInBoth), countText(diff.recomputedInBoth.size()),
                     countText(diff.recomputedInA.size()), countText(diff.recomputedInB.size()));
}

} // namespace

std::string diffText(const PlanDiff &diff, size_t shown) {
  std::string text = line("A", diff.a.path) + line("B", diff.b.path);
  if (std::string same = whatIsTheSame(diff); !same.empty())
    text += line("the same", same.substr(std::string_view("the same ").size()));
  text += lines("differ in", whatDiffers(diff));
  text += lines("note", diff.notes);
  if (diff.identical)
    return text + line("in short", "the plans do the same: every command, every byte");
  text += lines("in short", inShort(diff));
  text += figureTable(diff) + valueCounts(diff);
  for (const ValueList &list : valueLists(diff))
    text += valueTable(list, shown);
  return text + unmatchedTable(diff, shown) + aliveTable(diff, shown) +
         implementationTable(diff, shown);
}

} // namespace gc::runtime
