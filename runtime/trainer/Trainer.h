// The training loop: data in, steps, metrics out.
#ifndef GC_RUNTIME_TRAINER_TRAINER_H
#define GC_RUNTIME_TRAINER_TRAINER_H

#include "runtime/Error.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Loader.h"
#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/LearningRate.h"
#include "runtime/trainer/PlanInputs.h"
#include "runtime/trainer/Progress.h"
#include "runtime/trainer/StepExecutor.h"
#include "runtime/weights/Checkpoint.h"

#include <array>
#include <chrono>
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
  LearningRateOptions learningRate;
  bool skipBadSamples = false; // else a sample that cannot be read ends the run
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
  std::optional<double> learningRateAt(uint64_t step) const;
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
  Status planLearningRates();
  /// Sets the learning rates of this step and of all that follow in the plan's ring of them.
  Status setLearningRates();
  Status prepareLoader();

  /// A step of which not everything is known yet.
  struct Step {
    uint64_t number = 0, epoch = 0; // from 1 on
    int64_t window = 0;             // micro-batches
    int64_t read = 0;               // those of them whose metrics were read
    int64_t valid = 0;              // samples that could be read
    double loss = 0, correct = 0, waited = 0;
    std::chrono::steady_clock::time_point begin;
  };
  /// A list that was started and is not finished.
  struct UnderWay {
    Step *step = nullptr;
    bool isMicroBatch = true;
    bool isLast = false; // of the step
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
  Status readMetrics(Step &step);
  /// Judges and tells the loss of a step that is done.
  Status complete(const Step &step);
  void startLoader();
  /// The next micro-batch of the loader's run, uploaded if it was loaded ahead.
  Result<Loader::MicroBatch> nextMicroBatch();
  /// While the device computes: loads and uploads the next one, where the device copies its input
  /// and has a slot to spare.
  void loadAhead();
  void showProgress(const Step &step, double loss);
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
  struct {
    uint32_t buffer = 0;
    uint64_t size = 0;    // 0: the plan has none
    uint64_t setUpTo = 0; // the first step whose learning rate is not set
  } rateRing;
  std::optional<LearningRate> learningRate;
  uint64_t epochSteps = 0, finalStep = 0;
  TrainingPosition where;
  double correctInEpoch = 0, seenInEpoch = 0, lossInEpoch = 0;
  uint64_t stepsInEpoch = 0; // done by this run
  std::chrono::steady_clock::time_point epochBegan;
  std::vector<float> microBatchLoss; // of the present step
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
