//===- StepPlans.h - the plans between fast and small -----------*- C++ -*-===//
#ifndef GC_PASSES_STEPPLANS_H
#define GC_PASSES_STEPPLANS_H

#include "passes/PlanMemory.h"
#include "passes/algorithms/rematerialization/Frontier.h"
#include "passes/algorithms/rematerialization/RematBounds.h"
#include "passes/analysis/OpCosts.h"
#include "passes/analysis/StepGraphOf.h"
#include <memory>

namespace gc {

/// A module whose kernels are chosen, for one number of micro-batches, and the plans that it can
/// have. The module must outlive this, unchanged until a plan is applied. What is scored here is
/// placed by planMemory with the same options, to the byte.
class StepPlans {
public:
  /// `train` is the module's function for a micro-batch.
  StepPlans(mlir::ModuleOp module, mlir::func::FuncOp train, int64_t microBatches,
            const OpCosts &costs, const PlanMemoryOptions &memory);

  /// The same with one input buffer instead of two: smaller by an input, slower by filling it while
  /// nothing runs.
  StepPlans withOneInputSlot() const;

  FunctionGraph &function() { return *graph; }
  const FunctionGraph &function() const { return *graph; }
  int inputSlots() const { return slots; }
  int64_t microBatches() const { return parts; }
  /// Bytes that are there throughout: variables, input slots, what libraries need.
  int64_t persistent() const { return always; }

  /// Fastest first, smallest last; the first recomputes nothing. Searched for when first asked, and
  /// not yet improved for any budget.
  const std::vector<RematPlan> &frontier();
  const RematPlan &keepEverything() const { return keep; }

  /// Seconds of a whole step, all micro-batches and the update.
  double seconds(const RematPlan &plan) const {
    return parts * plan.seconds + updateSeconds + waitSeconds + raisedSeconds;
  }
  /// Makes all plans slower, where the fastest would take less than `least`, so that it takes that.
  void raiseTo(double least) { raisedSeconds += std::max(0.0, least - seconds(keep)); }
  /// The part of seconds() in which the step waits for input.
  double inputSeconds() const { return waitSeconds; }
  double recomputeSeconds(const RematPlan &plan) const { return parts * plan.recomputeSeconds; }
  /// A proven bound: no plan within `budget` (of all bytes) recomputes for fewer seconds.
  double recomputeBound(int64_t budget) const;
  /// A proven bound: no plan within `budget` takes fewer seconds; infinity where none fits.
  double leastSeconds(int64_t budget) const;
  /// A proven bound: no plan in this order of ops needs fewer bytes.
  int64_t lowestBytes() const { return always + std::max(peakLowerBound(graph->graph), elsewhere); }

  /// Size of the arena when the plan is packed, by the packer that will place it; never below its
  /// largest sum of live bytes.
  int64_t arenaBytes(const RematPlan &plan) const;

  /// The fastest plan whose arena fits, if any.
  const RematPlan *fastest(int64_t budget);
  /// The plan with the smallest arena: no smaller budget has a fastest() plan.
  const RematPlan &smallest();

private:
  std::shared_ptr<FunctionGraph> graph;
  struct Search;
  std::shared_ptr<Search> search; // also that of withOneInputSlot()
  int64_t parts;
  int slots;
  int64_t always = 0;
  int64_t inputBytes = 0; // of one slot
  int64_t elsewhere = 0;  // transient bytes of the other functions
  double updateSeconds = 0;
  double waitSeconds = 0;   // for input
  double raisedSeconds = 0; // by raiseTo()
  std::shared_ptr<StepPacker> packer;
  double inputBytesPerSecond;
  RematPlan keep;
};

} // namespace gc

#endif
