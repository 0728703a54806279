// The plans between keeping everything and the smallest peak.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H

#include "passes/algorithms/rematerialization/CutPlans.h"
#include "passes/algorithms/rematerialization/Rematerialization.h"

namespace gc {

struct FrontierOptions {
  int rungs = 36;         // targets between the largest and the smallest peak
  size_t looks = 8;       // candidates simulated for each decision
  size_t exchanges = 100; // tried per rung: keep one value instead of another
  CutOptions cuts;
  // Random changes that are tried to improve a plan, for each value and at most:
  int64_t changesPerValue = 80;
  int64_t changesPerTarget = 6000;
  int between = 4; // plans between two targets
  // Graphs with more ops are simulated as a whole for many decisions at once only:
  size_t simulatedOneByOne = 2000;
  int64_t changesPerLargeTarget = 3000;
  size_t decisions = 100;             // from keeping everything to the smallest peak
  size_t simulatedInTrials = 30000;   // ops, to improve one plan
  size_t simulatedInAll = 10'000'000; // ops; then values are no longer freed one by one
  int lowered = 3;                    // checkpointings from which smaller peaks are sought
  // The exact search, for graphs in which few values are large:
  int exactOps = 40;           // up to this many ops every point of the frontier is asked for,
  int exactSteps = 48;         // else budgets that fall by this part
  int cutShort = 2;            // searches that may be given up before all are,
  int statesPerBudget = 60000; // looked at for one budget,
  int exactStates = 1000000;   // and in all; 0: no exact search
};

/// Plans from keepAll downwards, by falling peak and rising time; none is worse in both than
/// another. Small graphs are solved exactly (rematerialization/ExactRemat), large ones by greedy
/// descent with an exact simulation of every step, and local search.
std::vector<RematPlan> frontier(const StepGraph &graph, const FrontierOptions &options = {});

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H
