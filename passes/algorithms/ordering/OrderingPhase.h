// What the search for an order works on. Private to Ordering.
#ifndef GC_PASSES_ALGORITHMS_ORDERING_ORDERINGPHASE_H
#define GC_PASSES_ALGORITHMS_ORDERING_ORDERINGPHASE_H

#include "passes/algorithms/ordering/Ordering.h"

#include <array>

namespace gc {

/// What happens to values that pass from forward to backward ops: an order is weighed for both.
enum Retained { Kept, MadeAgain };
constexpr Retained retained[] = {Kept, MadeAgain};
using Bytes = std::array<int64_t, 2>;

/// A part of the graph's ops whose order is free but for dependence; all numbers are places in it.
struct Phase {
  struct Value {
    int64_t bytes = 0;
    bool outside = false; // made before this phase
    bool after = false;   // read after this phase
    bool untilEnd = false;
    int uses = 0; // ops of this phase that read it
  };
  struct Op {
    std::vector<int> operands;                // values, each once
    std::vector<int> results;                 // values
    std::vector<std::pair<int, int>> inPlace; // result, operand that it may be written over
    std::vector<int> next;                    // ops that must follow
    int waiting = 0;                          // ops that it must follow
    int64_t workspace = 0;
  };
  std::vector<Value> values;
  std::vector<Op> ops; // behind `count`: gates, which have `next` and `waiting` alone
  int count = 0;
  Bytes live = {}; // when the phase begins
};

/// The ops from `begin` to `end`, and gates that any of them waits for.
Phase makePhase(const StepGraph &graph, const ExtraEdges &before, int begin, int end);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_ORDERING_ORDERINGPHASE_H
