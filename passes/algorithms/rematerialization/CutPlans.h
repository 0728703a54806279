// Plans from minimum cuts: what to keep when bytes have a price at certain moments of the step.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_CUTPLANS_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_CUTPLANS_H

#include "passes/algorithms/rematerialization/Rematerialization.h"

namespace gc {

struct CutOptions {
  int prices = 24;          // of a byte, from next to nothing to more than any op is worth
  double priceRatio = 1.35; // of one to the next
  int rounds = 3;           // at each price: moments of new peaks get a price too
  int mixes = 15;           // at most, between two neighbouring plans
  double mixedGap = 0.03;   // one mix for each such part of a peak that two neighbours differ by
  double checkpointing =
      1.; // each next number of checkpoints is larger by this part of it, and one
};

/// Plans at many prices of memory, for the step as it is and cut into segments by evenly spaced
/// checkpoints (within a segment, what is recomputed comes back when backward enters it). By
/// falling peak and rising time. Takes time in proportion to the graph, and treats equal blocks
/// alike.
std::vector<RematPlan> cutPlans(const StepGraph &graph, const CutOptions &options = {});

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_CUTPLANS_H
