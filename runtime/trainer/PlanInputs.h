// Where a plan takes images and labels.
#ifndef GC_RUNTIME_TRAINER_PLANINPUTS_H
#define GC_RUNTIME_TRAINER_PLANINPUTS_H

#include "runtime/Error.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Loader.h"
#include "runtime/plan/Plan_generated.h"

#include <optional>

namespace gc::runtime {

/// The model's image and label inputs, read from the plan.
struct PlanInputs {
  size_t image = 0, label = 0; // indices of Plan.inputs
  /// Where the plan's loss is of two labels: the other one, and the share of the first.
  std::optional<size_t> mixedLabel, share;
  size_t slots = 0;
  int64_t microBatch = 0;
  LabelType labelType = LabelType::I64;
  ModelInput model;
};
/// Fails (bad input) where the plan's inputs are not `image` (f32, or i32: tokens) and `label`
/// (integers, one or several a sample).
Result<PlanInputs> findPlanInputs(const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PLANINPUTS_H
