// The exact optimum for small graphs: shortest path over what is alive.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_EXACTREMAT_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_EXACTREMAT_H

#include "passes/algorithms/StepGraph.h"

#include <memory>

namespace gc {

/// Whether the graph is small enough to be tried: few values are larger than a 4096th of all bytes,
/// and they make up nearly all of them.
bool canSolveExactly(const StepGraph &graph);

struct ExactRemat {
  int states = 0;                           // looked at
  bool complete = false;                    // false: the search was cut short, or never begun
  std::shared_ptr<const Schedule> schedule; // null when complete: no schedule fits the budget
};

/// The schedule that recomputes for the fewest seconds among all that keep the order of the
/// original ops and never hold more than `budget` bytes (small values, below a 4096th of all bytes,
/// are not counted, and always kept). Looks at no more than `states` states.
ExactRemat solveExactly(const StepGraph &graph, int64_t budget, int states);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_EXACTREMAT_H
