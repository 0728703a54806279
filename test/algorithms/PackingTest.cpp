//===- PackingTest.cpp - the packer against slow and simple answers ------===//

#include "passes/algorithms/packing/PackingCheck.h"
#include "test/algorithms/PackingOracle.h"

#include <gtest/gtest.h>

using namespace gc;
using namespace gc::test;

namespace {

// Limited by steps alone, so that a loaded machine changes nothing.
PackingOptions steps(uint64_t limit) {
  PackingOptions options;
  options.secondsLimit = 1e6;
  options.stepLimit = limit;
  return options;
}

void expectValid(const std::vector<Interval> &intervals, const PackingResult &result) {
  ASSERT_EQ(result.error, "");
  ASSERT_EQ(findOverlap(intervals, result.offsets, result.bytes), "");
  ASSERT_EQ(describeInvalidPacking(intervals, result.offsets, result.bytes), "");
  ASSERT_GE(result.lowerBound, liveBytes(intervals));
  ASSERT_GE(result.bytes, result.lowerBound);
  ASSERT_EQ(result.optimal, result.bytes == result.lowerBound);
}

TEST(Packing, NothingNeedsNothing) {
  PackingResult result = packIntervals({});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.bytes, 0u);
  EXPECT_TRUE(result.optimal);
  result = packIntervals(std::vector<Interval>{{0, 4, 0}, {1, 2, 0}});
  EXPECT_EQ(result.bytes, 0u);
  EXPECT_EQ(result.offsets, (std::vector<uint64_t>{0, 0}));
}

TEST(Packing, SharesBytesAfterTheEnd) {
  // [0,2) and [2,4) never live together: 100 bytes in whole units of 64 are 128.
  std::vector<Interval> intervals = {{0, 2, 100}, {2, 4, 100}};
  PackingResult result = packIntervals(intervals);
  EXPECT_EQ(result.offsets, (std::vector<uint64_t>{0, 0}));
  EXPECT_EQ(result.bytes, 128u);
  // One time unit longer, and they do: 128 + 128.
  intervals[0].upper = 3;
  result = packIntervals(intervals);
  expectValid(intervals, result);
  EXPECT_EQ(result.bytes, 256u);
}

TEST(Packing, AliveThroughoutGoesToTheBottomAndTheRestFallsApart) {
  // Weights of 192 bytes below; above them 64 + 64 before time 5 and 128 after: 192 + 128 = 320.
  std::vector<Interval> intervals = {{0, 9, 192}, {0, 3, 64}, {1, 5, 64}, {5, 9, 128}};
  PackingResult result = packIntervals(intervals);
  expectValid(intervals, result);
  EXPECT_EQ(result.offsets[0], 0u);
  EXPECT_EQ(result.offsets[3], 192u);
  EXPECT_EQ(result.bytes, 320u);
  EXPECT_TRUE(result.optimal);
}

TEST(Packing, ProvesThatTheLiveBytesAreNotEnough) {
  std::mt19937 generator(1);
  int proven = 0;
  for (int trial = 0; trial < 500 && proven < 100; ++trial) {
    std::vector<Interval> intervals = splitAndMerge(generator, trial % 10 ? 2 : 3, 1 + trial % 9);
    uint64_t least = smallestArena(intervals);
    if (least == liveBytes(intervals))
      continue;
    ++proven;
    PackingOptions options = steps(0);
    PackingResult result = packIntervals(intervals, options);
    expectValid(intervals, result);
    EXPECT_EQ(result.bytes, least);
    EXPECT_EQ(result.lowerBound, least);
    // A capacity one byte short is proven impossible, and the best is still returned.
    options.capacity = least - 1;
    result = packIntervals(intervals, options);
    expectValid(intervals, result);
    EXPECT_FALSE(result.fits(least - 1));
    EXPECT_GT(result.lowerBound, least - 1);
  }
  EXPECT_EQ(proven, 100) << "the generator no longer makes such instances";
}

