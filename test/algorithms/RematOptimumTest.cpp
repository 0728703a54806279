// How good are our plans? An integer program knows (RematIntegerProgram): the plans of small graphs
// are within 2 % of its optimum and exist wherever it finds one, and our own exact solver agrees.
#include "passes/algorithms/rematerialization/ExactRemat.h"
#include "passes/algorithms/rematerialization/Frontier.h"
#include "passes/algorithms/rematerialization/RematBounds.h"
#include "passes/algorithms/rematerialization/Rematerialization.h"
#include "test/algorithms/RandomStepGraph.h"
#include "test/algorithms/RematIntegerProgram.h"
#include "test/algorithms/ScheduleReplay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

using namespace gc;
using namespace gc::test;

constexpr double never = INFINITY;

double stepSeconds(const StepGraph &graph) {
  double seconds = 0;
  for (const StepOp &op : graph.ops)
    seconds += op.seconds;
  return seconds;
}

// Seconds of recomputation in a schedule that computes the right values within the budget.
double checkedSeconds(const StepGraph &graph, const Schedule &schedule, int64_t budget) {
  EXPECT_EQ(replay(graph, schedule), "");
  std::vector<int64_t> live = liveBytes(graph, schedule);
  EXPECT_LE(*std::max_element(live.begin(), live.end()), budget);
  double seconds = 0;
  for (int place = 0; place < schedule.size(); ++place)
    seconds += schedule.recomputed(place) ? graph.ops[schedule.op(place)].seconds : 0;
  return seconds;
}

double secondsByProgram(const StepGraph &graph, int64_t budget, int sweeps = 1) {
  ProgramOptimum optimum = solveByIntegerProgram(graph, budget, sweeps);
  EXPECT_TRUE(optimum.decided) << "the program took too many nodes";
  if (!optimum.schedule)
    return never;
  EXPECT_NEAR(checkedSeconds(graph, *optimum.schedule, budget), optimum.recomputeSeconds, 1e-9);
  return optimum.recomputeSeconds;
}

double secondsBySearch(const StepGraph &graph, int64_t budget) {
  ExactRemat exact = solveExactly(graph, budget, 1'000'000);
  EXPECT_TRUE(exact.complete);
  return exact.schedule ? checkedSeconds(graph, *exact.schedule, budget) : never;
}

double secondsByPlans(const std::vector<RematPlan> &plans, int64_t budget) {
  double seconds = never;
  for (const RematPlan &plan : plans)
    if (plan.peak <= budget)
      seconds = std::min(seconds, plan.recomputeSeconds);
  return seconds;
}

// The budget below which we find nothing, the one where we just do, and some between it and all
// that the step would like.
std::vector<int64_t> budgetsFor(const std::vector<RematPlan> &plans, int between,
                                std::mt19937 &random) {
  int64_t top = plans.front().peak, low = plans.back().peak;
  std::vector<int64_t> budgets{low - storageAlignment, low};
  for (int i = 0; i < between; ++i)
    budgets.push_back(std::uniform_int_distribution<int64_t>(low, top)(random));
  return budgets;
}

struct Tally {
  int graphs = 0, budgets = 0, feasible = 0, recomputing = 0;
  int beyondOneSweep = 0;              // budgets at which several sweeps are better
  int searched = 0;                    // graphs that were too large for the exact solver
  double worst = 1, worstSearched = 1; // step time, ours by the program's
  void print(const char *name) const {
    std::printf("%s: %d graphs, %d budgets, %d feasible, %d with recomputation; worst %.4f of the "
                "optimum; better than one sweep: %d; not exact: %d graphs, worst %.4f\n",
                name, graphs, budgets, feasible, recomputing, worst, beyondOneSweep, searched,
                worstSearched);
  }
};

// Whether frontier() was given exact answers: it asks for a little less than each plan needs.
bool solvedExactly(const StepGraph &graph, const std::vector<RematPlan> &plans) {
  FrontierOptions options;
  return std::all_of(plans.begin(), plans.end(), [&](const RematPlan &plan) {
    return solveExactly(graph, plan.peak - storageAlignment, options.statesPerBudget).complete;
  });
}

void compare(const StepGraph &graph, int between, std::mt19937 &random, Tally &tally) {
  std::vector<RematPlan> plans = frontier(graph);
  bool exact = solvedExactly(graph, plans);
  double step = stepSeconds(graph);
  ++tally.graphs;
  tally.searched += !exact;
  for (int64_t budget : budgetsFor(plans, between, random)) {
    SCOPED_TRACE("budget " + std::to_string(budget));
    double best = secondsByProgram(graph, budget), ours = secondsByPlans(plans, budget);
    ++tally.budgets;
    if (best < never) {
      ++tally.feasible;
      tally.recomputing += best > 0;
      double ratio = (step + ours) / (step + best);
      EXPECT_LE(ratio, 1.02) << "ours " << ours << ", optimum " << best;
      (exact ? tally.worst : tally.worstSearched) =
          std::max(exact ? tally.worst : tally.worstSearched, ratio);
    }
    // Every schedule of the program is among those that the solver looks at.
    double search = secondsBySearch(graph, budget);
    EXPECT_LE(search, best < never ? best + 1e-6 : never);
    tally.beyondOneSweep += search < best - 1e-6;
  }
}

//===--- the yardstick itself ---===//

