//===- PackingOracle.h - slow and simple answers to compare with -*- C++ -*-===//
#ifndef GC_TEST_ALGORITHMS_PACKINGORACLE_H
#define GC_TEST_ALGORITHMS_PACKINGORACLE_H

#include "passes/algorithms/packing/Packing.h"

#include <random>

namespace gc::test {

/// The interval's size rounded up to its alignment.
uint64_t occupied(const Interval &interval);

/// All pairs: two intervals alive together share a byte, an offset is misaligned or not where it is
/// fixed, an end lies beyond `bytes`. Empty if none.
std::string findOverlap(const std::vector<Interval> &intervals,
                        const std::vector<uint64_t> &offsets, uint64_t bytes);

/// The largest sum alive, tried at every start.
uint64_t liveBytes(const std::vector<Interval> &intervals);

/// The least arena: every order of rising offsets, each interval on the highest end below it. For
/// a dozen or so.
uint64_t smallestArena(const std::vector<Interval> &intervals);

struct RandomShape {
  int count;
  int64_t time;     ///< intervals lie in [0, time)
  int64_t longest;  ///< lifetime
  uint64_t largest; ///< size
  std::vector<uint64_t> alignments;
};
std::vector<Interval> randomIntervals(std::mt19937 &generator, const RandomShape &shape);

/// A rectangle of `time` by `bytes`, cut `cuts` times: fits into `bytes` without a gap.
std::vector<Interval> cutRectangle(std::mt19937 &generator, int64_t time, uint64_t bytes, int cuts);

/// `groups` intervals are each followed by two of the same sum, and then pairs of those, drawn
/// across the groups, by one of their sum: 4 * groups in all. The bytes alive never change, but the
/// pairs are not all neighbours, so the arena mostly has to be larger.
std::vector<Interval> splitAndMerge(std::mt19937 &generator, int groups, uint64_t largest);

} // namespace gc::test

#endif // GC_TEST_ALGORITHMS_PACKINGORACLE_H
