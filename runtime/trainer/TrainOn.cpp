#include "runtime/trainer/TrainPlan.h"

#include "runtime/report/CommandFiles.h"
#include "runtime/report/EventFile.h"
#include "runtime/report/HtmlReport.h"
#include "runtime/trainer/ConsoleText.h"
#include "runtime/trainer/Interrupt.h"
#include "runtime/trainer/PlanFacts.h"

#include <fmt/format.h>

#include <unistd.h>

namespace gc::runtime {

static Result<TrainingPosition> prepareVariables(VariableStore &store,
                                                 const TrainOptions &options) {
  TrainingPosition position;
  position.seed = options.schedule.seed;
  if (Result<void> done = store.initialize(options.schedule.seed); !done)
    return done.error();
  if (!options.load.empty())
    if (Result<void> done = store.load(options.load); !done)
      return done.error();
  if (!options.resume.empty())
    return loadCheckpoint(options.resume, store);
  return position;
}

static void print(std::FILE *out, const std::string &text) {
  std::fputs(text.c_str(), out);
  std::fflush(out);
}

/// Everything that is written after the last step. Weights come first: they cost most to lose.
static Result<void> saveResults(VariableStore &store, StepExecutor &executor,
                                const TrainOptions &options, const TrainingPosition &position,
                                const TrainingReport &report) {
  if (!options.save.empty())
    if (Result<void> done = store.save(options.save); !done)
      return done;
  if (!options.checkpoint.empty())
    if (Result<void> done = saveCheckpoint(options.checkpoint, store, position); !done)
      return done;
  if (!options.dumpGradients.empty())
    if (Result<void> done = store.saveGradients(options.dumpGradients); !done)
      return done;
  std::vector<CommandTime> times;
  if (!options.trace.empty() || !options.profile.empty())
    times = executor.commandTimes();
  if (!options.trace.empty())
    if (Result<void> done = writeTrace(options.trace, report.model, times); !done)
      return done;
  if (!options.profile.empty())
    if (Result<void> done = writeProfile(options.profile, report, times); !done)
      return done;
  if (!options.html.empty())
    if (Result<void> done = writeHtmlReport(options.html, report, executor.plan()); !done)
      return done;
  return {};
}

/// Hangs checkpoints, event file and console lines on the trainer.
static void attach(Trainer &trainer, VariableStore &store, const TrainOptions &options,
                   EventFile *events, Result<void> &eventsResult, Progress &progress) {
  if (!options.checkpoint.empty())
    trainer.onEpochEnd = [&store, &options](const TrainingPosition &position) {
      return saveCheckpoint(options.checkpoint, store, position);
    };
  auto log = [events, &eventsResult](const char *tag, uint64_t step, double value) {
    if (events && eventsResult)
      eventsResult = events->scalar(tag, step, static_cast<float>(value));
  };
  if (events)
    trainer.onStep = [log](uint64_t step, float loss) { log("loss/train", step, loss); };
  trainer.onEvaluation = [log, &options, &progress](const EvaluationReport &evaluation) {
    log("loss/test", evaluation.step, evaluation.loss);
    if (evaluation.accuracy)
      log("accuracy/test", evaluation.step, *evaluation.accuracy);
    progress.finishLine();
    print(options.out, evaluationText(evaluation));
  };
}

Result<void> trainOn(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
                     const TrainOptions &options, TrainingReport &report) {
  Progress progress(options.out, ::isatty(::fileno(options.out)) == 1);
  Result<std::unique_ptr<Trainer>> created =
      Trainer::create(executor, inputs, data, options.schedule, &progress, report);
  if (!created)
    return created.error();
  Trainer &trainer = **created;
  Result<VariableStore> store = VariableStore::create(executor.plan(), executor);
  if (!store)
    return store.error();
  if (!options.dumpGradients.empty() && !keepsGradients(executor.plan()))
    return badInput("--dump-gradients: this plan keeps no gradients; compile it with gc-compile "
                    "--keep-gradients, or give gc-run the model instead of the plan");
  Result<TrainingPosition> position = prepareVariables(*store, options);
  if (!position)
    return position.error();
  if (!options.resume.empty())
    if (Result<void> resumed = trainer.resumeAt(*position); !resumed)
      return resumed;
  report.seed = position->seed;
  std::optional<EventFile> events;
  if (!options.logDir.empty()) {
    Result<EventFile> file = EventFile::create(options.logDir);
    if (!file)
      return file.error();
    events.emplace(std::move(*file));
  }
  if (Result<void> done = executor.runOnce(); !done)
    return done;

  ScheduleText schedule;
  schedule.totalSteps = trainer.totalSteps();
  schedule.stepsPerEpoch = trainer.stepsPerEpoch();
  schedule.fromStep = position->step;
  schedule.wholeEpochs = !options.schedule.steps && !data.endless;
  print(options.out, headerText(report, schedule));

  Result<void> eventsResult;
  attach(trainer, *store, options, events ? &*events : nullptr, eventsResult, progress);
  Monitor monitor;
  InterruptGuard guard;
  monitor.start();
  Result<void> trained = trainer.run();
  fillMemoryUse(report, executor.memoryUse()); // before saving touches anything
  monitor.stop();
  report.monitor = monitor.summary();

  Result<void> saved;
  if (trained) {
    if (report.interrupted)
      print(options.out, fmt::format("interrupted after step {}\n", trainer.position().step));
    saved = saveResults(*store, executor, options, trainer.position(), report);
    print(options.out, summaryText(report));
  }
  // The report tells how far a failed run came, too.
  Result<void> reported;
  if (!options.report.empty())
    reported = writeReport(options.report, report);
  for (const Result<void> *result : {&trained, &saved, &reported, &eventsResult})
    if (!*result)
      return *result;
  return {};
}

} // namespace gc::runtime