TEST(Packing, EqualsBruteForceOnTinyInstances) {
  std::mt19937 generator(2);
  for (int trial = 0; trial < 4000; ++trial) {
    RandomShape shape{1 + trial % 8, 1 + trial % 11, 1 + trial % 6, 1 + uint64_t(trial) % 9, {1}};
    if (trial % 3 == 1)
      shape.alignments = {4};
    if (trial % 3 == 2)
      shape.alignments = {1, 2, 8};
    std::vector<Interval> intervals =
        trial % 2 ? randomIntervals(generator, shape)
                  : splitAndMerge(generator, trial % 128 ? 2 : 3, 1 + trial % 9);
    PackingResult result = packIntervals(intervals, steps(0));
    expectValid(intervals, result);
    ASSERT_EQ(result.bytes, smallestArena(intervals)) << "trial " << trial;
    ASSERT_TRUE(result.optimal);
  }
}

TEST(Packing, RandomInstancesAreValid) {
  std::mt19937 generator(3);
  for (int trial = 0; trial < 3000; ++trial) {
    RandomShape shape{1 + int(generator() % 80),
                      1 + int64_t(generator() % 60),
                      1 + int64_t(generator() % 30),
                      1 + generator() % 5000,
                      {64}};
    if (trial % 4 == 0)
      shape.alignments = {1};
    if (trial % 4 == 1)
      shape.alignments = {1, 16, 64, 512};
    std::vector<Interval> intervals = randomIntervals(generator, shape);
    if (trial % 5 == 0)
      intervals[generator() % intervals.size()].size = 0;
    PackingOptions options = steps(200'000);
    options.completeSearch = trial % 7 != 0;
    options.threads = 1 + trial % 3;
    PackingResult result = packIntervals(intervals, options);
    expectValid(intervals, result);
    ASSERT_EQ(largestLiveBytes(intervals), liveBytes(intervals));
    // A capacity is met by anything up to it, and never makes the result worse than it.
    options.capacity = result.bytes;
    ASSERT_TRUE(packIntervals(intervals, options).fits(result.bytes));
  }
}

TEST(Packing, FixedIntervalsStayAndOthersGoAround) {
  std::mt19937 generator(4);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<Interval> intervals =
        randomIntervals(generator, {2 + int(generator() % 30), 20, 10, 1000, {64}});
    // Fix some at places that a packing of all has shown to be free of collisions.
    PackingResult free = packIntervals(intervals, steps(100'000));
    uint64_t shift = 64 * (generator() % 10);
    for (size_t i = 0; i < intervals.size(); i += 3)
      intervals[i].fixedOffset = free.offsets[i] + shift;
    PackingResult result = packIntervals(intervals, steps(100'000));
    expectValid(intervals, result);
    for (size_t i = 0; i < intervals.size(); i += 3)
      ASSERT_LE(free.offsets[i] + shift + occupied(intervals[i]), result.lowerBound);
  }
}

TEST(Packing, CutRectanglesAreFilledWithoutAGap) {
  std::mt19937 generator(5);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Interval> pieces = cutRectangle(generator, 40, 1000, 4 + trial % 100);
    PackingResult result = packIntervals(pieces, steps(200'000'000));
    expectValid(pieces, result);
    ASSERT_EQ(result.bytes, 1000u) << "trial " << trial << ", " << pieces.size() << " pieces";
  }
}

TEST(Packing, ThreadsDoNotChangeTheResult) {
  std::mt19937 generator(6);
  int searched = 0;
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<Interval> intervals = randomIntervals(generator, {120, 60, 12, 97, {1}});
    PackingOptions options = steps(3'000'000);
    options.threads = 1;
    PackingResult one = packIntervals(intervals, options);
    options.threads = 4;
    PackingResult four = packIntervals(intervals, options);
    ASSERT_EQ(one.offsets, four.offsets) << "trial " << trial;
    ASSERT_EQ(one.lowerBound, four.lowerBound);
    ASSERT_EQ(one.steps, four.steps);
    searched += one.steps > 0;
  }
  EXPECT_GT(searched, 5) << "greedy solved nearly all: the test says nothing about the search";
}

TEST(Packing, ADeadlineOfZeroStillPacks) {
  std::mt19937 generator(7);
  std::vector<Interval> intervals = randomIntervals(generator, {200, 60, 30, 97, {1}});
  PackingOptions options;
  options.secondsLimit = 0;
  PackingResult result = packIntervals(intervals, options);
  expectValid(intervals, result);
  EXPECT_EQ(result.steps, 0u);
}

TEST(Packing, TenThousandIntervalsGreedily) {
  // Activations of a deep network: alive from the forward to the mirrored backward op, among
  // short-lived ones.
  std::mt19937 generator(8);
  std::vector<Interval> intervals;
  for (int i = 0; i < 5000; ++i) {
    intervals.push_back({i, 10000 - i, 1 + generator() % 100000});
    int64_t at = generator() % 10000;
    intervals.push_back({at, at + 1 + int64_t(generator() % 20), 1 + generator() % 100000});
  }
  PackingOptions options;
  options.completeSearch = false;
  PackingResult result = packIntervals(intervals, options);
  expectValid(intervals, result);
  RecordProperty("seconds", std::to_string(result.seconds));
  // Under half a second on an idle machine; the bound only catches a change of complexity, also on
  // a loaded one and with sanitizers.
  EXPECT_LT(result.seconds, 60.0);
  EXPECT_LT(result.bytes, result.lowerBound + result.lowerBound / 20);
}

TEST(Packing, BadIntervalsAreNamed) {
  auto errorOf = [](std::vector<Interval> intervals) { return packIntervals(intervals).error; };
  EXPECT_EQ(errorOf({{0, 1, 8}, {3, 3, 8}}),
            "interval 1 is never alive: lower 3 must be less than upper 3");
  EXPECT_EQ(errorOf({{0, 1, 8, 48}}), "interval 0 has alignment 48, which is not a power of two");
  EXPECT_EQ(errorOf({{0, 1, 8, 0}}), "interval 0 has alignment 0, which is not a power of two");
  EXPECT_NE(errorOf({{0, 1, UINT64_MAX, 64}}).find("interval 0 is too large"), std::string::npos);
  EXPECT_NE(errorOf({{0, 1, uint64_t(3) << 60, 1}, {5, 6, uint64_t(3) << 60, 1}}).find("2^62"),
            std::string::npos);
  EXPECT_NE(errorOf({{0, 1, 8, 64, 32}}).find("not a multiple of its alignment 64"),
            std::string::npos);
  // Padding counts: 100 bytes at 0 occupy 128.
  EXPECT_NE(errorOf({{0, 2, 100, 64, 0}, {1, 3, 8, 4, 124}}).find("collide"), std::string::npos);
  EXPECT_EQ(errorOf({{0, 2, 100, 64, 0}, {1, 3, 8, 4, 128}}), "");
  // The largest that is allowed still packs.
  EXPECT_EQ(errorOf({{INT64_MIN, INT64_MAX, uint64_t(1) << 61, 1}, {0, 1, uint64_t(1) << 61, 1}}),
            "");
}

TEST(PackingCheck, SeesEveryKindOfDamage) {
  std::mt19937 generator(9);
  int damaged = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Interval> intervals = randomIntervals(generator, {20, 15, 8, 50, {1, 8}});
    PackingResult result = packIntervals(intervals, steps(10'000));
    size_t victim = generator() % intervals.size();
    result.offsets[victim] = generator() % (result.bytes + 10);
    // Both checkers agree. The oracle counts padding too, so compare where there is none.
    for (Interval &interval : intervals)
      interval.size = occupied(interval);
    bool bad = !findOverlap(intervals, result.offsets, result.bytes).empty();
    ASSERT_EQ(!describeInvalidPacking(intervals, result.offsets, result.bytes).empty(), bad);
    damaged += bad;
  }
  EXPECT_GT(damaged, 1000);
}

} // namespace
