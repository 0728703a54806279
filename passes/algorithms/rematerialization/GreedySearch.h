// Plans down to the smallest peak, by simulating the whole step for each decision.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_GREEDYSEARCH_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_GREEDYSEARCH_H

#include "passes/algorithms/rematerialization/Rematerialization.h"

namespace gc {

struct GreedyOptions {
  int rungs = 36;         // targets between the largest and the smallest peak
  size_t looks = 8;       // candidates simulated for each decision
  size_t exchanges = 100; // tried per rung: keep one value instead of another
  int lowered = 3;        // checkpointings from which smaller peaks are sought
};

/// By falling peak and rising time. Takes time with the square of the graph, and finds smaller
/// peaks than other searches.
std::vector<RematPlan> greedyPlans(const StepGraph &graph, const GreedyOptions &options = {});

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_GREEDYSEARCH_H
