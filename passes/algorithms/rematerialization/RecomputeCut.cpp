#include "passes/algorithms/rematerialization/RecomputeCut.h"

#include <algorithm>
#include <cmath>

namespace gc {

// Nodes: source, sink, then one for each value ("needed") and one for each op ("made again").
static constexpr int source = 0, sink = 1, firstNode = 2;

RecomputeCut::RecomputeCut(const StepGraph &graph, int from)
    : graph(graph), keepEdge(graph.values.size(), -1),
      cut(firstNode + static_cast<int>(graph.values.size() + graph.ops.size())) {
  auto needed = [](int value) { return firstNode + value; };
  auto made = [&](int op) { return firstNode + static_cast<int>(graph.values.size()) + op; };
  double total = 0;
  for (const StepOp &op : graph.ops)
    total += op.seconds;
  unit = std::max(total, 1e-12) / static_cast<double>(int64_t(1) << 44);

  std::vector<char> asked(graph.values.size(), 0);
  for (int i = static_cast<int>(graph.ops.size()) - 1; i >= from; --i)
    if (graph.ops[i].backward)
      for (int value : graph.ops[i].operands)
        asked[value] = 1;
  auto isOurs = [&](int value) {
    return canDrop(graph, value) && (from == 0 || graph.values[value].producer < from);
  };
  for (size_t v = 0; v < graph.values.size(); ++v) {
    int value = static_cast<int>(v);
    if (!isOurs(value))
      continue;
    keepEdge[v] = cut.addEdge(needed(value), made(graph.values[v].producer));
    if (asked[v])
      cut.addEdge(source, needed(value), MinimumCut::endless);
  }
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const StepOp &op = graph.ops[i];
    bool isAsked = std::any_of(op.results.begin(), op.results.end(),
                               [&](int result) { return keepEdge[result] >= 0; });
    if (!isAsked)
      continue;
    int node = made(static_cast<int>(i));
    cut.addEdge(node, sink, static_cast<int64_t>(op.seconds / unit));
    for (int operand : op.operands)
      if (keepEdge[operand] >= 0)
        cut.addEdge(node, needed(operand), MinimumCut::endless);
  }
}

double RecomputeCut::solve(const std::vector<double> &prices) {
  // More than all seconds of the step is as good as endless.
  constexpr double most = static_cast<double>(int64_t(1) << 46);
  for (size_t v = 0; v < keepEdge.size(); ++v)
    if (keepEdge[v] >= 0)
      cut.setCapacity(keepEdge[v], static_cast<int64_t>(std::min(prices[v] / unit, most)));
  return static_cast<double>(cut.solve(source, sink)) * unit;
}

std::vector<int> RecomputeCut::kept() const {
  std::vector<int> values;
  int ops = firstNode + static_cast<int>(graph.values.size());
  for (size_t v = 0; v < keepEdge.size(); ++v)
    if (keepEdge[v] >= 0 && cut.isOnSourceSide(firstNode + static_cast<int>(v)) &&
        !cut.isOnSourceSide(ops + graph.values[v].producer))
      values.push_back(static_cast<int>(v));
  return values;
}

std::vector<Retention> RecomputeCut::retention() const {
  std::vector<Retention> retention(graph.values.size(), Retention::Keep);
  for (size_t v = 0; v < keepEdge.size(); ++v)
    if (keepEdge[v] >= 0)
      retention[v] = Retention::Drop;
  for (int value : kept())
    retention[value] = Retention::Keep;
  return retention;
}

} // namespace gc
