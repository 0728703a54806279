// The plans between keeping everything and the smallest peak.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H

#include "passes/algorithms/rematerialization/Rematerialization.h"

namespace gc {

struct FrontierOptions {
  int rungs = 36;         // targets between the largest and the smallest peak
  size_t looks = 8;       // candidates simulated for each decision
  size_t exchanges = 100; // tried per rung: keep one value instead of another
  int lowered = 3;        // checkpointings from which smaller peaks are sought
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
