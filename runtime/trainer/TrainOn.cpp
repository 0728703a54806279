#include "runtime/trainer/TrainOn.h"

#include "runtime/nvml/NvmlSampler.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/process/Interrupt.h"
#include "runtime/report/CommandFiles.h"
#include "runtime/report/EventFile.h"
#include "runtime/report/HtmlReport.h"
#include "runtime/trainer/Console.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/Resume.h"

#include <fmt/format.h>

#include <filesystem>

namespace gc::runtime {

/// Initial weights, or those to start from.
static Status prepareVariables(VariableStore &store, const TrainOptions &options) {
  if (Status done = store.initialize(options.schedule.seed); !done)
    return done;
  return options.load.empty() ? Status() : store.load(options.load);
}

/// Goes on from a checkpoint that is of the same run.
static Status resume(Trainer &trainer, VariableStore &store, const TrainOptions &options,
                     const TrainingSetting &setting) {
  Result<Checkpoint> checkpoint = loadCheckpoint(options.resume, store);
  if (!checkpoint)
    return checkpoint.error();
  if (Status same = checkSameSetting(checkpoint->setting, setting); !same)
    return same;
  const std::string &then = checkpoint->setting.optimizer, &now = setting.optimizer;
  if (!then.empty() && !now.empty() && then != now)
    fmt::print(stderr,
               "warning: the checkpoint in '{}' was trained with {}; this run goes on with {}\n",
               options.resume, then, now);
  return trainer.resumeAt(checkpoint->position);
}

static Status keepConfiguration(const std::string &directory, const TrainOptions &options) {
  if (options.configuration.empty())
    return {};
  return writeFileAtomically((std::filesystem::path(directory) / kConfigurationFile).string(),
                             options.configuration);
}

/// A checkpoint, and what its run was started with.
static Status keepCheckpoint(VariableStore &store, const TrainOptions &options,
                             const Checkpoint &checkpoint) {
  if (Status saved = saveCheckpoint(options.checkpoint, store, checkpoint); !saved)
    return saved;
  return keepConfiguration(options.checkpoint, options);
}

/// Everything that is written after the last step. Weights come first: they cost most to lose.
static Status saveResults(VariableStore &store, StepExecutor &executor, const TrainOptions &options,
                          const Checkpoint &checkpoint, const TrainingReport &report) {
  if (!options.save.empty())
    if (Status done = store.save(options.save); !done)
      return done;
  if (!options.checkpoint.empty())
    if (Status done = keepCheckpoint(store, options, checkpoint); !done)
      return done;
  if (!options.dumpGradients.empty())
    if (Status done = store.saveGradients(options.dumpGradients); !done)
      return done;
  std::vector<CommandTime> times;
  if (!options.trace.empty() || !options.profile.empty())
    times = executor.commandTimes();
  if (!options.trace.empty())
    if (Status done = writeTrace(options.trace, report.model, times, &report.monitor); !done)
      return done;
  if (!options.profile.empty())
    if (Status done = writeProfile(options.profile, report, times); !done)
      return done;
  if (!options.html.empty())
    if (Status done = writeHtmlReport(options.html, report, executor.plan()); !done)
      return done;
  return {};
}

/// The event file of a run, where there is one. Its failure must not end training: it is told
/// after.
struct EventLog {
  std::optional<EventFile> file;
  Status result;

  void scalar(const std::string &tag, uint64_t step, double value) {
    if (file && result)
      result = file->scalar(tag, step, static_cast<float>(value));
  }
  void device(const std::optional<DeviceSample> &sample, uint64_t step) {
    for (size_t i = 0; sample && i < kDeviceQuantities; ++i)
      if ((*sample)[i])
        scalar(fmt::format("nvml/{}", kDeviceQuantityNames[i].key), step, *(*sample)[i]);
  }
};

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

/// Hangs checkpoints, event file and console lines on the trainer.
static void attach(Trainer &trainer, VariableStore &store, const TrainOptions &options,
                   const TrainingSetting &setting, EventLog &events, Monitor &monitor,
                   Console &console) {
  if (!options.checkpoint.empty())
    trainer.onEpochEnd = [&store, &options, &setting](const TrainingPosition &position) {
      return keepCheckpoint(store, options, {position, setting});
    };
  if (events.file)
    trainer.onStep = [&events, &monitor, &trainer](uint64_t step, float loss) {
      events.scalar("loss/train", step, loss);
      if (std::optional<double> rate = trainer.learningRateAt(step - 1))
        events.scalar("learning_rate", step, *rate);
      events.device(monitor.newDeviceSample(), step);
    };
  trainer.onEvaluation = [&events, &console](const EvaluationReport &evaluation) {
    events.scalar("loss/test", evaluation.step, evaluation.loss);
    if (evaluation.accuracy)
      events.scalar("accuracy/test", evaluation.step, *evaluation.accuracy);
    console.evaluation(evaluation);
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
               const TrainOptions &options, TrainingReport &report) {
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
  if (Status done = prepareVariables(*store, options); !done)
    return done;
  TrainingSetting setting = trainer.setting();
  // What is done to the data belongs to it.
  if (!options.normalize.empty())
    setting.data += " with --normalize=" + options.normalize;
  if (!options.augment.empty())
    setting.data += " with --augment=" + options.augment;
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
  report.seed = trainer.position().seed;
  report.stepsBefore = trainer.position().step;
  EventLog events;
  if (!options.logDir.empty()) {
    Result<EventFile> file = EventFile::create(options.logDir);
    if (!file)
      return file.error();
    events.file.emplace(std::move(*file));
    if (Status kept = keepConfiguration(options.logDir, options); !kept)
      return kept;
  }
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
  attach(trainer, *store, options, setting, events, monitor, console);
  InterruptGuard guard;
  double begin = executor.seconds();
  monitor.start();
  Status trained = trainer.run();
  fillMemoryUse(report, executor.memoryUse()); // before saving touches anything
  monitor.stop();
  takeSamples(report, monitor.summary(), sampler.get());
  report.monitor.beginSeconds = begin;
  events.device(monitor.newDeviceSample(), trainer.position().step);

  if (options.timeFirstSteps)
    report.opTimes = opTimesOf(executor.commandTimes());

  Status saved;
  if (trained) {
    saved = saveResults(*store, executor, options, {trainer.position(), setting}, report);
    console.end(report, trainer.position().step);
  }
  // The report tells how far a failed run came, too.
  Status reported;
  if (!options.report.empty())
    reported = writeReport(options.report, report);
  for (const Status *result : {&trained, &saved, &reported, &events.result})
    if (!*result)
      return *result;
  return {};
}

} // namespace gc::runtime
