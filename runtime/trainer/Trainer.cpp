#include "runtime/trainer/Trainer.h"

#include "runtime/monitor/Monitor.h"
#include "runtime/plan/Metrics.h"
#include "runtime/process/Interrupt.h"
#include "runtime/trainer/PlanFacts.h"
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
  if ((schedule.evaluate || schedule.validation) && !findMetric(executor.plan(), kLossMetric, true))
    return badInput(fmt::format("{}: this plan has no commands for inference; compile the model "
                                "with --evaluate",
                                schedule.evaluate ? "--evaluate" : "--validation"));
  if (schedule.validation && schedule.validation->watch.monitored.metric == "top5" &&
      (!findOutput(executor.plan(), kLogitsOutput) || inputs.model.classes <= ClassCounts::kTop))
    return badInput(
        "--monitor=top5 takes a classifier of six classes or more, whose plan keeps its "
        "logits to the end of an evaluation");
  if (data.mixing.any() && !inputs.share)
    return badInput("--augment: this plan's loss takes one label for each sample, and mixup and "
                    "cutmix need two; compile it with gc-compile --mix-labels, or give gc-run the "
                    "model instead of the plan");
  if (int32_t scale = executor.plan().window_scale(); scale >= 0)
    t.windowScale = executor.plan().variables()->Get(static_cast<uint32_t>(scale))->buffer();
  // What is left of an epoch after its whole batches makes a short window, where the plan has a way
  // to weigh it; else it is dropped.
  t.epochMicroBatches = t.windowScale && !data.endless ? t.samples / inputs.microBatch
                                                       : t.samples / batch * t.microBatches;
  t.epochSteps = static_cast<uint64_t>((t.epochMicroBatches + t.microBatches - 1) / t.microBatches);
  if (schedule.steps && *schedule.steps == 0)
    t.epochSteps = std::max<uint64_t>(t.epochSteps, 1); // it is only evaluated
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
  Result<RateRing> rates = RateRing::create(executor.plan(), schedule.learningRate, t.finalStep);
  if (!rates)
    return rates.error();
  t.rates = std::move(*rates);
  t.reportData();
  return trainer;
}

void Trainer::reportData() {
  if (const std::optional<LearningRate> &rate = rates.schedule()) {
    report.schedule = rate->text();
    if (executor.plan().optimizer())
      report.optimizer = optimizerText(executor.plan(), rate->base());
  }
  report.classes = data.classes;
  report.dataPreparation = data.preparation;
  report.dataUse.endless = data.endless;
  report.dataUse.samples = data.train->size();
  report.dataUse.used = samples;
  report.dataUse.usedInEpoch = epochMicroBatches * inputs.microBatch;
}

void Trainer::reportBadSamples() {
  report.badSamples.samples = badSamples.samples();
  report.badSamples.times = badSamples.times();
  report.badSamples.reasons = badSamples.reasons();
}

TrainingSetting Trainer::setting() const {
  TrainingSetting setting;
  setting.samples = static_cast<uint64_t>(samples);
  setting.batch = static_cast<uint64_t>(executor.plan().batch());
  setting.epochSteps = epochSteps;
  setting.shuffle = schedule.shuffle;
  setting.data = data.description;
  setting.optimizer = report.optimizer;
  setting.schedule = report.schedule;
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
    LoaderSlot slot{reinterpret_cast<float *>(*image), *label};
    if (inputs.share) {
      Result<std::byte *> mixedLabel = executor.inputSlot(*inputs.mixedLabel, i);
      Result<std::byte *> share = executor.inputSlot(*inputs.share, i);
      if (!mixedLabel || !share)
        return !mixedLabel ? mixedLabel.error() : share.error();
      slot.mixedLabel = *mixedLabel;
      slot.share = reinterpret_cast<float *>(*share);
    }
    slots.push_back(slot);
  }
  if (data.mixing.any())
    mixer.emplace(data.mixing, inputs.model.sampleShape, where.seed);
  loader =
      std::make_unique<Loader>(inputs.microBatch, inputs.model.sampleElements(), inputs.labelType,
                               std::move(slots), schedule.workers, inputs.model.labelElements());
  report.loading.workers = schedule.workers;
  return {};
}

