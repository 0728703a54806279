// What is tracked from change to change is what a count of the whole step says.
#include "passes/algorithms/rematerialization/PlanTracker.h"
#include "passes/algorithms/rematerialization/PlanImprover.h"
#include "test/algorithms/RandomStepGraph.h"
#include "test/algorithms/ScheduleReplay.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace gc;
using namespace gc::test;

std::vector<int> droppable(const StepGraph &graph) {
  std::vector<int> values;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (canDrop(graph, static_cast<int>(v)))
      values.push_back(static_cast<int>(v));
  return values;
}

void expectTracked(const StepGraph &graph, const PlanTracker &tracker) {
  Schedule schedule = tracker.schedule();
  EXPECT_EQ(schedule.valid(), tracker.valid());
  EXPECT_EQ(schedule.valid() ? replay(graph, schedule) : "", "");
  Lives lives;
  lives.analyse(FlatGraph(graph), schedule);
  EXPECT_EQ(lives.peak(), tracker.peak());
  EXPECT_NEAR(lives.recomputeSeconds(), tracker.recomputeSeconds(), 1e-9);
}

TEST(PlanTracker, FollowsEveryChange) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    StepGraph graph = randomStepGraph(random, randomTraits(random, 30));
    std::vector<int> values = droppable(graph);
    if (values.empty())
      continue;
    PlanTracker tracker(graph, retainSaved(graph));
    expectTracked(graph, tracker);
    for (int change = 0; change < 30 && !HasFailure(); ++change) {
      SCOPED_TRACE(testing::Message() << "graph " << i << ", change " << change);
      std::vector<Retention> before = tracker.retention();
      int64_t peak = tracker.peak();
      double seconds = tracker.recomputeSeconds();
      tracker.mark();
      for (unsigned count = 1 + random() % 3; count > 0; --count)
        tracker.decide(values[random() % values.size()], static_cast<Retention>(random() % 3));
      tracker.settle();
      expectTracked(graph, tracker);
      if (random() % 2)
        continue;
      tracker.undo();
      EXPECT_EQ(tracker.retention(), before);
      EXPECT_EQ(tracker.peak(), peak);
      EXPECT_NEAR(tracker.recomputeSeconds(), seconds, 1e-9);
      expectTracked(graph, tracker);
    }
  }
}

TEST(PlanImprover, FitsItsTargetAndRepeats) {
  std::mt19937 random(2);
  int fitted = 0;
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    StepGraph graph = randomStepGraph(random, randomTraits(random, 30));
    std::vector<int> values = droppable(graph);
    if (values.empty())
      continue;
    RematPlan all = keepAll(graph);
    int64_t target = all.peak - all.peak / 5;
    const RematPlan start = i % 2 ? all : dropAll(graph);
    auto improved = [&] {
      PlanImprover improver(graph, values);
      improver.begin(start.retention);
      improver.lower(target);
      improver.fill(target);
      improver.anneal(target, 500);
      return improver.plan();
    };
    std::optional<RematPlan> found = improved();
    ASSERT_EQ(found.has_value(), improved().has_value());
    if (!found)
      continue;
    const RematPlan &plan = *found;
    EXPECT_EQ(plan.retention, improved()->retention);
    Schedule schedule = scheduleOf(graph, plan);
    EXPECT_TRUE(schedule.valid());
    if (plan.peak > target)
      continue;
    ++fitted;
    EXPECT_EQ(replay(graph, schedule), "");
    Lives lives;
    lives.analyse(FlatGraph(graph), schedule);
    EXPECT_EQ(lives.peak(), plan.peak);
    EXPECT_NEAR(lives.seconds(), plan.seconds, 1e-9);
  }
  EXPECT_GT(fitted, 10);
}

} // namespace
