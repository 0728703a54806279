// Step graphs to try rematerialization on: by hand, random, and shaped like networks.
#ifndef GC_TEST_ALGORITHMS_RANDOMSTEPGRAPH_H
#define GC_TEST_ALGORITHMS_RANDOMSTEPGRAPH_H

#include "passes/algorithms/StepGraph.h"

#include <random>

namespace gc::test {

/// A step graph op by op: forward ops first, then backward ops.
struct GraphBuilder {
  StepGraph graph;
  /// A persistent value.
  int input();
  /// An op with one result, which is returned.
  int op(std::vector<int> operands, int64_t bytes, double seconds, bool backward,
         bool repeatable = true, int64_t workspace = 0);
  /// Another result of the op made last.
  int alsoMakes(int64_t bytes);
  /// Changes a variable, as optimizers do.
  void update(int variable, std::vector<int> operands);
};

/// x -> a1 -> ... -> an, then backward from the last: each needs its activation and the gradient.
StepGraph chain(int n, int64_t bytes, double seconds);

/// What a random graph may contain.
struct GraphTraits {
  int leastForward = 2, mostForward = 7; // ops
  int64_t leastBytes = 64, mostBytes = 1024;
  bool aligned = true; // sizes are multiples of storageAlignment
  bool workspaces = true;
  bool severalResults = true;
  bool unrepeatable = true;
  bool kept = true;    // forward values that are returned
  bool updates = true; // variables that ops read and later ops change
  bool inPlace = true;
};

/// Any mixture of traits.
GraphTraits randomTraits(std::mt19937 &random, int mostForward);

/// A branching forward part and a backward part that reads it in reverse. Seconds are multiples of
/// 1/8, so that sums are exact.
StepGraph randomStepGraph(std::mt19937 &random, const GraphTraits &traits);

/// Blocks of convolution, norm, ReLU with a skip connection and an update for each convolution, in
/// stages of falling size: 6 ops forward and 8 backward for each block.
StepGraph residualNetwork(std::mt19937 &random, int blocks);

} // namespace gc::test

#endif // GC_TEST_ALGORITHMS_RANDOMSTEPGRAPH_H
