// Packings of schedules: valid, the same when asked again, and the same for every packer.
#include "passes/algorithms/StepPacking.h"
#include "passes/algorithms/packing/PackingCheck.h"
#include "passes/algorithms/rematerialization/Rematerialization.h"
#include "test/algorithms/RandomStepGraph.h"

#include <gtest/gtest.h>

namespace {

using namespace gc;
using namespace gc::test;

TEST(StepPacking, IsValidAndRemembered) {
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    StepGraph graph = residualNetwork(random, 1 + static_cast<int>(random() % 12));
    StepPacker packer(5'000);
    for (const RematPlan &plan : {keepAll(graph), dropAll(graph), keepSquareRoot(graph)}) {
      Schedule schedule = scheduleOf(graph, plan);
      if (!schedule.valid())
        continue;
      const PackingResult &packed = packer.pack(graph, schedule);
      Lives lives;
      lives.analyse(FlatGraph(graph), schedule);
      ASSERT_EQ(packed.offsets.size(), lives.storages().size());
      EXPECT_GE(packed.bytes, static_cast<uint64_t>(lives.peak()));
      std::vector<Interval> intervals;
      for (const StorageLife &life : lives.storages())
        intervals.push_back({life.first, life.last + 1, static_cast<uint64_t>(life.bytes)});
      EXPECT_EQ(describeInvalidPacking(intervals, packed.offsets, packed.bytes), "");

      size_t packings = packer.packings();
      EXPECT_EQ(&packer.pack(lives.storages()), &packed) << "the same lives, packed again";
      EXPECT_EQ(packer.packings(), packings);
      EXPECT_EQ(StepPacker(5'000).pack(graph, schedule).offsets, packed.offsets);
    }
  }
}

} // namespace
