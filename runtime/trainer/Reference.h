// One step against what PyTorch computed in float64 for the same weights and batch: the file that
// tools/import/export.py --check writes.
//
//   input.image, input.label    the batch, in PyTorch's layout
//   loss                        a number
//   gradient.NAME               of every parameter
//   updated.NAME                parameters and running statistics after the step
//   error.…                     how far PyTorch's own float32 step is off, for each of these
//
// Metadata: the step's optimizer ("sgd") and learning rate.
#ifndef GC_RUNTIME_TRAINER_REFERENCE_H
#define GC_RUNTIME_TRAINER_REFERENCE_H

#include "runtime/trainer/TrainPlan.h"
#include "runtime/weights/Safetensors.h"

namespace gc::runtime {

enum class ComparedKind { Statistic, Loss, Gradient, Update };

/// How far one tensor is off, relative to its size.
struct ComparedTensor {
  ComparedKind kind = ComparedKind::Loss;
  std::string name;
  double error = 0;
  double own = 0;      // PyTorch's own float32 error; 0: the file does not tell it
  double response = 0; // by how much rounding the weights once more moves it
};

struct ReferenceReport {
  /// In the order in which a step computes them: statistics from the first layer on, the loss,
  /// gradients from the last layer back, updates.
  std::vector<ComparedTensor> tensors;
  double loss = 0, truth = 0;
  bool ties = false; // rounding alone explains what is far off
};

/// What an open reference says about the step.
struct ReferenceSetting {
  double learningRate = 0;
};
/// Fails (bad input) where the file is no reference.
Result<ReferenceSetting> readReferenceSetting(const SafetensorsFile &file);

/// Runs one step of the plan, with weights from `options.load`, and compares. Fails (bad input)
/// where file and plan have different names, shapes or batches.
Result<ReferenceReport> compareWithReference(const PlanFile &plan, const TrainOptions &options,
                                             const SafetensorsFile &file);

/// The first tensor that is further off than rounding explains; null where all agree. The median
/// may be five times PyTorch's own error, no tensor may be off by more than 2 %, and a tenth of
/// them by more than 0.1 %, the thresholds of tools/compare/gradients.py; where PyTorch's own error
/// of a tensor is larger, it may be five times that.
const ComparedTensor *firstOff(const ReferenceReport &report);
/// A table of kinds, and the verdict.
std::string referenceText(const ReferenceReport &report);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_REFERENCE_H
