// Whether intervals can be packed at all, and whether a packing is right.
#ifndef GC_PASSES_ALGORITHMS_PACKING_PACKINGCHECK_H
#define GC_PASSES_ALGORITHMS_PACKING_PACKINGCHECK_H

#include "passes/algorithms/packing/Packing.h"

namespace gc {

/// What is wrong with the intervals (the first one found, by index), or an empty string: lower not
/// before upper, alignment no power of two, a sum of sizes beyond 2^62, a fixed offset that is
/// misaligned.
std::string describeInvalidIntervals(std::span<const Interval> intervals);

/// Proves a packing by a sweep over time that shares no code with the packer: every offset aligned
/// and at its fixed place, every end within `bytes`, no two live intervals on one byte. Returns
/// what is wrong with which intervals, or an empty string.
std::string describeInvalidPacking(std::span<const Interval> intervals,
                                   std::span<const uint64_t> offsets, uint64_t bytes);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_PACKINGCHECK_H
