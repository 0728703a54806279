//===- PackingSearchTest.cpp - one run of the search against brute force -===//

#include "passes/algorithms/packing/PackingSearch.h"
#include "test/algorithms/PackingOracle.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

using namespace gc;
using namespace gc::test;

namespace {

/// Whether a component fits, by a search with a random order and no limits; checks what it found.
bool fits(const PackingComponent &component, int64_t capacity, bool followFailures,
          std::mt19937 &generator) {
  std::vector<int> order(component.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  PackingConflicts conflicts(component);
  PackingSearch search(conflicts, capacity, order, followFailures);
  auto outcome = search.run({UINT64_MAX, UINT64_MAX, [] { return false; }});
  EXPECT_NE(outcome, PackingSearch::Outcome::Stopped);
  if (outcome != PackingSearch::Outcome::Found)
    return false;
  std::vector<Interval> intervals;
  std::vector<uint64_t> offsets;
  for (size_t i = 0; i < component.items.size(); ++i) {
    const auto &item = component.items[i];
    intervals.push_back({item.first, item.last, uint64_t(item.size), uint64_t(item.alignment)});
    offsets.push_back(uint64_t(search.offsets()[i]));
  }
  EXPECT_EQ(findOverlap(intervals, offsets, uint64_t(capacity)), "");
  return true;
}

// packIntervals stops at the first greedy order that meets the bound; here every decision is the
// search's own, for every capacity from the bound to one above the optimum.
TEST(PackingSearch, DecidesEveryCapacityAsBruteForceDoes) {
  std::mt19937 generator(1);
  int impossible = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    RandomShape shape{2 + trial % 7, 3 + trial % 9, 2 + trial % 5, 2 + uint64_t(trial) % 6, {1}};
    if (trial % 4 == 1)
      shape.alignments = {1, 4};
    std::vector<Interval> intervals =
        trial % 2 ? randomIntervals(generator, shape)
                  : splitAndMerge(generator, trial % 256 ? 2 : 3, 1 + trial % 9);
    if (trial % 8 == 2) // where sizes no longer match their neighbours' sums
      intervals[generator() % intervals.size()].size += 1;
    std::vector<uint64_t> offsets;
    uint64_t bottom = 0;
    for (const PackingComponent &component : splitIntervals(intervals, offsets, bottom)) {
      std::vector<Interval> own;
      for (const auto &item : component.items)
        own.push_back({item.first, item.last, uint64_t(item.size), uint64_t(item.alignment)});
      int64_t least = int64_t(smallestArena(own));
      for (int64_t capacity = component.lowerBound; capacity <= least + 1; ++capacity)
        for (bool followFailures : {false, true})
          ASSERT_EQ(fits(component, capacity, followFailures, generator), capacity >= least)
              << "trial " << trial << " capacity " << capacity << " optimum " << least;
      impossible += least > component.lowerBound;
    }
  }
  EXPECT_GT(impossible, 200);
}

TEST(PackingSearch, StopsAtItsLimits) {
  std::mt19937 generator(2);
  std::vector<Interval> pieces = cutRectangle(generator, 1000, 100000, 300);
  std::vector<uint64_t> offsets;
  uint64_t bottom = 0;
  std::vector<PackingComponent> components = splitIntervals(pieces, offsets, bottom);
  ASSERT_FALSE(components.empty());
  const PackingComponent &component = components.front();
  std::vector<int> order(component.items.size());
  std::iota(order.begin(), order.end(), 0);
  PackingConflicts conflicts(component);
  PackingSearch byNodes(conflicts, component.lowerBound, order, false);
  EXPECT_EQ(byNodes.run({3, UINT64_MAX, [] { return false; }}), PackingSearch::Outcome::Stopped);
  PackingSearch cancelled(conflicts, component.lowerBound, order, false);
  EXPECT_EQ(cancelled.run({UINT64_MAX, UINT64_MAX, [] { return true; }}),
            PackingSearch::Outcome::Stopped);
}

} // namespace
