// A plan that is made faster within a target.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_PLANIMPROVER_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_PLANIMPROVER_H

#include "passes/algorithms/rematerialization/PlanTracker.h"
#include "passes/algorithms/rematerialization/Rematerialization.h"

#include <random>

namespace gc {

/// Changes decisions about `decidable` values one by one and sees at once what follows. What it
/// does depends on nothing but its arguments.
class PlanImprover {
public:
  PlanImprover(const StepGraph &graph, const std::vector<int> &decidable);

  /// Begins with these decisions; values that are not decidable stay as if nothing was recomputed.
  void begin(const std::vector<Retention> &retention);
  /// Frees values that wait at the peak, those first that cost the fewest seconds per byte, until
  /// the plan fits the target or none is left.
  void lower(int64_t target);
  /// Keeps values where they fit into the target, those first that save most seconds per byte.
  void fill(int64_t target);
  /// Changes decisions at random, so many times, and stays with what makes the plan faster within
  /// the target; in the beginning also with what makes it a little slower. Ends with the fastest
  /// plan that fits, if there was one.
  void anneal(int64_t target, int64_t changes);

  /// Nothing if an op would run again after one of its variables has changed.
  std::optional<RematPlan> plan() const;

private:
  double cost(int64_t target) const;
  void changeSome();
  Retention another(Retention now);
  struct Effect {
    double seconds = 0;
    int64_t bytes = 0, peak = 0; // at a moment, and of the step
    bool isValid = true;
  };
  Effect effectOf(int value, Retention to, int moment);
  void change(int value, Retention to);

  const StepGraph &graph;
  const std::vector<int> &decidable;
  std::vector<Retention> plain; // nothing is recomputed
  std::vector<char> isDecidable;
  std::optional<PlanTracker> tracker;
  double step = 0; // seconds
  std::mt19937 random;
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_PLANIMPROVER_H
