//===- PackingOracle.cpp - slow and simple answers to compare with -------===//

#include "test/algorithms/PackingOracle.h"

#include <algorithm>

namespace gc::test {

uint64_t occupied(const Interval &interval) {
  return (interval.size + interval.alignment - 1) / interval.alignment * interval.alignment;
}

static bool aliveTogether(const Interval &a, const Interval &b) {
  return a.lower < b.upper && b.lower < a.upper;
}

std::string findOverlap(const std::vector<Interval> &intervals,
                        const std::vector<uint64_t> &offsets, uint64_t bytes) {
  if (offsets.size() != intervals.size())
    return "wrong number of offsets";
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (offsets[i] % intervals[i].alignment)
      return "misaligned " + std::to_string(i);
    if (intervals[i].fixedOffset && offsets[i] != *intervals[i].fixedOffset)
      return "moved " + std::to_string(i);
    if (intervals[i].size > 0 && offsets[i] + occupied(intervals[i]) > bytes)
      return "outside " + std::to_string(i);
    for (size_t j = 0; j < i; ++j)
      if (aliveTogether(intervals[i], intervals[j]) &&
          offsets[i] < offsets[j] + occupied(intervals[j]) &&
          offsets[j] < offsets[i] + occupied(intervals[i]))
        return std::to_string(j) + " overlaps " + std::to_string(i);
  }
  return {};
}

uint64_t liveBytes(const std::vector<Interval> &intervals) {
  uint64_t most = 0;
  for (const Interval &at : intervals) {
    uint64_t sum = 0;
    for (const Interval &interval : intervals)
      if (interval.lower <= at.lower && at.lower < interval.upper)
        sum += occupied(interval);
    most = std::max(most, sum);
  }
  return most;
}

static void placeRest(const std::vector<Interval> &intervals, std::vector<uint64_t> &ends,
                      uint64_t last, uint64_t height, uint64_t bound, uint64_t &best) {
  bool complete = true;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (ends[i])
      continue;
    complete = false;
    uint64_t offset = 0;
    for (size_t j = 0; j < intervals.size(); ++j)
      if (ends[j] && aliveTogether(intervals[i], intervals[j]))
        offset = std::max(offset, (ends[j] + intervals[i].alignment - 1) / intervals[i].alignment *
                                      intervals[i].alignment);
    uint64_t end = offset + occupied(intervals[i]);
    if (best == bound || offset < last || std::max(end, height) >= best)
      continue;
    ends[i] = end;
    placeRest(intervals, ends, offset, std::max(end, height), bound, best);
    ends[i] = 0;
  }
  if (complete)
    best = height;
}

uint64_t smallestArena(const std::vector<Interval> &intervals) {
  std::vector<Interval> visible; // an end of 0 means "not placed" above
  for (const Interval &interval : intervals)
    if (interval.size > 0)
      visible.push_back(interval);
  std::vector<uint64_t> ends(visible.size(), 0);
  uint64_t best = UINT64_MAX;
  placeRest(visible, ends, 0, 0, liveBytes(visible), best);
  return best;
}

std::vector<Interval> randomIntervals(std::mt19937 &generator, const RandomShape &shape) {
  auto uniform = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  std::vector<Interval> intervals;
  for (int i = 0; i < shape.count; ++i) {
    int64_t lower = uniform(0, shape.time - 1);
    int64_t upper = std::min(shape.time, lower + uniform(1, shape.longest));
    intervals.push_back({lower, upper,
                         static_cast<uint64_t>(uniform(1, static_cast<int64_t>(shape.largest))),
                         shape.alignments[uniform(0, shape.alignments.size() - 1)]});
  }
  return intervals;
}

std::vector<Interval> splitAndMerge(std::mt19937 &generator, int groups, uint64_t largest) {
  std::vector<Interval> intervals, parts;
  for (int group = 0; group < groups; ++group) {
    uint64_t first = 1 + generator() % largest, second = 1 + generator() % largest;
    // One group after the other, so that the parts take the place of the whole.
    intervals.push_back({0, 1 + group, first + second, 1});
    parts.push_back({1 + group, 0, first, 1});
    parts.push_back({1 + group, 0, second, 1});
  }
  std::shuffle(parts.begin(), parts.end(), generator);
  int64_t end = 2 * groups + 1;
  for (int pair = 0; pair < groups; ++pair) {
    Interval &first = parts[2 * pair], &second = parts[2 * pair + 1];
    first.upper = second.upper = groups + 1 + pair;
    intervals.push_back({groups + 1 + pair, end, first.size + second.size, 1});
  }
  intervals.insert(intervals.end(), parts.begin(), parts.end());
  std::shuffle(intervals.begin(), intervals.end(), generator);
  return intervals;
}

std::vector<Interval> cutRectangle(std::mt19937 &generator, int64_t time, uint64_t bytes,
                                   int cuts) {
  std::vector<Interval> pieces = {{0, time, bytes, 1}};
  auto below = [&](uint64_t limit) { return generator() % limit; };
  for (int cut = 0; cut < cuts; ++cut) {
    Interval &piece = pieces[below(pieces.size())];
    int64_t lifetime = piece.upper - piece.lower;
    Interval other = piece;
    if (below(2) == 0 && lifetime > 1) {
      piece.upper = other.lower = piece.lower + 1 + static_cast<int64_t>(below(lifetime - 1));
    } else if (piece.size > 1) {
      piece.size = 1 + below(piece.size - 1);
      other.size -= piece.size;
    } else {
      continue;
    }
    pieces.push_back(other);
  }
  std::shuffle(pieces.begin(), pieces.end(), generator);
  return pieces;
}

} // namespace gc::test
