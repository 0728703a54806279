//===- PackingCheck.cpp - validity of intervals and of packings ----------===//

#include "passes/algorithms/packing/PackingCheck.h"

#include <algorithm>
#include <bit>
#include <map>

namespace gc {

// Sums stay below this, so that the packer may compute ends in int64_t without care.
static constexpr uint64_t kLargestSum = uint64_t(1) << 62;

static std::string named(size_t index) { return "interval " + std::to_string(index); }

std::string describeInvalidIntervals(std::span<const Interval> intervals) {
  uint64_t sum = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Interval &interval = intervals[i];
    if (interval.lower >= interval.upper)
      return named(i) + " is never alive: lower " + std::to_string(interval.lower) +
             " must be less than upper " + std::to_string(interval.upper);
    if (!std::has_single_bit(interval.alignment))
      return named(i) + " has alignment " + std::to_string(interval.alignment) +
             ", which is not a power of two";
    // Each term is bounded before it is added, so the sum itself cannot wrap.
    if (interval.alignment > kLargestSum || interval.size > kLargestSum - interval.alignment)
      return named(i) + " is too large: size " + std::to_string(interval.size) +
             " with alignment " + std::to_string(interval.alignment) + " exceeds 2^62 bytes";
    sum += (interval.size + interval.alignment - 1) & ~(interval.alignment - 1);
    if (sum > kLargestSum)
      return "the sizes up to " + named(i) + " add up to more than 2^62 bytes";
    if (!interval.fixedOffset)
      continue;
    if (*interval.fixedOffset % interval.alignment != 0)
      return named(i) + " is fixed at offset " + std::to_string(*interval.fixedOffset) +
             ", which is not a multiple of its alignment " + std::to_string(interval.alignment);
    if (*interval.fixedOffset > kLargestSum)
      return named(i) + " is fixed beyond 2^62 bytes";
  }
  return {};
}

std::string describeInvalidPacking(std::span<const Interval> intervals,
                                   std::span<const uint64_t> offsets, uint64_t bytes) {
  if (offsets.size() != intervals.size())
    return std::to_string(offsets.size()) + " offsets for " + std::to_string(intervals.size()) +
           " intervals";
  struct Event {
    int64_t time;
    bool start; // ends sort before starts: [lower, upper) is half open
    size_t index;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Interval &interval = intervals[i];
    if (offsets[i] % interval.alignment != 0)
      return named(i) + " is at offset " + std::to_string(offsets[i]) +
             ", which is not a multiple of its alignment " + std::to_string(interval.alignment);
    if (interval.fixedOffset && offsets[i] != *interval.fixedOffset)
      return named(i) + " is at offset " + std::to_string(offsets[i]) + " but fixed at " +
             std::to_string(*interval.fixedOffset);
    if (interval.size == 0)
      continue;
    if (interval.size > bytes || offsets[i] > bytes - interval.size)
      return named(i) + " of " + std::to_string(interval.size) + " bytes at offset " +
             std::to_string(offsets[i]) + " ends after the arena of " + std::to_string(bytes);
    events.push_back({interval.lower, true, i});
    events.push_back({interval.upper, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return a.time != b.time ? a.time < b.time : a.start < b.start;
  });

  // Live intervals by offset; they are disjoint, so only the two neighbours can collide.
  std::map<uint64_t, size_t> live;
  for (const Event &event : events) {
    uint64_t offset = offsets[event.index];
    if (!event.start) {
      live.erase(offset);
      continue;
    }
    auto above = live.lower_bound(offset);
    size_t other = event.index;
    if (above != live.end() && above->first < offset + intervals[event.index].size)
      other = above->second;
    else if (above != live.begin() &&
             std::prev(above)->first + intervals[std::prev(above)->second].size > offset)
      other = std::prev(above)->second;
    if (other != event.index)
      return named(other) + " at offset " + std::to_string(offsets[other]) + " and " +
             named(event.index) + " at offset " + std::to_string(offset) + " overlap at time " +
             std::to_string(event.time);
    live.emplace(offset, event.index);
  }
  return {};
}

} // namespace gc
