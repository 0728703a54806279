// What holds for every graph, policy and budget: schedules compute the right values, bytes are what
// they are, budgets are kept, less memory never takes less time, and no bound is above a plan.
#include "passes/algorithms/rematerialization/Frontier.h"
#include "passes/algorithms/rematerialization/RematBounds.h"
#include "passes/algorithms/rematerialization/Rematerialization.h"
#include "test/algorithms/RandomStepGraph.h"
#include "test/algorithms/ScheduleReplay.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace gc;
using namespace gc::test;

std::vector<Retention> randomRetention(const StepGraph &graph, std::mt19937 &random) {
  std::vector<Retention> retention(graph.values.size(), Retention::Keep);
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (canDrop(graph, static_cast<int>(v)))
      retention[v] = static_cast<Retention>(random() % 3);
  return retention;
}

// The values are right, and lives as analysed are those of the definition. Returns the analysis.
Lives checkedLives(const StepGraph &graph, const Schedule &schedule) {
  EXPECT_TRUE(schedule.valid());
  EXPECT_EQ(replay(graph, schedule), "");
  Lives lives;
  lives.analyse(FlatGraph(graph), schedule);
  std::vector<int64_t> live = liveBytes(graph, schedule);
  EXPECT_EQ(lives.live(), live);
  EXPECT_EQ(lives.peak(), *std::max_element(live.begin(), live.end()));
  EXPECT_EQ(lives.live()[lives.peakAt()], lives.peak());
  return lives;
}

void checkPlan(const StepGraph &graph, const RematPlan &plan) {
  Lives lives = checkedLives(graph, scheduleOf(graph, plan));
  EXPECT_EQ(lives.peak(), plan.peak);
  double step = 0;
  for (const StepOp &op : graph.ops)
    step += op.seconds;
  EXPECT_NEAR(plan.seconds, step + plan.recomputeSeconds, 1e-9);
  EXPECT_NEAR(plan.recomputeSeconds, lives.recomputeSeconds(), 1e-9);
  EXPECT_LE(peakLowerBound(graph), plan.peak);
  EXPECT_LE(recomputeLowerBound(graph, plan.peak), plan.recomputeSeconds + 1e-9);
}

// Policies look at no variables: the schedule knows whether it is right.
void checkPolicies(const StepGraph &graph, std::mt19937 &random) {
  checkPlan(graph, keepAll(graph));
  EXPECT_EQ(keepAll(graph).recomputeSeconds, 0);
  for (const RematPlan &plan : {dropAll(graph), keepSquareRoot(graph),
                                keepCheckpoints(graph, static_cast<int>(random() % 12))}) {
    Schedule schedule = scheduleOf(graph, plan);
    if (schedule.valid())
      checkPlan(graph, plan);
    else
      EXPECT_NE(replay(graph, schedule), "");
  }
}

void checkFrontier(const StepGraph &graph, const std::vector<RematPlan> &plans) {
  ASSERT_FALSE(plans.empty());
  RematPlan keep = keepAll(graph);
  EXPECT_EQ(plans.front().peak, keep.peak);
  EXPECT_EQ(plans.front().seconds, keep.seconds);
  for (size_t i = 0; i < plans.size(); ++i) {
    checkPlan(graph, plans[i]);
    if (i > 0) {
      EXPECT_LT(plans[i].peak, plans[i - 1].peak);
      EXPECT_GT(plans[i].seconds, plans[i - 1].seconds);
    }
  }
}

// Exact where that is quick, and searched.
FrontierOptions quick() {
  FrontierOptions options;
  options.statesPerBudget = 2000;
  options.exactStates = 20000;
  options.changesPerValue = 20;
  return options;
}

void checkHolding(const StepGraph &graph, std::mt19937 &random) {
  Scheduler scheduler(graph);
  const Schedule &schedule = scheduler.build(randomRetention(graph, random));
  if (!schedule.valid())
    return;
  Lives before = checkedLives(graph, schedule);
  int64_t limit = before.peak() + before.peak() / 8 * static_cast<int64_t>(random() % 3);
  Schedule held = holdWhereItFits(scheduler.flat(), schedule, before.live(), limit);
  Lives after = checkedLives(graph, held);
  EXPECT_LE(after.peak(), limit);
  EXPECT_LE(after.seconds(), before.seconds() + 1e-9);
}

// A workspace of half of all saved bytes, in the middle: very many sets of values could go for it.
TEST(RematProperties, ManyWaysToMakeRoom) {
  GraphBuilder b;
  std::vector<int> made{b.input()};
  for (int i = 0; i < 40; ++i)
    made.push_back(b.op({made.back()}, 1024 + 64 * (i % 7), 1, false));
  int gradient = b.op({made.back()}, 64, 1, true, true, 20 * 1024);
  for (int i = 40; i > 0; --i)
    gradient = b.op({made[i], gradient}, 64, 1, true);
  b.graph.values[gradient].untilEnd = true;
  checkFrontier(b.graph, frontier(b.graph, quick()));
}

TEST(RematProperties, SmallGraphs) {
  for (int seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    StepGraph graph = randomStepGraph(random, randomTraits(random, 8));
    checkPolicies(graph, random);
    checkHolding(graph, random);
    checkFrontier(graph, frontier(graph));
    if (HasFailure())
      break;
  }
}

// As large graphs are searched, so small ones can be.
TEST(RematProperties, SmallGraphsSearched) {
  FrontierOptions searched;
  searched.exactStates = 0;
  searched.changesPerValue = 20; // what holds does not depend on how long is searched
  for (int seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    StepGraph graph = randomStepGraph(random, randomTraits(random, 12));
    checkFrontier(graph, frontier(graph, searched));
    if (HasFailure())
      break;
  }
}

TEST(RematProperties, PoliciesOfLargerGraphs) {
  for (int seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    StepGraph graph = randomStepGraph(random, randomTraits(random, 60));
    checkPolicies(graph, random);
    checkHolding(graph, random);
    if (HasFailure())
      break;
  }
}

TEST(RematProperties, FrontiersOfLargerGraphs) {
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    StepGraph graph = randomStepGraph(random, randomTraits(random, 60));
    checkFrontier(graph, frontier(graph, quick()));
    if (HasFailure())
      break;
  }
}

TEST(RematProperties, ResidualNetworks) {
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    StepGraph graph = residualNetwork(random, 1 + seed % 10);
    checkPolicies(graph, random);
    checkHolding(graph, random);
    checkFrontier(graph, frontier(graph, quick()));
    if (HasFailure())
      break;
  }
}

} // namespace
