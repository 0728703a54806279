// The yardstick of rematerialization: an integer program, solved by COIN-OR CBC.
//
// A step is a row of stages, and each stage a sweep over the ops in program order; each op has one
// stage (or several) that ends with it. R[s][i]: op i runs in stage s. S[s][v]: value v is there
// when stage s begins. (After Checkmate, Jain et al. 2020, with values instead of ops in S, several
// results, results over operands, and no variables for freeing.)
//
//   minimize  sum of seconds[i] * R[s][i]
//   R[s][i] <= R[s][producer(u)] + S[s][u]     u: operand of i
//   S[s+1][v] <= R[s][producer(v)] + S[s][v]
//   bytes of what is there when i runs in s, its results and its workspace <= budget
//
// Value v is there at (s, i)
//   before its producer's turn:  if S[s][v];
//   at its producer's turn:      if R[s][i], and once more if S[s][v];
//   behind it:                   if a reader j >= i runs in s, or S[s+1][v]: the largest of them.
//
// A result lies over an operand at (s, i) only if no reader behind i runs in s and the operand is
// not in S[s+1].
#ifndef GC_TEST_ALGORITHMS_REMATINTEGERPROGRAM_H
#define GC_TEST_ALGORITHMS_REMATINTEGERPROGRAM_H

#include "passes/algorithms/StepGraph.h"

#include <optional>

namespace gc::test {

struct ProgramOptimum {
  bool decided = false; // false: more nodes than allowed
  /// The best schedule; none where `decided`: nothing fits.
  std::optional<Schedule> schedule;
  double recomputeSeconds = 0;
};

/// The schedule of at most `budget` bytes that recomputes for the fewest seconds, among all in
/// which at most `sweeps` sweeps over program order precede each op. One is Checkmate's class; with
/// more, ops can run again several times and in other orders before an op. As many sweeps as
/// executions give every schedule.
ProgramOptimum solveByIntegerProgram(const StepGraph &graph, int64_t budget, int sweeps = 1,
                                     int nodes = 20000);

} // namespace gc::test

#endif // GC_TEST_ALGORITHMS_REMATINTEGERPROGRAM_H
