// The training loop: data in, steps, metrics out.
#ifndef GC_RUNTIME_TRAINER_TRAINER_H
#define GC_RUNTIME_TRAINER_TRAINER_H

#include "runtime/Error.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Loader.h"
#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/PlanInputs.h"
#include "runtime/trainer/Progress.h"
#include "runtime/trainer/RateRing.h"
#include "runtime/trainer/StepExecutor.h"
#include "runtime/trainer/ValidationWatch.h"
#include "runtime/weights/Checkpoint.h"

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <span>

namespace gc::runtime {

class Predictions;

/// When the validation split is looked at, and what follows from that.
struct ValidationSchedule {
  uint64_t every = 1;
  bool countsSteps = false; // else epochs
  WatchSettings watch;
};

struct TrainingSchedule {
  std::optional<uint64_t> epochs, steps; // totals since the beginning of training, also on resume
  std::optional<uint64_t> limit;         // samples of the training split
  bool shuffle = false, evaluate = false;
  uint64_t seed = 0;
  bool seedGiven = false; // by the user, who must hear of it where a checkpoint has another one
  int workers = 4;
  LearningRateOptions learningRate;
  bool skipBadSamples = false;                  // else a sample that cannot be read ends the run
  std::optional<ValidationSchedule> validation; // where the data has such a split
  uint64_t checkpointEvery = 0; // steps between checkpoints, beside those of epochs; 0: none
};

enum class Split { Test, Validation };

/// What there is to say about a checkpoint beside its position.
struct CheckpointMoment {
  TrainingPosition position;
  WatchState watch;
  std::optional<double> loss;                 // of the last step
  std::optional<EvaluationReport> validation; // after this very step
  std::optional<double> watched;              // its metric that is watched
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
  /// Of a step, from 0 on; none where the plan's cannot be told or set.
  std::optional<double> learningRateAt(uint64_t step) const { return rates.at(step); }
  const TrainingPosition &position() const { return where; }
  /// What positions are counted in, but for the data's fingerprint, which takes a while.
  TrainingSetting setting() const;
  /// Goes on from a checkpoint. Fails where no run can stand there.
  Status resumeAt(const TrainingPosition &position);

  /// The same of what validations had shown.
  void resumeWatch(const WatchState &state) { watch.resume(state); }

  /// Called to save a checkpoint: after each epoch (and its evaluation) but the last, after each
  /// validation and so many steps. Nothing is under way then.
  std::function<Status(const CheckpointMoment &)> onCheckpoint;
  /// Now, for whoever saves at the end.
  CheckpointMoment moment() const;
  /// Called after each step, which is in the report then, with its number and epoch (from 1 on).
  std::function<void(uint64_t, uint64_t)> onStep;
  /// Whether something wants to look at the plan's buffers after a step; then onLook is called, and
  /// nothing is under way.
  std::function<bool(uint64_t)> wantsLook;
  std::function<void(uint64_t)> onLook;
  /// Called after each step, before its loss is judged, with the loss of every micro-batch. An
  /// error ends the run.
  std::function<Status(std::span<const float>)> afterUpdate;
  /// Called after each evaluation.
  std::function<void(const EvaluationReport &, Split)> onEvaluation;
  /// Takes what the model answers to each sample of the test split; not owned.
  Predictions *predictions = nullptr;

  /// Trains to the end of the schedule, until validations get no better (report.earlyStop), or
  /// until an interrupt: then report.interrupted is set and the current step is complete. Fails
  /// (run failed) where the loss is not a number any more; the report holds everything up to there.
  Status run();
  /// Loss and accuracy on a split, in inference mode; nothing where an interrupt came in between,
  /// for numbers of a part would mislead.
  Result<std::optional<EvaluationReport>> evaluate(Split split);

private:
  Trainer(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
          const TrainingSchedule &schedule, Progress *progress, TrainingReport &report)
      : executor(executor), inputs(inputs), data(data), schedule(schedule), progress(progress),
        report(report), watch(schedule.validation ? schedule.validation->watch : WatchSettings()) {}
  /// Lets the gradients of `count` micro-batches weigh as those of a whole window.
  Status scaleWindow(int64_t count);
  Status prepareLoader();

