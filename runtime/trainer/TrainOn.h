// A whole run on any executor: variables, steps, reports and files.
#ifndef GC_RUNTIME_TRAINER_TRAINON_H
#define GC_RUNTIME_TRAINER_TRAINON_H

#include "runtime/trainer/TrainPlan.h"

namespace gc::runtime {

class CheckpointSaver;

/// trainPlan on any executor, which the caller has made after opening the data. Where `saver` is
/// null, checkpoints are written while training waits.
Status trainOn(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
               const TrainOptions &options, TrainingReport &report,
               CheckpointSaver *saver = nullptr);

/// With --evaluate-only: the weights of --load or --resume on the test split and on the validation
/// split, as far as there are such; nothing is trained.
Status evaluateOn(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
                  const TrainOptions &options, TrainingReport &report);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_TRAINON_H
