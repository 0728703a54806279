//===- GreedyPacking.h - one item after the other ----------------*- C++ -*-===//
//
// Internal to the packer.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_GREEDYPACKING_H
#define GC_PASSES_ALGORITHMS_PACKING_GREEDYPACKING_H

#include "passes/algorithms/packing/PackingOrder.h"

namespace gc {

/// Which gap among the items already placed: the lowest that fits, or the tightest.
enum class GapChoice { FirstFit, BestFit };

struct GreedyPacking {
  std::vector<int64_t> offsets; ///< units, one per item of the component
  int64_t height = 0;           ///< units
};

/// Places the items in the given order (fixed items are in place before).
GreedyPacking packInOrder(const PackingComponent &component, std::span<const int> order,
                          GapChoice choice);

/// The best of several orders and choices of gap, packed again in the order of its offsets as long
/// as that helps. Stops at `enough` units. The result depends on neither time nor `threads`.
GreedyPacking packGreedily(const PackingComponent &component, const PackingKeys &keys,
                           int64_t enough, int threads);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_GREEDYPACKING_H
