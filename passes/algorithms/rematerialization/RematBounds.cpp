// What no plan can beat: shown beside every plan, so that users see how good it is.
#include "passes/algorithms/rematerialization/RematBounds.h"

#include "passes/algorithms/rematerialization/RecomputeCut.h"

#include <algorithm>
#include <cstdlib>

namespace gc {

namespace {

// Bytes that an op cannot do without: its operands, results and workspace. Results may be written
// over operands where the op allows it.
int64_t ownBytes(const StepGraph &graph, const StepOp &op) {
  int64_t operands = 0, results = 0;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    int value = op.operands[i];
    auto before = op.operands.begin() + static_cast<std::ptrdiff_t>(i);
    if (graph.values[value].producer >= 0 &&
        std::find(op.operands.begin(), before, value) == before)
      operands += graph.values[value].bytes;
  }
  for (int value : op.results)
    results += graph.values[value].bytes;
  return (op.inPlace.empty() ? operands + results : std::max(operands, results)) + op.workspace;
}

// When an op runs, what later ops need of what earlier ops made is there or will be made again.
class BoundAtOp {
public:
  BoundAtOp(const StepGraph &graph, int at, int64_t room)
      : graph(graph), room(static_cast<double>(room)), cut(graph, at + 1),
        isThere(graph.values.size(), 0) {
    for (const std::vector<int> *list : {&graph.ops[at].operands, &graph.ops[at].results})
      for (int value : *list)
        isThere[value] = 1;
  }

  // For any price of a byte: what keeping and recomputing costs at least, less the price of the
  // room that there is, bounds the seconds of recomputation (Lagrange). The best price is sought.
  double seconds() {
    std::vector<double> prices(graph.values.size(), 0);
    double best = 0, low = 0, high = 0, price = 1e-9;
    for (int i = 0; i < 40; ++i) {
      for (size_t v = 0; v < prices.size(); ++v)
        prices[v] = isThere[v] ? 0 : price * static_cast<double>(graph.values[v].bytes);
      best = std::max(best, cut.solve(prices) - price * room);
      double kept = 0;
      for (int value : cut.kept())
        kept += isThere[value] ? 0 : static_cast<double>(graph.values[value].bytes);
      (kept > room ? low : high) = price;
      if (kept == room || (low > 0 && high - low < 0.001 * low && high > 0))
        break;
      price = high == 0 ? price * 4 : low == 0 ? price / 4 : (low + high) / 2;
    }
    return best;
  }

private:
  const StepGraph &graph;
  double room;
  RecomputeCut cut;
  std::vector<char> isThere; // as an operand or a result of the op
};

} // namespace

double recomputeLowerBound(const StepGraph &graph, int64_t budget) {
  int ops = static_cast<int>(graph.ops.size());
  std::vector<int> lastUse(graph.values.size(), -1);
  for (int i = 0; i < ops; ++i)
    for (int operand : graph.ops[i].operands)
      lastUse[operand] = i;
  // Bytes that are alive across each op if nothing is recomputed, and those of them that must be.
  std::vector<int64_t> across(ops + 1, 0), must(ops + 1, 0);
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const StepValue &value = graph.values[v];
    int begin = value.producer + 1, end = value.untilEnd ? ops : lastUse[v];
    if (value.producer < 0 || begin >= end)
      continue;
    for (std::vector<int64_t> *sum : {&across, &must})
      if (sum == &across || !canDrop(graph, static_cast<int>(v))) {
        (*sum)[begin] += value.bytes;
        (*sum)[end] -= value.bytes;
      }
  }
  std::vector<std::pair<int64_t, int>> fullest; // bytes, and the op
  std::vector<int64_t> room;                    // for what may be recomputed
  for (int i = 0; i < ops; ++i) {
    if (i > 0) {
      across[i] += across[i - 1];
      must[i] += must[i - 1];
    }
    // An operand that is read again later is alive across the op and one of its own: count it once.
    const StepOp &op = graph.ops[i];
    int64_t twice = 0, mustTwice = 0;
    for (size_t o = 0; o < op.operands.size(); ++o) {
      int value = op.operands[o];
      auto before = op.operands.begin() + static_cast<std::ptrdiff_t>(o);
      bool isLater = graph.values[value].untilEnd || lastUse[value] > i;
      if (graph.values[value].producer < 0 || !isLater ||
          std::find(op.operands.begin(), before, value) != before)
        continue;
      twice += graph.values[value].bytes;
      mustTwice += canDrop(graph, value) ? 0 : graph.values[value].bytes;
    }
    int64_t own = ownBytes(graph, op);
    fullest.push_back({across[i] - twice + own, i});
    room.push_back(budget - own - (must[i] - mustTwice));
  }
  std::stable_sort(fullest.begin(), fullest.end(),
                   [](const auto &a, const auto &b) { return a.first > b.first; });
  // Ops next to each other say the same: a few that are apart are asked.
  constexpr int asked = 8;
  int apart = std::max(1, ops / 100);
  std::vector<int> chosen;
  for (auto [bytes, op] : fullest) {
    if (bytes <= budget || chosen.size() == asked)
      break;
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&](int other) { return std::abs(other - op) < apart; }))
      chosen.push_back(op);
  }
  double bound = 0;
  for (int op : chosen)
    bound = std::max(bound, BoundAtOp(graph, op, std::max<int64_t>(0, room[op])).seconds());
  return bound;
}

int64_t peakLowerBound(const StepGraph &graph) {
  int64_t bound = 0;
  for (const StepOp &op : graph.ops)
    bound = std::max(bound, ownBytes(graph, op));
  return bound;
}

} // namespace gc