  /// A step of which not everything is known yet.
  struct Step {
    uint64_t number = 0, epoch = 0; // from 1 on
    int64_t window = 0;             // micro-batches
    int64_t read = 0;               // those of them whose metrics were read
    int64_t valid = 0;              // labels that count
    double loss = 0, correct = 0, waited = 0;
    std::chrono::steady_clock::time_point begin;
  };
  /// A list that was started and is not finished.
  struct UnderWay {
    Step *step = nullptr;
    bool isMicroBatch = true;
    bool isLast = false; // of the step
    int64_t valid = 0;   // labels that count
  };
  /// Starts a step. Where lists overlap, the one before it may be unfinished until then, and this
  /// one is when it returns: the device has work while the host reads the loss.
  Status oneStep();
  Status startMicroBatches(Step &step, bool alone);
  /// What follows the start of a list: `alone` waits for it, else for the one before it.
  Status go(Status started, const UnderWay &list, bool alone);
  Status finishOldest();
  /// Finishes all that was started.
  Status finishAll();
  /// The same after an error, which is told; what else fails is not.
  void abandon();
  Status readMetrics(const UnderWay &list);
  /// Whether micro-batches weigh as the labels that they have, as those of tokens do.
  bool weighsLabels() const { return !inputs.model.labelShape.empty(); }
  /// Judges and tells the loss of a step that is done.
  Status complete(const Step &step);
  void startLoader();
  /// The next micro-batch of the loader's run, uploaded if it was loaded ahead.
  Result<Loader::MicroBatch> nextMicroBatch();
  /// While the device computes: loads and uploads the next one, where the device copies its input
  /// and has a slot to spare.
  void loadAhead();
  void showProgress(const Step &step, double loss);
  /// What an epoch's end, a validation or a checkpoint that is due asks for after a step.
  Status betweenSteps();
  bool validationIsDue() const;
  Status validate();
  /// Steps that can be run from here on before something else needs the slots.
  uint64_t stepsUntilPause() const;
  /// The logits of a micro-batch that was evaluated, of samples with these labels.
  Status readRows(const void *labels, int64_t rowCount, ClassCounts *classes, Predictions *answers);
  void beginEpoch();
  /// Keeps what the steps of an epoch came to, of which there may be few.
  void endEpoch();
  void reportData();
  /// What was left out up to now, for the report.
  void reportBadSamples();

  StepExecutor &executor;
  const PlanInputs inputs;
  const DataSource &data;
  const TrainingSchedule schedule;
  Progress *progress;
  TrainingReport &report;

  int64_t samples = 0, microBatches = 1;
  int64_t epochMicroBatches = 0;
  std::optional<uint32_t> windowScale; // buffer by which gradients of a short window are scaled
  RateRing rates;                      // of learning
  uint64_t epochSteps = 0, finalStep = 0;
  TrainingPosition where;
  ValidationWatch watch;
  std::optional<EvaluationReport> lastValidation;
  uint64_t pauseAt = 0;                  // the step after which the loader must be started again
  std::optional<uint64_t> evaluatedStep; // after which the test split was evaluated last
  double correctInEpoch = 0, seenInEpoch = 0, lossInEpoch = 0;
  uint64_t stepsInEpoch = 0; // done by this run
  std::chrono::steady_clock::time_point epochBegan;
  std::vector<float> microBatchLoss; // of the present step
  std::vector<float> rows;           // of an evaluation: logits
  std::array<Step, 2> steps;         // the present one and the one before, by turns
  std::array<UnderWay, 2> underWay;  // the older one first
  size_t underWayCount = 0;
  std::chrono::steady_clock::time_point lastCompleted;
  BadSamples badSamples;
  std::optional<Mixer> mixer; // outlives the loader, which reads it
  std::unique_ptr<Loader> loader;
  std::optional<Result<Loader::MicroBatch>> ahead; // or why there is none; said when it is wanted
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_TRAINER_H
