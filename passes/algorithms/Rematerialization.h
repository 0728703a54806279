// What to keep and what to compute again: decisions on a StepGraph, apart from any IR.
//
// The answer to "which plan fits B bytes" comes from a frontier: plans between keeping everything
// and the smallest peak found, computed once and without looking at B. So a smaller budget never
// gets a faster plan or a larger peak than a larger one.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_H

#include "passes/algorithms/Retention.h"

#include <memory>
#include <optional>
#include <string_view>

namespace gc {

struct RematPlan {
  std::vector<Retention> retention; // one entry per value
  /// If set, the schedule instead of what follows from `retention`.
  std::shared_ptr<const Schedule> explicitly;
  int64_t peak = 0;   // largest sum of live bytes, persistent ones left out
  double seconds = 0; // of the whole step
  double recomputeSeconds = 0;
};

/// The order of execution that a plan means.
Schedule scheduleOf(const StepGraph &graph, const RematPlan &plan);

/// Nothing is recomputed.
RematPlan keepAll(const StepGraph &graph);
/// Everything that can be is recomputed from the inputs.
RematPlan dropAll(const StepGraph &graph);
/// Keeps what crosses `count` cuts that split the saved bytes evenly; the rest is recomputed.
RematPlan keepCheckpoints(const StepGraph &graph, int count);
/// Square root of the number of saved values as checkpoints.
RematPlan keepSquareRoot(const StepGraph &graph);

/// The fixed policies by name: none, all, sqrt, checkpoints (with their number). Nothing for any
/// other.
std::optional<RematPlan> planByPolicy(const StepGraph &graph, std::string_view policy,
                                      int checkpoints);

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
/// another. Small graphs are solved exactly (algorithms/ExactRemat), large ones by greedy descent
/// with an exact simulation of every step, and local search.
std::vector<RematPlan> frontier(const StepGraph &graph, const FrontierOptions &options = {});

/// No plan in this op order that stays within `budget` recomputes for less than this many seconds:
/// at each op, enough of what is saved across it must be gone (fractional knapsack).
double recomputeLowerBound(const StepGraph &graph, int64_t budget);
/// No plan in this op order has a smaller peak: the largest op with its operands and results.
int64_t peakLowerBound(const StepGraph &graph);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_H
