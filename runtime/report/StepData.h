// One training step of a plan as data for a page to draw: every buffer with its place and its life,
// every command with its phase, and what is known about why values are kept or made again.
#ifndef GC_RUNTIME_REPORT_STEPDATA_H
#define GC_RUNTIME_REPORT_STEPDATA_H

#include "runtime/Error.h"
#include "runtime/report/SavedValues.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

/// One letter for each command of the micro-batch and then of the step: f forward (up to the loss
/// and its like), b backward, r runs again, u changes a parameter or belongs to the step's end.
std::string phasesOf(const plan::Plan &plan);

/// Bytes of one kind (BufferKind) that are alive at each command of the micro-batch and then of the
/// step.
struct ArenaUse {
  const char *kind;
  std::vector<int64_t> bytes;
};
/// What the commands of a step are and do to memory.
struct StepPhases {
  std::string phases; // see phasesOf
  std::vector<ArenaUse> alive;
};
StepPhases stepPhasesOf(const plan::Plan &plan);

/// The part of the network that a tensor or an op belongs to: "layer1.0.conv1" for the op
/// "layer1.0.conv1:conv2d". Empty where its name tells none ("conv2d@model.mlir:12").
std::string moduleOfOp(std::string_view name);

/// For each of Plan.buffers the indices of the saved values that lie in it at some time.
std::vector<std::vector<size_t>> heldValues(const plan::Plan &plan,
                                            const std::vector<SavedValue> &saved);

/// {model, arena, microBatches, microCommands, kinds[], strings[], commands{name[], phase,
///  op[], seconds[]}, buffers{name[], module[], type[], kind[], offset[], bytes[], first[], last[],
///  holds[]}, saved{name[], bytes[], kept[], reason[]} or null, timeline{…} or null}.
/// A name, a module or a type is an index into `strings`. Without buffers of inference mode and
/// without those that are part of another. Fails (bad input) where the report is not one.
Result<nlohmann::ordered_json> stepData(const plan::Plan &plan, const std::string &compileReport);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_STEPDATA_H
