// The training loop: data in, steps, metrics out.
#ifndef GC_RUNTIME_TRAINER_TRAINER_H
#define GC_RUNTIME_TRAINER_TRAINER_H

#include "runtime/Error.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Loader.h"
#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/PlanInputs.h"
#include "runtime/trainer/Progress.h"
#include "runtime/trainer/StepExecutor.h"
#include "runtime/weights/Checkpoint.h"

#include <functional>
#include <optional>
#include <span>

namespace gc::runtime {

struct TrainingSchedule {
  std::optional<uint64_t> epochs, steps; // totals since the beginning of training, also on resume
  std::optional<uint64_t> limit;         // samples of the training split
  bool shuffle = false, evaluate = false;
  uint64_t seed = 0;
  bool seedGiven = false; // by the user, who must hear of it where a checkpoint has another one
  int workers = 4;
};

class Trainer {
public:
  /// Nothing is owned; everything must outlive the trainer. Fails (bad input) where the schedule
  /// does not fit the data: no whole batch, nothing to evaluate on.
  static Result<std::unique_ptr<Trainer>> create(StepExecutor &executor, const PlanInputs &inputs,
                                                 const DataSource &data,
                                                 const TrainingSchedule &schedule,
                                                 Progress *progress, TrainingReport &report);

  uint64_t stepsPerEpoch() const { return epochSteps; }
  uint64_t totalSteps() const { return finalStep; }
  const TrainingPosition &position() const { return where; }
  /// What positions are counted in, but for the data's fingerprint, which takes a while.
  TrainingSetting setting() const;
  /// Goes on from a checkpoint. Fails where no run can stand there.
  Status resumeAt(const TrainingPosition &position);

  /// Called after each epoch (and its evaluation) but the last, to save a checkpoint.
  std::function<Status(const TrainingPosition &)> onEpochEnd;
  /// Called after each step with the step's number (from 1) and its loss.
  std::function<void(uint64_t, float)> onStep;
  /// Called after each step, before its loss is judged, with the loss of every micro-batch. An
  /// error ends the run.
  std::function<Status(std::span<const float>)> afterUpdate;
  /// Called after each evaluation.
  std::function<void(const EvaluationReport &)> onEvaluation;

  /// Trains to the end of the schedule, or until an interrupt: then report.interrupted is set and
  /// the current step is complete. Fails (run failed) where the loss is not a number any more; the
  /// report holds everything up to there.
  Status run();
  /// Loss and accuracy on the test split, in inference mode; nothing where an interrupt came in
  /// between, for numbers of a part would mislead.
  Result<std::optional<EvaluationReport>> evaluate();

private:
  Trainer(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
          const TrainingSchedule &schedule, Progress *progress, TrainingReport &report)
      : executor(executor), inputs(inputs), data(data), schedule(schedule), progress(progress),
        report(report) {}
  /// Lets the gradients of `count` micro-batches weigh as those of a whole window.
  Status scaleWindow(int64_t count);
  Status prepareLoader();
  Status oneStep();
  void startLoader();
  /// The next micro-batch of the loader's run, uploaded if it was loaded ahead.
  Result<Loader::MicroBatch> nextMicroBatch();
  /// While the device computes: loads and uploads the next one, where the device copies its input
  /// and has a slot to spare.
  void loadAhead();
  /// Computes one with `start`, loading ahead, and gives its slot back.
  Status compute(const Loader::MicroBatch &loaded, Status (StepExecutor::*start)(size_t));
  void showProgress(float loss);

  StepExecutor &executor;
  const PlanInputs inputs;
  const DataSource &data;
  const TrainingSchedule schedule;
  Progress *progress;
  TrainingReport &report;

  int64_t samples = 0, microBatches = 1;
  int64_t epochMicroBatches = 0;
  std::optional<uint32_t> windowScale; // buffer by which gradients of a short window are scaled
  uint64_t epochSteps = 0, finalStep = 0;
  TrainingPosition where;
  double correctInEpoch = 0, seenInEpoch = 0;
  std::vector<float> microBatchLoss; // of the present step
  std::unique_ptr<Loader> loader;
  std::optional<Result<Loader::MicroBatch>> ahead; // or why there is none; said when it is wanted
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_TRAINER_H
