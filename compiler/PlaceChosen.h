//===- PlaceChosen.h - the chosen step, every byte placed -------*- C++ -*-===//
#ifndef GC_COMPILER_PLACECHOSEN_H
#define GC_COMPILER_PLACECHOSEN_H

#include "compiler/target/Target.h"
#include "passes/ChooseStep.h"

namespace gc {

/// What the target needs of memory, besides what ops need.
PlanMemoryOptions memoryOptionsOf(const Target &target);

/// Places the step as the plan says, and for targets that do several updates at once moves those
/// together where that needs no byte more. Fails, with an error at the module, only where the
/// compiler itself is at fault.
mlir::FailureOr<MemoryPlan> placeChosen(StepCandidate &chosen, const RematPlan &plan,
                                        PlanMemoryOptions memory, const Target &target);

} // namespace gc

#endif