TEST(RematIntegerProgram, ChainByHand) {
  // Backward begins with a1..a4 and the first gradient alive: 5 values. With 4, a1 comes back when
  // a4 and a3 are gone: 1 s. With 3, one of them can stay while a4's gradient is made: a3, which is
  // read next, with both gradients beside it. Then a1 and a2 come back, 2 s, and for the gradient
  // of a2 a1 goes and comes back, 1 s. With 2, no gradient can be made from another.
  StepGraph graph = chain(4, 64, 1);
  EXPECT_EQ(secondsByProgram(graph, 5 * 64), 0);
  EXPECT_EQ(secondsByProgram(graph, 5 * 64 - 1), 1);
  EXPECT_EQ(secondsByProgram(graph, 4 * 64), 1);
  EXPECT_EQ(secondsByProgram(graph, 3 * 64), 3);
  EXPECT_EQ(secondsByProgram(graph, 3 * 64 - 1), never);
}

TEST(RematIntegerProgram, InPlaceByHand) {
  // x -> a (64) -> b (64) over a: one value is alive, 64 bytes; without the pair both are.
  GraphBuilder b;
  int a = b.op({b.input()}, 64, 1, false);
  int c = b.op({a}, 64, 1, false);
  b.graph.values[c].untilEnd = true;
  EXPECT_EQ(secondsByProgram(b.graph, 64), never);
  EXPECT_EQ(secondsByProgram(b.graph, 128), 0);
  b.graph.ops.back().inPlace = {{0, 0}};
  EXPECT_EQ(secondsByProgram(b.graph, 64), 0);
  EXPECT_EQ(secondsByProgram(b.graph, 63), never);
}

TEST(RematIntegerProgram, ChangedVariablesForbidRecomputation) {
  // w -> a; big needs room for 3 values; then the gradient reads a. Without an update a goes and
  // comes back; once w has changed it must stay.
  GraphBuilder b;
  int w = b.input();
  int a = b.op({w}, 64, 1, false);
  int big = b.op({b.input()}, 3 * 64, 1, false, false);
  GraphBuilder updated = b;
  for (GraphBuilder *each : {&b, &updated}) {
    if (each == &updated)
      each->update(w, {big});
    else
      each->op({big}, 64, 1, true);
    each->graph.values[each->op({a}, 64, 1, true)].untilEnd = true;
  }
  EXPECT_EQ(secondsByProgram(b.graph, 4 * 64), 1);
  EXPECT_EQ(secondsByProgram(b.graph, 5 * 64), 0);
  EXPECT_EQ(secondsByProgram(updated.graph, 4 * 64), 0);
  EXPECT_EQ(secondsByProgram(updated.graph, 3 * 64), never);
}

TEST(RematIntegerProgram, AnotherOrderNeedsAnotherSweep) {
  // Two chains of a wide value (8) and a narrow one (1), side by side in program order. Forward
  // takes 17: both wide ones and a narrow one. So does `huge` (13) beside a gradient (4): n1 and n2
  // must go, and come back beside the gradient. In program order both wide ones are there at once,
  // 4 + 8 + 8; one chain after the other takes 4 + 1 + 8 + 1.
  GraphBuilder b;
  int w1 = b.op({b.input()}, 8 * 64, 1, false), w2 = b.op({b.input()}, 8 * 64, 1, false);
  int n1 = b.op({w1}, 64, 1, false), n2 = b.op({w2}, 64, 1, false);
  int gradient = b.op({b.input()}, 4 * 64, 1, true);
  b.op({b.input()}, 13 * 64, 1, true);
  b.graph.values[b.op({n1, n2, gradient}, 64, 1, true)].untilEnd = true;
  EXPECT_EQ(secondsByProgram(b.graph, 17 * 64, 1), never);
  EXPECT_EQ(secondsByProgram(b.graph, 17 * 64, 2), 4);
  EXPECT_EQ(secondsBySearch(b.graph, 17 * 64), 4);
}

//===--- ours against it ---===//

TEST(RematOptimum, EveryKindOfGraph) {
  Tally tally;
  for (int seed = 0; seed < 320; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    GraphTraits traits;
    traits.workspaces = seed & 1;
    traits.severalResults = seed & 2;
    traits.unrepeatable = seed & 4;
    traits.updates = seed & 8;
    traits.inPlace = seed & 16;
    traits.kept = seed & 32;
    compare(randomStepGraph(random, traits), 2, random, tally);
  }
  tally.print("every kind");
  EXPECT_GT(tally.recomputing, 500);
}

TEST(RematOptimum, SizesOfMegabytes) {
  Tally tally;
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    GraphTraits traits;
    traits.mostBytes = 3'000'000;
    traits.aligned = false;
    compare(randomStepGraph(random, traits), 2, random, tally);
  }
  tally.print("megabytes");
}

TEST(RematOptimum, LargerGraphs) {
  Tally tally;
  for (int seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    GraphTraits traits;
    traits.leastForward = 7;
    traits.mostForward = 10;
    compare(randomStepGraph(random, traits), 1, random, tally);
  }
  tally.print("larger");
}

TEST(RematOptimum, ExactSolverEqualsProgramOfManySweeps) {
  int feasible = 0;
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    GraphTraits traits;
    traits.mostForward = 5;
    traits.inPlace = seed & 1;
    StepGraph graph = randomStepGraph(random, traits);
    for (int64_t budget : budgetsFor(frontier(graph), 1, random)) {
      double best = secondsByProgram(graph, budget, 3), ours = secondsBySearch(graph, budget);
      SCOPED_TRACE("budget " + std::to_string(budget));
      ASSERT_EQ(ours < never, best < never);
      feasible += best < never;
      if (best < never) {
        EXPECT_NEAR(ours, best, 1e-6);
      }
    }
  }
  EXPECT_GT(feasible, 100);
}

} // namespace
