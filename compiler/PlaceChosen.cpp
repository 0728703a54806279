//===- PlaceChosen.cpp - the chosen step, every byte placed ---------------===//
#include "compiler/PlaceChosen.h"
#include "passes/GatherUpdates.h"

using namespace mlir;

namespace gc {

PlanMemoryOptions memoryOptionsOf(const Target &target) {
  PlanMemoryOptions options;
  options.reserve = target.reserveBytes();
  if (std::optional<double> rate = target.inputBytesPerSecond())
    options.inputBytesPerSecond = *rate;
  return options;
}

FailureOr<MemoryPlan> placeChosen(StepCandidate &chosen, const RematPlan &plan,
                                  PlanMemoryOptions memory, const Target &target) {
  FailureOr<MemoryPlan> placed = placeStep(chosen, plan, memory);
  if (failed(placed) || !target.joinsUpdates())
    return placed;
  memory.inputSlots = chosen.plans.inputSlots();
  return gatherUpdates(chosen.module, std::move(*placed), memory);
}

} // namespace gc
