// --evaluate-only: weights and a split, and nothing else.
#include "runtime/plan/Metrics.h"
#include "runtime/process/Interrupt.h"
#include "runtime/report/HtmlReport.h"
#include "runtime/trainer/Console.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/Predictions.h"
#include "runtime/trainer/SavedNormalization.h"
#include "runtime/trainer/TrainOn.h"

#include <fmt/format.h>

namespace gc::runtime {

/// The file that they are taken from.
static Result<std::string> loadWeights(VariableStore &store, const TrainOptions &options) {
  // The generator and what else is no weight; the weights follow.
  if (Status done = store.initialize(options.schedule.seed); !done)
    return done.error();
  if (!options.load.empty()) {
    if (Status done = store.load(options.load); !done)
      return done.error();
    return options.load;
  }
  Result<std::string> file = findCheckpoint(options.resume);
  if (!file)
    return file;
  if (Status done = store.loadWeightsOfState(*file); !done)
    return done.error();
  return file;
}

static Status writeResults(VariableStore &store, StepExecutor &executor,
                           const std::string &normalization, const TrainOptions &options,
                           const TrainingReport &report) {
  if (!options.save.empty())
    if (Status done = store.save(options.save, options.saveAs, normalizationNotes(normalization));
        !done)
      return done;
  return options.html.empty() ? Status() : writeHtmlReport(options.html, report, executor.plan());
}

Status evaluateOn(StepExecutor &executor, const PlanInputs &inputs, const DataSource &data,
                  const TrainOptions &options, TrainingReport &report) {
  if (!data.test && (!data.validation || !options.predict.empty()))
    return badInput(fmt::format("{}: '{}' has no test split; name what to evaluate with "
                                "--test-data",
                                options.predict.empty() ? "--evaluate-only" : "--predict",
                                options.data));
  TrainingSchedule schedule = options.schedule;
  schedule.steps = 0;
  schedule.evaluate = data.test != nullptr;
  if (data.validation)
    schedule.validation.emplace();
  Console console(options.out, options.progress);
  Result<std::unique_ptr<Trainer>> trainer =
      Trainer::create(executor, inputs, data, schedule, &console.progress(), report);
  if (!trainer)
    return trainer.error();
  Result<VariableStore> store = VariableStore::create(executor.plan(), executor);
  if (!store)
    return store.error();
  ScheduleText text;
  Result<std::string> weights = loadWeights(*store, options);
  if (!weights)
    return weights.error();
  text.weights = *weights;
  report.seed = schedule.seed;
  std::unique_ptr<Predictions> predictions;
  if (!options.predict.empty()) {
    if (!inputs.model.labelShape.empty())
      return badInput("--predict writes one answer a sample, and this model gives several");
    if (!findOutput(executor.plan(), kLogitsOutput))
      return badInput("--predict: this plan keeps no logits to the end of an evaluation; compile "
                      "the model with --evaluate");
    Result<std::unique_ptr<Predictions>> made =
        Predictions::create(options.predict, *data.test, inputs.model.classes);
    if (!made)
      return made.error();
    predictions = std::move(*made);
    (*trainer)->predictions = predictions.get();
  }
  (*trainer)->onEvaluation = [&](const EvaluationReport &evaluation, Split split) {
    console.evaluation(evaluation, split == Split::Validation);
  };
  if (Status done = executor.runOnce(); !done)
    return done;
  console.begin(report, text);
  InterruptGuard guard;
  Status evaluated = (*trainer)->run();
  report.best.reset(); // there is nothing to compare with
  fillMemoryUse(report, executor.memoryUse());
  if (evaluated && predictions && !report.interrupted)
    evaluated = predictions->finish();
  if (evaluated) {
    const std::string &known = options.normalizeOfWeights;
    evaluated =
        writeResults(*store, executor, known.empty() ? data.normalization : known, options, report);
    console.end(report, 0);
  }
  Status reported = options.report.empty() ? Status() : writeReport(options.report, report);
  return evaluated ? reported : evaluated;
}

} // namespace gc::runtime