/// The rest of training, so that loading never pauses; with evaluations in between, which use the
/// same slots, up to the next one.
uint64_t Trainer::stepsUntilPause() const {
  uint64_t steps = finalStep - where.step;
  const auto &validation = schedule.validation;
  if (schedule.evaluate || (validation && !validation->countsSteps))
    steps = std::min(steps, epochSteps - where.stepInEpoch);
  if (validation && validation->countsSteps)
    steps = std::min(steps, validation->every - where.step % validation->every);
  return steps;
}

void Trainer::startLoader() {
  uint64_t position = where.epoch * epochSteps + where.stepInEpoch;
  uint64_t steps = stepsUntilPause();
  pauseAt = where.step + steps;
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
  run.augment = true;
  run.mixer = mixer ? &*mixer : nullptr;
  run.badSamples = schedule.skipBadSamples ? &badSamples : nullptr;
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

Status Trainer::scaleWindow(int64_t count) {
  float scale = static_cast<float>(static_cast<double>(microBatches) / static_cast<double>(count));
  Result<std::byte *> bytes = executor.map(*windowScale);
  if (!bytes)
    return bytes.error();
  std::memcpy(*bytes, &scale, sizeof scale);
  return executor.unmap(*windowScale, /*written=*/true);
}

Status Trainer::oneStep() {
  Step &step = steps[where.step % steps.size()];
  step = {};
  step.begin = Clock::now();
  step.number = where.step + 1;
  step.epoch = where.epoch + 1;
  // The last window of an epoch has what is left.
  step.window = std::min(microBatches, epochMicroBatches -
                                           static_cast<int64_t>(where.stepInEpoch) * microBatches);
  bool isShort = step.window < microBatches;
  if (rates.isDue(where.step)) {
    // What runs still reads its own.
    if (Status done = finishAll(); !done)
      return done;
    if (Status done = rates.set(executor, where.step); !done)
      return done;
  }
  bool alone = !executor.overlaps() || isShort || afterUpdate;
  if (isShort) {
    std::fill(microBatchLoss.begin(), microBatchLoss.end(), 0.0f);
    if (Status done = finishAll(); !done)
      return done;
    if (Status done = scaleWindow(step.window); !done)
      return done;
  }
  if (Status done = startMicroBatches(step, alone); !done)
    return done;
  where.step += 1;
  where.stepInEpoch += 1;
  if (!alone)
    return executor.hasStep() ? go(executor.startStep(), {&step, false, true}, alone) : Status();
  if (Status done = executor.runStep(); !done)
    return done;
  if (isShort)
    if (Status done = scaleWindow(microBatches); !done)
      return done;
  if (afterUpdate)
    if (Status done = afterUpdate(microBatchLoss); !done)
      return done;
  return complete(step);
}

Status Trainer::startMicroBatches(Step &step, bool alone) {
  for (int64_t micro = 0; micro < step.window; ++micro) {
    Clock::time_point wait = Clock::now();
    Result<Loader::MicroBatch> loaded = nextMicroBatch();
    if (!loaded)
      return loaded.error();
    step.waited += secondsSince(wait);
    step.valid += loaded->valid;
    bool isLast = !alone && !executor.hasStep() && micro + 1 == step.window;
    UnderWay list{&step, true, isLast, loaded->valid};
    if (Status done = go(executor.startMicroBatch(loaded->slot), list, alone); !done)
      return done;
  }
  return {};
}

Status Trainer::go(Status started, const UnderWay &list, bool alone) {
  if (!started) {
    // What runs is finished first: its loss may be told, or be the reason to end. Where the device
    // is lost, that fails as well, and the call that found it is named.
    Status before = finishAll();
    return before || before.error().kind == ErrorClass::Device ? started : before;
  }
  underWay[underWayCount++] = list;
  if (alone)
    loadAhead();
  while (underWayCount > (alone ? 0 : 1))
    if (Status done = finishOldest(); !done)
      return done;
  return {};
}

Status Trainer::finishOldest() {
  UnderWay oldest = underWay[0];
  underWay[0] = underWay[--underWayCount];
  if (Status done = oldest.isMicroBatch ? executor.finishMicroBatch() : executor.finishStep();
      !done) {
    if (ahead && !*ahead)
      return ahead->error(); // it came first, and may be why
    return done;
  }
  if (oldest.isMicroBatch) {
    loader->release();
    if (Status done = readMetrics(oldest); !done)
      return done;
  }
  return oldest.isLast ? complete(*oldest.step) : Status();
}

Status Trainer::finishAll() {
  while (underWayCount > 0)
    if (Status done = finishOldest(); !done)
      return done;
  return {};
}

void Trainer::abandon() {
  for (size_t i = 0; i < underWayCount; ++i)
    (void)(underWay[i].isMicroBatch ? executor.finishMicroBatch() : executor.finishStep());
  underWayCount = 0;
}

Status Trainer::readMetrics(const UnderWay &list) {
  Step &step = *list.step;
  Result<float> loss = executor.readMetric(*findMetric(executor.plan(), kLossMetric));
  if (!loss)
    return loss.error();
  step.loss += weighsLabels() ? *loss * static_cast<double>(list.valid) : *loss;
  microBatchLoss[static_cast<size_t>(step.read++)] = *loss;
  if (std::optional<uint32_t> metric = findMetric(executor.plan(), kCorrectMetric)) {
    Result<float> right = executor.readMetric(*metric);
    if (!right)
      return right.error();
    step.correct += *right;
  }
  return {};
}

Status Trainer::complete(const Step &step) {
  double loss = step.loss / static_cast<double>(weighsLabels() ? std::max<int64_t>(step.valid, 1)
                                                               : step.window);
  // Where steps overlap, this one has had the device for itself since the last one was done.
  report.stepSeconds.push_back(
      static_cast<float>(secondsSince(std::max(step.begin, lastCompleted))));
  lastCompleted = Clock::now();
  report.loss.push_back(static_cast<float>(loss));
  if (std::optional<double> rate = learningRateAt(step.number - 1))
    report.learningRate.push_back(*rate);
  report.loading.waitSeconds += step.waited;
  report.loading.readSeconds = loader->readSeconds();
  report.steps += 1;
  lossInEpoch += loss;
  stepsInEpoch += 1;
  correctInEpoch += step.correct;
  seenInEpoch += static_cast<double>(step.valid);
  if (seenInEpoch > 0 && findMetric(executor.plan(), kCorrectMetric))
    report.accuracy = correctInEpoch / seenInEpoch;
  if (!std::isfinite(loss))
    return runFailed(fmt::format("the loss is {} at step {} (epoch {}); try a smaller --lr, check "
                                 "the data, or start from other weights",
                                 loss, step.number, step.epoch));
  showProgress(step, loss);
  if (onStep)
    onStep(step.number, step.epoch);
  return {};
}

void Trainer::showProgress(const Step &step, double loss) {
  if (!progress)
    return;
  ProgressState state;
  state.step = step.number;
  state.totalSteps = finalStep;
  if (!schedule.steps && !data.endless) {
    state.epoch = step.epoch;
    state.totalEpochs = schedule.epochs.value_or(1);
  }
  state.loss = loss;
  state.epochLoss = lossInEpoch / static_cast<double>(stepsInEpoch);
  state.epochAccuracy = report.accuracy;
  state.learningRate = learningRateAt(step.number - 1);
  state.samples = executor.plan().batch();
  progress->update(state);
}

void Trainer::beginEpoch() {
  correctInEpoch = seenInEpoch = lossInEpoch = 0;
  stepsInEpoch = 0;
  epochBegan = Clock::now();
}

void Trainer::endEpoch() {
  if (stepsInEpoch == 0 || data.endless)
    return;
  EpochReport epoch;
  epoch.epoch = where.stepInEpoch ? where.epoch + 1 : where.epoch;
  epoch.steps = stepsInEpoch;
  epoch.loss = lossInEpoch / static_cast<double>(stepsInEpoch);
  epoch.accuracy = report.accuracy;
  epoch.seconds = secondsSince(epochBegan);
  report.epochs.push_back(epoch);
  stepsInEpoch = 0;
}

bool Trainer::validationIsDue() const {
  const auto &validation = schedule.validation;
  if (!validation || where.step == 0 || watch.state().validatedStep == where.step)
    return false;
  if (validation->countsSteps)
    return where.step % validation->every == 0;
  return where.stepInEpoch == 0 && where.epoch % validation->every == 0;
}

Status Trainer::validate() {
  Result<std::optional<EvaluationReport>> result = evaluate(Split::Validation);
  if (!result)
    return result.error();
  if (!*result)
    return {}; // interrupted; a run that goes on begins with it
  lastValidation = **result;
  Result<bool> isBest = watch.add(**result);
  if (!isBest)
    return isBest.error();
  report.best = watch.best();
  if (watch.stops())
    report.earlyStop = EarlyStopReport{where.epoch, where.step, watch.reason()};
  return {};
}

CheckpointMoment Trainer::moment() const {
  CheckpointMoment now{where, watch.state(), std::nullopt, std::nullopt, std::nullopt};
  if (!report.loss.empty())
    now.loss = report.loss.back();
  if (lastValidation && lastValidation->step == where.step) {
    now.validation = lastValidation;
    now.watched = watch.valueOf(*lastValidation);
  }
  return now;
}

Status Trainer::betweenSteps() {
  bool isEpochEnd = where.stepInEpoch == epochSteps;
  bool isPause = where.step == pauseAt;
  bool isCheckpoint = schedule.checkpointEvery > 0 && where.step % schedule.checkpointEvery == 0;
  bool isLook = wantsLook && wantsLook(where.step);
  if (!isEpochEnd && !isPause && !isCheckpoint && !isLook)
    return {};
  if (Status done = finishAll(); !done)
    return done;
  if (isLook)
    onLook(where.step);
  if (isEpochEnd) {
    where.epoch += 1;
    where.stepInEpoch = 0;
    endEpoch();
    if (schedule.evaluate) {
      Result<std::optional<EvaluationReport>> result = evaluate(Split::Test);
      if (!result)
        return result.error();
      if (*result)
        evaluatedStep = where.step;
    }
  }
  if (validationIsDue()) {
    isCheckpoint = true; // it may be the best
    if (Status done = validate(); !done)
      return done;
  }
  // What is saved at the end is saved by whoever made this.
  if (where.step == finalStep || report.earlyStop)
    return {};
  if (onCheckpoint && (isEpochEnd || isCheckpoint))
    if (Status saved = onCheckpoint(moment()); !saved)
      return saved;
  if (isPause)
    startLoader();
  return {};
}

Status Trainer::run() {
  bool evaluates = schedule.evaluate || schedule.validation;
  if (where.step >= finalStep && !evaluates)
    return {};
  if (Status ready = prepareLoader(); !ready)
    return ready;
  // Reserved now, so that the loop itself allocates nothing (in runs of four million steps).
  uint64_t steps = std::min<uint64_t>(finalStep - std::min(where.step, finalStep), 1 << 22);
  report.loss.reserve(steps);
  report.stepSeconds.reserve(steps);
  report.learningRate.reserve(steps);
  microBatchLoss.resize(static_cast<size_t>(microBatches));
  report.best = watch.best();
  Clock::time_point begin = Clock::now();
  beginEpoch();
  auto finish = [&](Status result) {
    if (!result)
      abandon();
    endEpoch();
    report.seconds += secondsSince(begin);
    reportBadSamples();
    if (progress)
      progress->finishLine();
    return result;
  };
  // The one that a signal cut short, or whose run was stopped by it.
  if (where.step < finalStep && validationIsDue())
    if (Status done = validate(); !done)
      return finish(done);
  if (watch.stops() && !report.earlyStop)
    report.earlyStop = EarlyStopReport{where.epoch, where.step, watch.reason()};
  if (where.step < finalStep && !report.earlyStop)
    startLoader();
  while (where.step < finalStep && !report.earlyStop && !interruptRequested()) {
    if (where.stepInEpoch == 0)
      beginEpoch();
    if (Status done = oneStep(); !done)
      return finish(done);
    if (Status done = betweenSteps(); !done)
      return finish(done);
  }
  if (Status done = finishAll(); !done)
    return finish(done);
  // A schedule that ends within an epoch, or has no steps at all, still has a result to show.
  bool isDone = where.step >= finalStep || report.earlyStop;
  if (schedule.validation && isDone && !report.earlyStop && !interruptRequested() &&
      (watch.state().validatedStep != where.step || where.step == 0))
    if (Status done = validate(); !done)
      return finish(done);
  if (schedule.evaluate && evaluatedStep != where.step && !interruptRequested()) {
    Result<std::optional<EvaluationReport>> result = evaluate(Split::Test);
    if (!result)
      return finish(result.error());
    if (*result)
      evaluatedStep = where.step;
  }
  bool isEvaluated = !schedule.evaluate || evaluatedStep == where.step;
  bool isValidated = !schedule.validation || watch.state().validatedStep == where.step;
  report.interrupted = interruptRequested() && (!isDone || !isEvaluated || !isValidated);
  return finish({});
}

} // namespace gc::runtime
