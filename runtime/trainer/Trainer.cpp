#include "runtime/trainer/Trainer.h"

#include "runtime/monitor/Monitor.h"
#include "runtime/plan/Metrics.h"
#include "runtime/process/Interrupt.h"
#include "runtime/trainer/Resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace gc::runtime {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Steps that have no end in sight are not what a default should give.
static constexpr uint64_t defaultSyntheticSteps = 20;

Result<std::unique_ptr<Trainer>> Trainer::create(StepExecutor &executor, const PlanInputs &inputs,
                                                 const DataSource &data,
                                                 const TrainingSchedule &schedule,
                                                 Progress *progress, TrainingReport &report) {
  std::unique_ptr<Trainer> trainer(new Trainer(executor, inputs, data, schedule, progress, report));
  Trainer &t = *trainer;
  int64_t batch = executor.plan().batch();
  t.microBatches = executor.plan().micro_batches();
  t.samples = data.train->size();
  if (schedule.limit)
    t.samples = std::min<int64_t>(
        t.samples, static_cast<int64_t>(std::min<uint64_t>(*schedule.limit, INT64_MAX)));
  if (schedule.evaluate && !data.test)
    return badInput(
        fmt::format("--evaluate needs a test split, which '{}' does not have", data.description));
  if (schedule.evaluate && !findMetric(executor.plan(), kLossMetric, true))
    return badInput("--evaluate: this plan has no commands for inference; compile the model with "
                    "--evaluate");
  if (int32_t scale = executor.plan().window_scale(); scale >= 0)
    t.windowScale = executor.plan().variables()->Get(static_cast<uint32_t>(scale))->buffer();
  // What is left of an epoch after its whole batches makes a short window, where the plan has a way
  // to weigh it; else it is dropped.
  t.epochMicroBatches = t.windowScale && !data.endless ? t.samples / inputs.microBatch
                                                       : t.samples / batch * t.microBatches;
  t.epochSteps = static_cast<uint64_t>((t.epochMicroBatches + t.microBatches - 1) / t.microBatches);
  if (t.epochSteps == 0)
    return badInput(fmt::format("{} samples are less than one {} of {}; use more data{} or "
                                "generate the model with a smaller --batch",
                                t.samples, t.windowScale ? "micro-batch" : "batch",
                                t.windowScale ? inputs.microBatch : batch,
                                schedule.limit ? " (--limit)" : ""));
  if (schedule.steps)
    t.finalStep = *schedule.steps;
  else if (schedule.epochs || !data.endless) {
    if (__builtin_mul_overflow(schedule.epochs.value_or(1), t.epochSteps, &t.finalStep))
      return badInput(
          fmt::format("--epochs={} is more steps than can be counted", *schedule.epochs));
  } else
    t.finalStep = defaultSyntheticSteps;
  t.where.seed = schedule.seed;
  return trainer;
}

TrainingSetting Trainer::setting() const {
  TrainingSetting setting;
  setting.samples = static_cast<uint64_t>(samples);
  setting.batch = static_cast<uint64_t>(executor.plan().batch());
  setting.epochSteps = epochSteps;
  setting.shuffle = schedule.shuffle;
  setting.data = data.description;
  setting.optimizer = report.optimizer;
  return setting;
}

Status Trainer::resumeAt(const TrainingPosition &position) {
  if (Status fine = checkPosition(position, epochSteps, finalStep); !fine)
    return fine;
  where = position;
  return {};
}

Status Trainer::prepareLoader() {
  std::vector<LoaderSlot> slots;
  for (size_t i = 0; i < inputs.slots; ++i) {
    Result<std::byte *> image = executor.inputSlot(inputs.image, i);
    Result<std::byte *> label = executor.inputSlot(inputs.label, i);
    if (!image || !label)
      return !image ? image.error() : label.error();
    slots.push_back({reinterpret_cast<float *>(*image), *label});
  }
  loader = std::make_unique<Loader>(inputs.microBatch, inputs.model.sampleElements(),
                                    inputs.labelType, std::move(slots), schedule.workers);
  return {};
}

