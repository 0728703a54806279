// What no rematerialization can beat.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_REMATBOUNDS_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_REMATBOUNDS_H

#include "passes/algorithms/StepGraph.h"

namespace gc {

/// No plan in this op order that stays within `budget` recomputes for less than this many seconds:
/// while an op runs, enough of what is saved across it must be gone, and what made it must run
/// again from what is there. Asked at the ops where most is saved, with bytes that have a price
/// (Lagrange).
double recomputeLowerBound(const StepGraph &graph, int64_t budget);
/// No plan in this op order has a smaller peak: the largest op with its operands and results.
int64_t peakLowerBound(const StepGraph &graph);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_REMATBOUNDS_H
