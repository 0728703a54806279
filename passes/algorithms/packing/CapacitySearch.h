//===- CapacitySearch.h - the smallest capacity of a component ---*- C++ -*-===//
//
// Internal to the packer: many runs of PackingSearch, with restarts, several orders and falling
// capacities.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_CAPACITYSEARCH_H
#define GC_PASSES_ALGORITHMS_PACKING_CAPACITYSEARCH_H

#include "passes/algorithms/packing/GreedyPacking.h"

#include <chrono>

namespace gc {

struct SearchBudget {
  std::chrono::steady_clock::time_point deadline;
  uint64_t steps; ///< left; lowered by what was used
  int threads;
};

/// Improves `best` until its height is at most `enough`, or is proven the least possible, or the
/// budget is used up. Raises `lowerBound` (units) by what was proven. The component must have no
/// fixed items. A component whose tables of conflicts would not fit (tens of millions of pairs) is
/// left as it is.
void searchCapacity(const PackingComponent &component, const PackingKeys &keys, int64_t enough,
                    GreedyPacking &best, int64_t &lowerBound, SearchBudget &budget);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_CAPACITYSEARCH_H
