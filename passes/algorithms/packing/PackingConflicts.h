//===- PackingConflicts.h - which items conflict, section by section --*- C++ -*-===//
//
// Internal to the packer.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_PACKINGCONFLICTS_H
#define GC_PASSES_ALGORITHMS_PACKING_PACKINGCONFLICTS_H

#include "passes/algorithms/packing/PackingProblem.h"

namespace gc {

/// What of a component never changes during searches; shared by all runs, read only.
struct PackingConflicts {
  explicit PackingConflicts(const PackingComponent &component);

  /// Size of these tables, to decide beforehand whether a component can be searched.
  static uint64_t entriesFor(const PackingComponent &component);

  const PackingComponent &component;
  std::vector<std::vector<int>> conflicts;    ///< per item
  std::vector<std::vector<int>> sectionItems; ///< per section
  /// The item before this one among those of equal range, size and alignment, or -1. Equal items
  /// are interchangeable, so the earlier one lies lower.
  std::vector<int> twin;
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_PACKINGCONFLICTS_H
