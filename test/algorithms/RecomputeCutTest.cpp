// The cheapest choice of what to keep, against all choices.
#include "passes/algorithms/rematerialization/RecomputeCut.h"
#include "passes/algorithms/rematerialization/LiveProfile.h"
#include "test/algorithms/RandomStepGraph.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace gc;
using namespace gc::test;

TEST(MinimumCut, OfAKnownNetwork) {
  MinimumCut cut(4);
  int first = cut.addEdge(0, 1, 3);
  cut.addEdge(0, 2, 2);
  cut.addEdge(1, 2, 5);
  cut.addEdge(1, 3, 2);
  cut.addEdge(2, 3, 2);
  EXPECT_EQ(cut.solve(0, 3), 4);
  cut.setCapacity(first, 1);
  EXPECT_EQ(cut.solve(0, 3), 3);
  EXPECT_TRUE(cut.isOnSourceSide(0));
  EXPECT_FALSE(cut.isOnSourceSide(3));
}

// Seconds and prices if exactly `kept` is kept: what is needed and not kept is made again.
double costOf(const StepGraph &graph, const std::vector<char> &kept,
              const std::vector<double> &prices) {
  std::vector<char> needed(graph.values.size(), 0), again(graph.ops.size(), 0);
  double cost = 0;
  for (const StepOp &op : graph.ops)
    if (op.backward)
      for (int operand : op.operands)
        needed[operand] = 1;
  for (int i = static_cast<int>(graph.ops.size()) - 1; i >= 0; --i) {
    const StepOp &op = graph.ops[i];
    for (int result : op.results)
      if (needed[result] && canDrop(graph, result) && !kept[result])
        again[i] = 1;
    if (!again[i])
      continue;
    cost += op.seconds;
    for (int operand : op.operands)
      needed[operand] = 1;
  }
  for (size_t v = 0; v < kept.size(); ++v)
    if (kept[v] && needed[v])
      cost += prices[v];
  return cost;
}

TEST(RecomputeCut, IsTheCheapestChoice) {
  std::mt19937 random(3);
  int compared = 0;
  for (int i = 0; i < 200; ++i) {
    GraphTraits traits;
    traits.mostForward = 9;
    traits.severalResults = random() % 2;
    traits.unrepeatable = random() % 2;
    StepGraph graph = randomStepGraph(random, traits);
    std::vector<int> values;
    std::vector<double> prices(graph.values.size());
    for (size_t v = 0; v < graph.values.size(); ++v) {
      prices[v] = 0.001 * static_cast<double>(random() % 3000);
      if (canDrop(graph, static_cast<int>(v)))
        values.push_back(static_cast<int>(v));
    }
    if (values.size() > 12)
      continue;
    ++compared;
    double best = 1e30;
    for (unsigned set = 0; set < 1u << values.size(); ++set) {
      std::vector<char> kept(graph.values.size(), 0);
      for (size_t bit = 0; bit < values.size(); ++bit)
        kept[values[bit]] = set >> bit & 1;
      best = std::min(best, costOf(graph, kept, prices));
    }
    RecomputeCut cut(graph);
    EXPECT_NEAR(cut.solve(prices), best, 1e-6);
    std::vector<char> kept(graph.values.size(), 0);
    for (int value : cut.kept())
      kept[value] = 1;
    EXPECT_NEAR(costOf(graph, kept, prices), best, 1e-6);
  }
  EXPECT_GT(compared, 50);
}

TEST(LiveProfile, AddsAndFindsTheMost) {
  std::mt19937 random(4);
  std::vector<int64_t> live(37);
  for (int64_t &bytes : live)
    bytes = static_cast<int64_t>(random() % 100);
  LiveProfile profile(live);
  for (int i = 0; i < 500; ++i) {
    int begin = static_cast<int>(random() % 37), end = static_cast<int>(random() % 38);
    auto bytes = static_cast<int64_t>(random() % 21) - 10;
    profile.add(begin, end, bytes);
    for (int place = begin; place < end; ++place)
      live[place] += bytes;
    int from = static_cast<int>(random() % 37),
        to = from + 1 + static_cast<int>(random() % (37 - from));
    EXPECT_EQ(profile.most(from, to), *std::max_element(live.begin() + from, live.begin() + to));
    EXPECT_EQ(profile.mostOfAll(), *std::max_element(live.begin(), live.end()));
    EXPECT_EQ(live[profile.whereMost()], profile.mostOfAll());
  }
}

} // namespace
