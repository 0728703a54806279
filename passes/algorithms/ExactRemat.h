// The exact optimum for small graphs: shortest path over what is alive.
#ifndef GC_PASSES_ALGORITHMS_EXACTREMAT_H
#define GC_PASSES_ALGORITHMS_EXACTREMAT_H

#include "passes/algorithms/StepGraph.h"

#include <memory>

namespace gc {

struct ExactRemat {
  bool complete = false;                    // false: the search was cut short, or never begun
  std::shared_ptr<const Schedule> schedule; // null when complete: no schedule fits the budget
};

/// The schedule that recomputes for the fewest seconds among all that keep the order of the original
/// ops and never hold more than `budget` bytes. Looks at no more than `states` states; graphs of
/// more than 64 values that can be alive are not tried.
ExactRemat solveExactly(const StepGraph &graph, int64_t budget, int states);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_EXACTREMAT_H
