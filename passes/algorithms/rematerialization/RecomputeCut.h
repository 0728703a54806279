// What to keep when keeping has a price: the exact answer, as a minimum cut.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_RECOMPUTECUT_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_RECOMPUTECUT_H

#include "passes/algorithms/rematerialization/MinimumCut.h"
#include "passes/algorithms/rematerialization/Retention.h"

namespace gc {

/// Keeping a value costs its price, running an op again its seconds. What backward ops need is kept
/// or made again; what is made again needs its operands in turn. The cheapest set of both is a cut
/// in a network with two nodes a value: "is needed" and "is made again".
///
///   source -> needed(v)            endless: a backward op reads v
///   needed(v) -> made(op of v)     the price of keeping v
///   made(op) -> needed(operand)    endless
///   made(op) -> sink               the seconds of op
class RecomputeCut {
public:
  /// Backward uses before the op `from` are not asked for, nor are those of values that `from` or a
  /// later op makes: what is left to do when `from` begins. 0: the whole step.
  explicit RecomputeCut(const StepGraph &graph, int from = 0);

  /// The price of keeping each value, in seconds. Returns the sum of prices and seconds.
  double solve(const std::vector<double> &prices);
  /// After solve(): the values that are needed and kept.
  std::vector<int> kept() const;
  /// After solve(): kept values are kept, all others dropped.
  std::vector<Retention> retention() const;

private:
  const StepGraph &graph;
  std::vector<int> keepEdge; // of each value; -1: it is never asked for
  MinimumCut cut;
  double unit; // seconds that one unit of capacity stands for
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_RECOMPUTECUT_H
