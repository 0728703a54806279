// The plans between keeping everything and the smallest peak.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H

#include "passes/algorithms/rematerialization/CutPlans.h"
#include "passes/algorithms/rematerialization/GreedySearch.h"

#include <optional>

namespace gc {

struct FrontierOptions {
  double rungRatio = 0.95; // of the peaks that are aimed at, from one to the next
  CutOptions cuts;
  size_t descents = 8; // begin at plans from cuts,
  double slowest = 2;  // and end where a step takes so many times its time
  // Graphs with more ops get no greedy plans, and a descent only from the smallest plan of cuts.
  size_t largeOps = 2000;
  GreedyOptions greedy;
  // Random changes that are tried to improve a plan: for each value, and in all for the target.
  int64_t changesPerValue = 400;
  int64_t changesTimesOps = 40'000'000, fewestChanges = 2000, mostChanges = 80'000;
  int64_t longer = 3; // times as many of them, from a plan of a cut
  int between = 4;    // plans between two targets
  // Plans for a target are no faster than those so many rungs above it, or than this part of what
  // was there at first takes.
  int reach = 6;
  double mostGain = 0.75;
  // The exact search, for graphs in which few values are large:
  int exactOps = 40;           // up to this many ops every point of the frontier is asked for,
  int exactSteps = 48;         // else budgets that fall by this part
  int cutShort = 2;            // searches that may be given up before all are,
  int statesPerBudget = 60000; // looked at for one budget,
  int exactStates = 1000000;   // and in all; 0: no exact search
};

/// Plans from keepAll downwards, by falling peak and rising time; none is worse in both than
/// another. Small graphs are solved exactly (rematerialization/ExactRemat), others by prices of
/// memory and greedily. On request, plans near a budget are improved by local search: rung
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
  /// What no plan within `room` bytes can beat, by the exact search: seconds of recomputation,
  /// infinity where no plan fits, 0 where the search does not tell.
  double provenSeconds(int64_t room) const;

private:
  bool isLarge() const;
  void addSearched();
  void add(std::vector<RematPlan> plans);
  std::vector<RematPlan> descend(const RematPlan &start) const;
  const std::vector<RematPlan> &smallPlans();
  double leastFor(int rung) const;
  double boundOf(int rung);
  int64_t lowestOf(int rung) const;
  std::vector<RematPlan> improve(int rung, const std::vector<RematPlan> &starts) const;

  const StepGraph &graph;
  FrontierOptions options;
  std::vector<int> decidable;
  std::vector<RematPlan> base, cuts;
  bool isOptimal = false;
  std::vector<std::pair<int64_t, double>> proven; // rooms, and seconds of the best plan within each
  std::optional<std::vector<RematPlan>> small;    // of a large graph, found when first asked for
  std::vector<int64_t> targets;                   // of each rung, and before them the largest peak
  std::vector<std::optional<double>> bounds;      // of each rung
  std::vector<std::optional<std::vector<RematPlan>>> improved; // of each rung
};

/// All plans, every rung improved.
std::vector<RematPlan> frontier(const StepGraph &graph, const FrontierOptions &options = {});

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_FRONTIER_H
