// What no plan can beat: shown beside every plan, so that users see how good it is.
#include "passes/algorithms/rematerialization/RematBounds.h"

#include "passes/algorithms/rematerialization/Retention.h"

#include <algorithm>

namespace gc {

double recomputeLowerBound(const StepGraph &graph, int64_t budget) {
  std::vector<int> saved = savedValues(graph);
  std::vector<int> lastUse(graph.values.size(), -1);
  for (size_t i = 0; i < graph.ops.size(); ++i)
    for (int operand : graph.ops[i].operands)
      lastUse[operand] = static_cast<int>(i);
  double bound = 0;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const StepOp &op = graph.ops[i];
    auto touches = [&](int value) {
      return std::find(op.operands.begin(), op.operands.end(), value) != op.operands.end() ||
             std::find(op.results.begin(), op.results.end(), value) != op.results.end();
    };
    // What is saved across this op and not used by it, by producer: freeing any part of it costs
    // at least the producer once.
    struct Item {
      int64_t bytes = 0;
      double seconds = 0;
    };
    std::vector<Item> items;
    int64_t across = 0;
    int before = -1; // producer; values are in the order of theirs
    for (int value : saved) {
      int producer = graph.values[value].producer;
      if (producer >= static_cast<int>(i) || lastUse[value] <= static_cast<int>(i) ||
          touches(value))
        continue;
      if (producer != before)
        items.push_back({0, graph.ops[producer].seconds});
      items.back().bytes += graph.values[value].bytes;
      across += graph.values[value].bytes;
      before = producer;
    }
    // The op itself needs at least its workspace and its largest tensor (others may be in place).
    int64_t own = op.workspace;
    int64_t largest = 0;
    for (const std::vector<int> *list : {&op.operands, &op.results})
      for (int value : *list)
        if (graph.values[value].producer >= 0)
          largest = std::max(largest, graph.values[value].bytes);
    int64_t mustFree = across + own + largest - budget;
    if (mustFree <= 0)
      continue;
    std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
      return a.seconds * static_cast<double>(b.bytes) < b.seconds * static_cast<double>(a.bytes);
    });
    double seconds = 0;
    for (const Item &item : items) {
      if (mustFree <= 0)
        break;
      double part = std::min(1.0, static_cast<double>(mustFree) /
                                      static_cast<double>(std::max<int64_t>(1, item.bytes)));
      seconds += part * item.seconds;
      mustFree -= item.bytes;
    }
    bound = std::max(bound, seconds);
  }
  return bound;
}

int64_t peakLowerBound(const StepGraph &graph) {
  int64_t bound = 0;
  for (const StepOp &op : graph.ops) {
    // Operands are all there when the op begins; results may be written over some of them.
    int64_t operands = 0, results = 0;
    std::vector<int> seen;
    for (int value : op.operands)
      if (graph.values[value].producer >= 0 &&
          std::find(seen.begin(), seen.end(), value) == seen.end()) {
        seen.push_back(value);
        operands += graph.values[value].bytes;
      }
    for (int value : op.results)
      results += graph.values[value].bytes;
    int64_t own = op.inPlace.empty() ? operands + results : std::max(operands, results);
    bound = std::max(bound, own + op.workspace);
  }
  return bound;
}

} // namespace gc
