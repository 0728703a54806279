// The plans between keeping everything and the smallest peak.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H

#include "passes/algorithms/rematerialization/CutPlans.h"

namespace gc {

struct FrontierOptions {
  int rungs = 36;         // targets between the largest and the smallest peak
  size_t looks = 8;       // candidates simulated for each decision
  size_t exchanges = 100; // tried per rung: keep one value instead of another
  CutOptions cuts;
  // Random changes that are tried to improve a plan, for each value and at most:
  int64_t changesPerValue = 200;
  int64_t changesPerTarget = 20000;
  int between = 4; // plans between two targets
  // Graphs with more ops are simulated as a whole for many decisions at once only:
  size_t simulatedOneByOne = 2000;
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
/// descent and prices of memory. On request, plans near a budget are improved by local search: rung
/// by rung, each from the plans that are there at first, so that what is found for one budget does
/// not depend on those that were asked for before it.
class Frontier {
public:
  /// The graph must outlive this.
  explicit Frontier(const StepGraph &graph, const FrontierOptions &options = {});

  /// Those that are there at first.
  const std::vector<RematPlan> &plans() const { return base; }
  /// These and all that could be better for who has `room` bytes, and plans that recompute for so
  /// many seconds: rungs that hold larger plans only, or only plans that provably take longer, are
  /// left out. So a smaller room never gets a faster plan. Fastest first, and also those that
  /// another beats in peak and time: its packing may need more.
  std::vector<RematPlan> plansFor(int64_t room, double recomputeSeconds);

private:
  int64_t lowestOf(int rung) const;
  std::vector<RematPlan> improve(int rung) const;

  const StepGraph &graph;
  FrontierOptions options;
  std::vector<int> decidable;
  std::vector<RematPlan> base, cuts;
  bool isOptimal = false;
  std::vector<int64_t> targets; // of each rung, and before them the largest peak
  std::vector<std::optional<std::vector<RematPlan>>> improved; // of each rung
};

/// All plans, every rung improved.
std::vector<RematPlan> frontier(const StepGraph &graph, const FrontierOptions &options = {});

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H