/// The rest of training in one run, so that loading never pauses; with evaluations in between,
/// which use the same slots, the rest of the epoch.
void Trainer::startLoader() {
  uint64_t position = where.epoch * epochSteps + where.stepInEpoch;
  uint64_t steps = finalStep - where.step;
  if (schedule.evaluate)
    steps = std::min(steps, epochSteps - where.stepInEpoch);
  // Every window but the last of an epoch is whole.
  auto microBatchesBefore = [&](uint64_t step) {
    return step / epochSteps * static_cast<uint64_t>(epochMicroBatches) +
           step % epochSteps * static_cast<uint64_t>(microBatches);
  };
  LoaderRun run;
  run.dataset = data.train.get();
  run.samples = samples;
  run.microBatchesPerEpoch = epochMicroBatches;
  run.begin = microBatchesBefore(position);
  run.end = microBatchesBefore(position + steps);
  run.shuffle = schedule.shuffle;
  run.seed = where.seed;
  ahead.reset();
  loader->start(run);
}

Result<Loader::MicroBatch> Trainer::nextMicroBatch() {
  if (!ahead)
    return loader->acquire();
  Result<Loader::MicroBatch> next = std::move(*ahead);
  ahead.reset();
  return next;
}

void Trainer::loadAhead() {
  if (!executor.stagesInput() || inputs.slots < 2 || !loader->more())
    return;
  ahead = loader->acquire();
  if (*ahead)
    if (Status started = executor.upload((*ahead)->slot); !started)
      ahead = started.error();
}

Status Trainer::compute(const Loader::MicroBatch &loaded, Status (StepExecutor::*start)(size_t)) {
  if (Status started = (executor.*start)(loaded.slot); !started)
    return started;
  loadAhead();
  if (Status done = executor.finishMicroBatch(); !done) {
    if (ahead && !*ahead)
      return ahead->error(); // it came first, and may be why
    return done;
  }
  loader->release();
  return {};
}

Status Trainer::scaleWindow(int64_t count) {
  float scale = static_cast<float>(static_cast<double>(microBatches) / static_cast<double>(count));
  Result<std::byte *> bytes = executor.map(*windowScale);
  if (!bytes)
    return bytes.error();
  std::memcpy(*bytes, &scale, sizeof scale);
  return executor.unmap(*windowScale, /*written=*/true);
}

Status Trainer::oneStep() {
  Clock::time_point begin = Clock::now();
  double loss = 0, correct = 0, waited = 0;
  const std::optional<uint32_t> lossMetric = findMetric(executor.plan(), kLossMetric),
                                correctMetric = findMetric(executor.plan(), kCorrectMetric);
  // The last window of an epoch has what is left.
  int64_t window = std::min(
      microBatches, epochMicroBatches - static_cast<int64_t>(where.stepInEpoch) * microBatches);
  if (window < microBatches) {
    std::fill(microBatchLoss.begin(), microBatchLoss.end(), 0.0f);
    if (Status done = scaleWindow(window); !done)
      return done;
  }
  for (int64_t micro = 0; micro < window; ++micro) {
    Clock::time_point wait = Clock::now();
    Result<Loader::MicroBatch> loaded = nextMicroBatch();
    if (!loaded)
      return loaded.error();
    waited += secondsSince(wait);
    if (Status done = compute(*loaded, &StepExecutor::startMicroBatch); !done)
      return done;
    Result<float> value = executor.readMetric(*lossMetric);
    if (!value)
      return value.error();
    loss += *value;
    microBatchLoss[static_cast<size_t>(micro)] = *value;
    if (correctMetric) {
      Result<float> right = executor.readMetric(*correctMetric);
      if (!right)
        return right.error();
      correct += *right;
    }
  }
  if (Status done = executor.runStep(); !done)
    return done;
  if (window < microBatches)
    if (Status done = scaleWindow(microBatches); !done)
      return done;
  if (afterUpdate)
    if (Status done = afterUpdate(microBatchLoss); !done)
      return done;
  loss /= static_cast<double>(window);
  report.stepSeconds.push_back(static_cast<float>(secondsSince(begin)));
  report.loss.push_back(static_cast<float>(loss));
  report.loaderWaitSeconds += waited;
  report.steps += 1;
  correctInEpoch += correct;
  seenInEpoch += static_cast<double>(window * inputs.microBatch);
  if (correctMetric)
    report.accuracy = correctInEpoch / seenInEpoch;

  where.step += 1;
  where.stepInEpoch += 1;
  if (!std::isfinite(loss))
    return runFailed(fmt::format("the loss is {} at step {} (epoch {}); try a smaller --lr, check "
                                 "the data, or start from other weights",
                                 loss, where.step, where.epoch + 1));
  showProgress(static_cast<float>(loss));
  if (onStep)
    onStep(where.step, static_cast<float>(loss));
  return {};
}

