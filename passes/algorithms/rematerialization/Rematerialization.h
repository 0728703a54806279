// What to keep and what to compute again: decisions on a StepGraph, apart from any IR.
//
// The answer to "which plan fits B bytes" comes from a frontier: plans between keeping everything
// and the smallest peak found, computed once and without looking at B. So a smaller budget never
// gets a faster plan or a larger peak than a larger one.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_REMATERIALIZATION_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_REMATERIALIZATION_H

#include "passes/algorithms/rematerialization/Retention.h"

#include <memory>
#include <optional>
#include <string_view>

namespace gc {

struct RematPlan {
  std::vector<Retention> retention; // one entry per value
  /// If set, the schedule instead of what follows from `retention`.
  std::shared_ptr<const Schedule> explicitly = nullptr;
  int64_t peak = 0;   // largest sum of live bytes, persistent ones left out
  double seconds = 0; // of the whole step
  double recomputeSeconds = 0;
  /// Whether what runs again before an op does so in the original order, as in PlanTracker.
  bool byMoments = false;
};

/// The order of execution that a plan means.
Schedule scheduleOf(const StepGraph &graph, const RematPlan &plan);

/// The fastest plan with a peak of at most `target`; null where there is none.
const RematPlan *fastestWithin(const std::vector<RematPlan> &plans, int64_t target);

/// Those that no other plan beats in both peak and time, by falling peak and rising time.
std::vector<RematPlan> paretoOf(std::vector<RematPlan> plans);

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

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_REMATERIALIZATION_H
