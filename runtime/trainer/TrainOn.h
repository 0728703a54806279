// A whole run on any executor: variables, steps, reports and files.
#ifndef GC_RUNTIME_TRAINER_TRAINON_H
#define GC_RUNTIME_TRAINER_TRAINON_H

#include "runtime/trainer/TrainPlan.h"

namespace gc::runtime {

/// trainPlan on any executor, which the caller has made after opening the data.
Status trainOn(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
               const TrainOptions &options, TrainingReport &report);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_TRAINON_H
