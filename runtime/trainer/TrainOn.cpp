#include "runtime/trainer/TrainOn.h"

#include "runtime/data/Normalization.h"
#include "runtime/nvml/NvmlSampler.h"
#include "runtime/process/Interrupt.h"
#include "runtime/process/OutputCheck.h"
#include "runtime/report/CommandFiles.h"
#include "runtime/report/HtmlReport.h"
#include "runtime/trainer/CheckpointSaver.h"
#include "runtime/trainer/Console.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/Resume.h"
#include "runtime/trainer/RunLog.h"
#include "runtime/trainer/SavedNormalization.h"

#include <fmt/format.h>

#include <filesystem>

namespace gc::runtime {

/// Initial weights, or those to start from.
static Status prepareVariables(VariableStore &store, const TrainOptions &options,
                               TrainingReport &report) {
  if (Status done = store.initialize(options.schedule.seed); !done)
    return done;
  if (options.load.empty())
    return {};
  if (!options.loadPartial)
    return store.load(options.load);
  Result<PartialLoad> loaded = store.loadPartial(options.load);
  if (!loaded)
    return loaded.error();
  report.partialLoad = PartialLoadReport{
      options.load, loaded->loaded, std::move(loaded->initialized), std::move(loaded->leftOut)};
  return {};
}

/// Goes on from a checkpoint that is of the same run.
static Status resume(Trainer &trainer, VariableStore &store, const TrainOptions &options,
                     const TrainingSetting &setting) {
  Result<std::string> file = findCheckpoint(options.resume);
  if (!file)
    return file.error();
  Result<Checkpoint> checkpoint = loadCheckpoint(*file, store);
  if (!checkpoint)
    return checkpoint.error();
  if (Status same = checkSameSetting(checkpoint->setting, setting); !same)
    return same;
  const std::string &then = checkpoint->setting.optimizer, &now = setting.optimizer;
  if (!then.empty() && !now.empty() && then != now)
    fmt::print(stderr,
               "warning: the checkpoint in '{}' was trained with {}; this run goes on with {}\n",
               options.resume, then, now);
  trainer.resumeWatch(checkpoint->watch);
  return trainer.resumeAt(checkpoint->position);
}

/// The folder of --checkpoint, for a run that stands where the trainer does.
static Status openCheckpoints(CheckpointSaver &saver, const Trainer &trainer,
                              const TrainOptions &options, const TrainingSetting &setting) {
  std::string watched;
  KeepRule rule;
  if (const auto &validation = options.schedule.validation) {
    watched = validation->watch.monitored.text();
    rule.best = 1;
  }
  bool goesOn = !options.resume.empty() &&
                isSamePlace(parseCheckpointPlace(options.resume).directory, options.checkpoint);
  Result<CheckpointFolder> folder =
      CheckpointFolder::open(options.checkpoint, options.keep.value_or(rule), watched,
                             goesOn ? trainer.position().step : 0);
  if (!folder)
    return folder.error();
  saver.open(std::move(*folder), setting, options.configuration);
  return {};
}

/// Everything that is written after the last step. Weights come first: they cost most to lose.
static Status saveResults(VariableStore &store, StepExecutor &executor, const TrainOptions &options,
                          const TrainingSetting &setting, CheckpointSaver *saver,
                          const CheckpointMoment &moment, TrainingReport &report) {
  if (!options.save.empty())
    if (Status done = store.save(options.save, options.saveAs, setting.notes); !done)
      return done;
  if (saver) {
    if (Status done = saver->saveLast(executor, moment); !done)
      return done;
    report.checkpoint = saver->report();
    auto &[file, step] = report.checkpoint->best;
    if (report.best && !file.empty() && step == report.best->step)
      report.best->file = (std::filesystem::path(options.checkpoint) / file).string();
  }
  if (!options.dumpGradients.empty())
    if (Status done = store.saveGradients(options.dumpGradients); !done)
      return done;
  std::vector<CommandTime> times;
  if (!options.trace.empty() || !options.profile.empty())
    times = executor.commandTimes();
  if (!options.trace.empty())
    if (Status done = writeTrace(options.trace, report.model, stepPhasesOf(executor.plan()), times,
                                 &report.monitor);
        !done)
      return done;
  if (!options.profile.empty())
    if (Status done = writeProfile(options.profile, report, times); !done)
      return done;
  if (!options.html.empty())
    if (Status done = writeHtmlReport(options.html, report, executor.plan()); !done)
      return done;
  return {};
}

/// Null, and the reason in the report, where a device that should be watched cannot be; that is not
/// a reason not to train.
static std::unique_ptr<DeviceSampler>
openSampler(const StepExecutor &executor, const TrainOptions &options, TrainingReport &report) {
  WatchedDevice device = executor.watchedDevice();
  if (!device.any())
    return nullptr;
  Result<std::unique_ptr<NvmlSampler>> opened = NvmlSampler::open(device, options.nvmlLibrary);
  report.nvml.emplace();
  if (opened)
    return std::move(*opened);
  report.nvml->reason = opened.error().message;
  return nullptr;
}

/// After the monitor has stopped.
static void takeSamples(TrainingReport &report, const MonitorSummary &seen,
                        const DeviceSampler *sampler) {
  report.monitor = seen;
  if (!sampler)
    return;
  report.nvml->device = sampler->describe();
  for (size_t i = 0; i < kDeviceQuantities; ++i)
    report.nvml->failures[i] = sampler->failure(static_cast<DeviceQuantity>(i));
  const QuantityRange &used = (*seen.device)[DeviceQuantity::MemoryUsed];
  if (report.memory.device && used.samples)
    report.memory.device->nvmlUsedPeakBytes = static_cast<uint64_t>(used.max);
}

/// Hangs checkpoints, logs and console lines on the trainer.
static void attach(Trainer &trainer, StepExecutor &executor, CheckpointSaver *saver, RunLog &log,
                   Monitor &monitor, Console &console, const TrainingReport &report) {
  if (saver)
    trainer.onCheckpoint = [saver, &executor](const CheckpointMoment &moment) {
      return saver->save(executor, moment);
    };
  if (log.isOpen()) {
    trainer.onStep = [&](uint64_t step, uint64_t epoch) {
      log.step(step, epoch, report, trainer.learningRateAt(step - 1));
      log.device(monitor.newDeviceSample(), step);
    };
    trainer.wantsLook = [&log](uint64_t step) { return log.wantsHistograms(step); };
    trainer.onLook = [&log, &executor](uint64_t step) { log.histograms(step, executor); };
  }
  trainer.onEvaluation = [&log, &console](const EvaluationReport &evaluation, Split split) {
    log.evaluation(evaluation, split);
    console.evaluation(evaluation, split == Split::Validation);
  };
}

/// What is taken from the last step needs one.
static Status checkSomethingRuns(const Trainer &trainer, const TrainOptions &options) {
  if (trainer.position().step < trainer.totalSteps())
    return {};
  std::pair<const char *, const std::string *> taken[] = {
      {"--dump-gradients", &options.dumpGradients},
      {"--trace", &options.trace},
      {"--profile", &options.profile}};
  for (auto [flag, path] : taken)
    if (!path->empty())
      return badInput(fmt::format("{}={}: this run has no step to take it from ({} of {} are done)",
                                  flag, *path, trainer.position().step, trainer.totalSteps()));
  return {};
}

Status trainOn(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
               const TrainOptions &options, TrainingReport &report, CheckpointSaver *saver) {
  Console console(options.out, options.progress);
  Result<std::unique_ptr<Trainer>> created =
      Trainer::create(executor, inputs, data, options.schedule, &console.progress(), report);
  if (!created)
    return created.error();
  Trainer &trainer = **created;
  Result<VariableStore> store = VariableStore::create(executor.plan(), executor);
  if (!store)
    return store.error();
  if (!options.dumpGradients.empty() && !keepsGradients(executor.plan()))
    return badInput("--dump-gradients: this plan keeps no gradients; compile it with gc-compile "
                    "--keep-gradients, or give gc-run the model instead of the plan");
  if (Status done = prepareVariables(*store, options, report); !done)
    return done;
  TrainingSetting setting = trainer.setting();
  // What is done to the data belongs to it.
  if (!data.normalization.empty() && data.normalization != kUsualNormalization)
    setting.data += " with --normalize=" + data.normalization;
  if (!options.augment.empty())
    setting.data += " with --augment=" + options.augment;
  setting.notes = normalizationNotes(data.normalization.empty() ? options.normalizeOfWeights
                                                                : data.normalization);
  if (!options.resume.empty() || !options.checkpoint.empty()) {
    Result<uint64_t> fingerprint = data.train->fingerprint();
    if (!fingerprint)
      return fingerprint.error();
    setting.fingerprint = *fingerprint;
  }
  if (!options.resume.empty())
    if (Status resumed = resume(trainer, *store, options, setting); !resumed)
      return resumed;
  if (Status fine = checkSomethingRuns(trainer, options); !fine)
    return fine;
  std::unique_ptr<CheckpointSaver> ownSaver;
  if (options.checkpoint.empty())
    saver = nullptr;
  else if (!saver) {
    Result<std::unique_ptr<CheckpointSaver>> made =
        CheckpointSaver::create(executor.plan(), /*hasCopy=*/false);
    if (!made)
      return made.error();
    ownSaver = std::move(*made);
    saver = ownSaver.get();
  }
  if (saver)
    if (Status opened = openCheckpoints(*saver, trainer, options, setting); !opened)
      return opened;
  report.seed = trainer.position().seed;
  report.stepsBefore = trainer.position().step;
  RunLog log;
  if (!options.logDir.empty())
    if (Status opened = log.open(options, report, trainer.position().step); !opened)
      return opened;
  if (Status done = executor.runOnce(); !done)
    return done;

  ScheduleText schedule;
  schedule.totalSteps = trainer.totalSteps();
  schedule.stepsPerEpoch = trainer.stepsPerEpoch();
  schedule.fromStep = trainer.position().step;
  schedule.wholeEpochs = !options.schedule.steps && !data.endless;
  console.begin(report, schedule);

  std::unique_ptr<DeviceSampler> sampler = openSampler(executor, options, report);
  Monitor monitor;
  monitor.watch(sampler.get());
  attach(trainer, executor, saver, log, monitor, console, report);
  InterruptGuard guard;
  double begin = executor.seconds();
  monitor.start();
  Status trained = trainer.run();
  fillMemoryUse(report, executor.memoryUse()); // before saving touches anything
  monitor.stop();
  takeSamples(report, monitor.summary(), sampler.get());
  report.monitor.beginSeconds = begin;
  log.device(monitor.newDeviceSample(), trainer.position().step);
  log.end(trained.ok() && !report.interrupted);

  if (options.timeFirstSteps)
    report.opTimes = opTimesOf(executor.commandTimes());

  Status saved;
  if (trained) {
    saved = saveResults(*store, executor, options, setting, saver, trainer.moment(), report);
    console.end(report, trainer.position().step);
  }
  // The report tells how far a failed run came, too.
  Status reported;
  if (!options.report.empty())
    reported = writeReport(options.report, report);
  for (const Status &result : {trained, saved, reported, log.result()})
    if (!result)
      return result;
  return {};
}

} // namespace gc::runtime
