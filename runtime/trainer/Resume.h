// Going on from a checkpoint: only where the run is the same one.
#ifndef GC_RUNTIME_TRAINER_RESUME_H
#define GC_RUNTIME_TRAINER_RESUME_H

#include "runtime/trainer/TrainPlan.h"
#include "runtime/weights/Checkpoint.h"

namespace gc::runtime {

/// The options with what the checkpoint decides: its seed. Where --checkpoint and --resume name one
/// directory in which there is no checkpoint yet, the run starts from the beginning and says so.
/// Fails (bad input) where there is none otherwise, and where another seed was asked for.
Result<TrainOptions> resolveResume(const TrainOptions &options);

/// Fails (bad input) where `now` counts its steps in another way than the checkpoint did, with all
/// that differs.
Status checkSameSetting(const TrainingSetting &then, const TrainingSetting &now);

/// Fails (bad input) where no run can stand there, or where the schedule ends before it.
Status checkPosition(const TrainingPosition &position, uint64_t epochSteps, uint64_t totalSteps);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_RESUME_H
