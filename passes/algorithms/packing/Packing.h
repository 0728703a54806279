//===- Packing.h - give every interval an offset in one arena ----*- C++ -*-===//
//
// Static memory allocation: each interval is a buffer that is alive in [lower, upper) and needs
// `size` contiguous bytes; two intervals that are alive together must not share a byte; the arena,
// the largest end of any interval, shall be as small as possible.
//
//   bytes                             greedy orders -> stop at the lower bound
//     ^  +---------+                                 -> else complete search for a smaller arena
//     |  |    C    |  +---+
//     |  +--+------+  | D |           lower bound = the largest sum of sizes alive at one time,
//     |  |A |   B     |   |           raised by capacities that the search proved impossible
//     +--+--+---------+---+--> time
//
// Plain data in, plain data out: nothing here sees IR.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_PACKING_H
#define GC_PASSES_ALGORITHMS_PACKING_PACKING_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gc {

/// A buffer: alive in [lower, upper), in any unit of time. It occupies its size rounded up to its
/// alignment (a power of two), so that a vector load at its end never touches a neighbour.
/// Intervals of size 0 are legal and conflict with nothing.
struct Interval {
  int64_t lower = 0;
  int64_t upper = 0;
  uint64_t size = 0;
  uint64_t alignment = 64;
  /// Where the interval already is, if its place is given. The packer puts the others around it.
  std::optional<uint64_t> fixedOffset = std::nullopt;
};

struct PackingOptions {
  /// Wall-clock limit of the whole call. Greedy packing always completes; only the search stops.
  double secondsLimit = 10.0;
  /// Limit in elementary steps of the search (a few 10^8 a second and thread); 0: none. With a step
  /// limit that is reached before the seconds run out the result is the same on every machine and
  /// for any number of threads. Compile pipelines should use this one.
  uint64_t stepLimit = 0;
  /// 0: as small as possible. Else: stop at the first packing of at most this many bytes.
  uint64_t capacity = 0;
  int threads = 2;
  /// False: greedy orders only (for scoring many candidates quickly).
  bool completeSearch = true;
};

struct PackingResult {
  /// One offset per interval, in the order given; empty if `error` is set.
  std::vector<uint64_t> offsets;
  /// Size of the arena: the largest end of any interval.
  uint64_t bytes = 0;
  /// No packing is smaller than this (proven).
  uint64_t lowerBound = 0;
  /// bytes == lowerBound.
  bool optimal = false;
  double seconds = 0.0;
  /// Steps that the search took, in the units of PackingOptions::stepLimit.
  uint64_t steps = 0;
  /// Why the input cannot be packed at all (bad interval, two fixed ones collide, overflow); else
  /// empty. A capacity that was not met is no error: compare `bytes`, and `lowerBound` tells
  /// whether it is proven impossible.
  std::string error;

  bool fits(uint64_t capacity) const { return error.empty() && bytes <= capacity; }
};

/// Packs the intervals. Never fails for valid input. Components of the timeline that contain a
/// fixed interval are packed by the greedy orders alone.
PackingResult packIntervals(std::span<const Interval> intervals,
                            const PackingOptions &options = {});

/// The largest sum of (aligned) sizes alive at one time; 0 for no intervals. The intervals must be
/// valid, see describeInvalidIntervals.
uint64_t largestLiveBytes(std::span<const Interval> intervals);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_PACKING_H
