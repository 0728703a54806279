//===- PackingOrder.h - in which order to place items ------------*- C++ -*-===//
//
// Internal to the packer: static orders, shared by the greedy packer and the search.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_PACKINGORDER_H
#define GC_PASSES_ALGORITHMS_PACKING_PACKINGORDER_H

#include "passes/algorithms/packing/PackingProblem.h"

namespace gc {

/// What an item is sorted by, largest first. Pressure is the largest section total that the item
/// takes part in: where memory is short, place first.
enum class PackingKey { Size, Area, Lifetime, Sections, Conflicts, Pressure, Start };

/// All keys of all items, computed once for a component.
class PackingKeys {
public:
  explicit PackingKeys(const PackingComponent &component);

  /// The items sorted by the keys, earlier keys first, then by index. `factors`, one per item or
  /// empty, multiply the keys: the search moves items forward with them.
  std::vector<int> order(std::span<const PackingKey> keys,
                         std::span<const double> factors = {}) const;

private:
  static constexpr size_t kKeys = 7;
  std::vector<double> values[kKeys];
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_PACKINGORDER_H
