//===- PackingProblem.h - intervals split into independent problems --*- C++ -*-===//
//
// Internal to the packer: what the greedy orders and the search work on.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_PACKINGPROBLEM_H
#define GC_PASSES_ALGORITHMS_PACKING_PACKINGPROBLEM_H

#include "passes/algorithms/packing/Packing.h"

namespace gc {

/// Items that are connected through time; nothing outside of it conflicts with anything inside.
///
/// Time is reduced to sections: the maximal sets of items alive together, in order of time. Two
/// items conflict exactly if their ranges of sections intersect. Sizes and offsets are in units
/// (the greatest common divisor of all sizes and alignments), counted from `base`.
struct PackingComponent {
  struct Item {
    size_t interval;   ///< index into the caller's intervals
    int64_t size;      ///< in units, at least 1
    int64_t alignment; ///< in units, at least 1
    int first, last;   ///< alive in sections [first, last)
    double lifetime;   ///< upper - lower, in the caller's time
    int64_t fixed;     ///< offset in units, or -1
  };
  std::vector<Item> items;
  int sections = 0;
  std::vector<int64_t> sectionTotal; ///< sum of the sizes alive in each section
  uint64_t unit = 1;                 ///< bytes
  uint64_t base = 0;                 ///< bytes below, taken by items that are alive throughout
  int64_t lowerBound = 0;            ///< units: the largest sectionTotal, and the fixed ends
  bool hasFixed = false;

  int64_t unitsWithin(uint64_t bytes) const {
    return bytes < base ? 0 : static_cast<int64_t>((bytes - base) / unit);
  }
  uint64_t bytesFor(int64_t units) const { return base + static_cast<uint64_t>(units) * unit; }
};

/// Splits valid intervals into components. An item that is alive throughout its component goes to
/// the bottom at once (any packing can be rearranged so), which often splits the rest further;
/// these offsets, and 0 for empty intervals, are written to `offsets`. `bottomBytes` is the largest
/// end of them.
std::vector<PackingComponent> splitIntervals(std::span<const Interval> intervals,
                                             std::vector<uint64_t> &offsets, uint64_t &bottomBytes);

inline int64_t alignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) & -alignment;
}

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_PACKINGPROBLEM_H