void Trainer::showProgress(float loss) {
  if (!progress)
    return;
  ProgressState state;
  state.step = where.step;
  state.totalSteps = finalStep;
  if (!schedule.steps && !data.endless) {
    state.epoch = where.epoch + 1;
    state.totalEpochs = schedule.epochs.value_or(1);
  }
  state.loss = loss;
  state.accuracy = report.accuracy.value_or(-1);
  state.memoryBytes = processMemoryBytes();
  state.samples = executor.plan().batch();
  progress->update(state);
}

Status Trainer::run() {
  if (where.step >= finalStep && !schedule.evaluate)
    return {};
  if (Status ready = prepareLoader(); !ready)
    return ready;
  // Reserved now, so that the loop itself allocates nothing (in runs of four million steps).
  uint64_t steps = std::min<uint64_t>(finalStep - std::min(where.step, finalStep), 1 << 22);
  report.loss.reserve(steps);
  report.stepSeconds.reserve(steps);
  microBatchLoss.resize(static_cast<size_t>(microBatches));
  Clock::time_point begin = Clock::now();
  auto finish = [&](Status result) {
    report.seconds += secondsSince(begin);
    if (progress)
      progress->finishLine();
    return result;
  };
  if (where.step < finalStep)
    startLoader();
  bool evaluated = false;
  while (where.step < finalStep && !interruptRequested()) {
    if (where.stepInEpoch == 0)
      correctInEpoch = seenInEpoch = 0;
    if (Status done = oneStep(); !done)
      return finish(done);
    if (where.stepInEpoch < epochSteps)
      continue;
    where.epoch += 1;
    where.stepInEpoch = 0;
    if (schedule.evaluate) {
      Result<std::optional<EvaluationReport>> result = evaluate();
      if (!result)
        return finish(result.error());
      evaluated = where.step == finalStep && result->has_value();
    }
    if (where.step == finalStep)
      break;
    if (onEpochEnd)
      if (Status saved = onEpochEnd(where); !saved)
        return finish(saved);
    if (schedule.evaluate)
      startLoader();
  }
  // A schedule that ends within an epoch, or has no steps at all, still has a result to show.
  if (schedule.evaluate && !evaluated && !interruptRequested()) {
    Result<std::optional<EvaluationReport>> result = evaluate();
    if (!result)
      return finish(result.error());
    evaluated = result->has_value();
  }
  report.interrupted =
      interruptRequested() && (where.step < finalStep || (schedule.evaluate && !evaluated));
  return finish({});
}

Result<std::optional<EvaluationReport>> Trainer::evaluate() {
  if (progress)
    progress->finishLine();
  if (!loader)
    if (Status ready = prepareLoader(); !ready)
      return ready.error();
  const std::optional<uint32_t> lossMetric = findMetric(executor.plan(), kLossMetric, true),
                                correctMetric = findMetric(executor.plan(), kCorrectMetric, true);
  LoaderRun run;
  run.dataset = data.test.get();
  run.samples = data.test->size();
  run.microBatchesPerEpoch = (run.samples + inputs.microBatch - 1) / inputs.microBatch;
  run.end = static_cast<uint64_t>(run.microBatchesPerEpoch);
  ahead.reset();
  loader->start(run);
  double loss = 0, correct = 0;
  for (uint64_t i = 0; i < run.end; ++i) {
    if (interruptRequested())
      return std::optional<EvaluationReport>();
    Result<Loader::MicroBatch> loaded = nextMicroBatch();
    if (!loaded)
      return loaded.error();
    if (Status done = compute(*loaded, &StepExecutor::startEvaluate); !done)
      return done.error();
    Result<float> mean = executor.readMetric(*lossMetric);
    if (!mean)
      return mean.error();
    loss += static_cast<double>(*mean) * static_cast<double>(loaded->valid);
    if (correctMetric) {
      Result<float> right = executor.readMetric(*correctMetric);
      if (!right)
        return right.error();
      correct += *right;
    }
  }
  EvaluationReport result;
  result.epoch = where.epoch;
  result.step = where.step;
  result.samples = run.samples;
  result.loss = loss / static_cast<double>(run.samples);
  if (correctMetric)
    result.accuracy = correct / static_cast<double>(run.samples);
  report.evaluations.push_back(result);
  if (onEvaluation)
    onEvaluation(result);
  return std::optional(result);
}

} // namespace gc::runtime
