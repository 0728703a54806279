#include "runtime/trainer/TrainPlan.h"
#include "runtime/trainer/TrainOn.h"

#include "runtime/plan/PlanFile.h"
#include "runtime/report/MetricFiles.h"
#include "runtime/trainer/CheckpointSaver.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/Resume.h"
#include "runtime/trainer/SavedNormalization.h"
#include "runtime/trainer/SessionExecutor.h"
#include "runtime/weights/WeightFiles.h"

#include <fmt/format.h>

#include <filesystem>

namespace gc::runtime {

/// Which checkpoints come is not known before they do, so no other file may have such a name there.
static Status checkCheckpointNames(const std::vector<NamedPath> &outputs,
                                   const TrainOptions &options) {
  const std::string resumed = parseCheckpointPlace(options.resume).directory;
  for (const NamedPath &output : outputs) {
    std::filesystem::path path(output.path);
    if (output.path.empty() || !isCheckpointFileName(path.filename().string()))
      continue;
    std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    for (auto [flag, directory] :
         {std::pair("--checkpoint", &options.checkpoint), std::pair("--resume", &resumed)})
      if (!directory->empty() && isSamePlace(folder, *directory))
        return badInput(fmt::format("{}={} has the name of a checkpoint of {}={}; choose another",
                                    output.flag, output.path, flag, *directory));
  }
  return {};
}

/// Whether checkpoints are written before the last step, as far as can be told before the trainer
/// counts steps; where this errs, they are written while training waits.
static bool savesWhileTraining(const TrainOptions &options, const DataSource &data,
                               const plan::Plan &plan) {
  const TrainingSchedule &schedule = options.schedule;
  if (options.checkpoint.empty())
    return false;
  if (schedule.checkpointEvery > 0 || schedule.validation || schedule.epochs.value_or(1) > 1)
    return true;
  auto samples = static_cast<uint64_t>(data.train->size());
  uint64_t used = std::min(schedule.limit.value_or(samples), samples);
  return schedule.steps && *schedule.steps > used / static_cast<uint64_t>(plan.batch());
}

/// Hours of training must not end in a misspelled directory.
Status checkOutputs(const TrainOptions &options, std::vector<NamedPath> inputs) {
  using Kind = NamedPath::Kind;
  std::vector<std::string> kept = {kCheckpointList};
  if (!options.configuration.empty())
    kept.push_back(kConfigurationFile); // in --log-dir, too, which may be the same directory
  std::vector<std::string> logged = {kMetricsCsv, kMetricsJson};
  std::vector<NamedPath> outputs = {{"--save", options.save},
                                    {"--checkpoint", options.checkpoint, Kind::Directory, kept},
                                    {"--dump-gradients", options.dumpGradients},
                                    {"--report", options.report},
                                    {"--log-dir", options.logDir, Kind::Directory, logged},
                                    {"--trace", options.trace},
                                    {"--html", options.html},
                                    {"--profile", options.profile},
                                    {"--predict", options.predict}};
  if (Status fine = checkCheckpointNames(outputs, options); !fine)
    return fine;
  for (const std::string &file : weightFiles(options.load))
    inputs.push_back({"--load", file});
  // A run that goes on replaces its own checkpoint.
  std::string resumed = parseCheckpointPlace(options.resume).directory;
  if (options.checkpoint.empty() || options.resume.empty() ||
      !isSamePlace(options.checkpoint, resumed))
    inputs.push_back({"--resume", resumed, Kind::Directory, {kCheckpointList}});
  for (const std::string *spec : {&options.data, &options.testData})
    for (const std::string &file : dataFiles(*spec))
      inputs.push_back({"the data", file});
  return checkOutputs(outputs, inputs);
}

Status trainPlan(const PlanFile &plan, const TrainOptions &options) {
  TrainingReport report;
  return trainPlan(plan, options, report);
}

Status trainPlan(const PlanFile &plan, const TrainOptions &asked, TrainingReport &report) {
  if (asked.logGradients && !keepsGradients(plan.get()))
    return badInput("--log-gradients: this plan keeps no gradients; compile it with gc-compile "
                    "--keep-gradients, or give gc-run the model instead of the plan");
  if (Status fine = checkOutputs(asked); !fine)
    return fine;
  Result<TrainOptions> resolved = resolveResume(asked);
  if (!resolved)
    return resolved.error();
  Result<std::string> normalization = normalizationOfWeights(*resolved);
  if (!normalization)
    return normalization.error();
  resolved->normalizeOfWeights = std::move(*normalization);
  const TrainOptions &options = *resolved;
  Result<PlanInputs> inputs = findPlanInputs(plan.get());
  if (!inputs)
    return inputs.error();
  Result<DataSource> data = openData(options.dataOptions(), inputs->model, options.schedule.seed);
  if (!data)
    return data.error();
  warnOfOtherNormalization(options, *data);
  Result<std::unique_ptr<CheckpointSaver>> saver =
      CheckpointSaver::create(plan.get(), savesWhileTraining(options, *data, plan.get()));
  if (!saver)
    return saver.error();

  SessionOptions sessionOptions;
  sessionOptions.device = options.device;
  sessionOptions.threads = options.threads;
  sessionOptions.profile = !options.trace.empty() || !options.profile.empty();
  sessionOptions.timeFirstSteps =
      options.timeFirstSteps && plan->target()->device()->string_view() == "cpu";
  Result<std::unique_ptr<Session>> session = Session::create(plan, sessionOptions);
  if (!session)
    return session.error();
  report.notices = noticesOf(**session, options.progress != ProgressMode::None);
  SessionExecutor executor(**session);
  fillPlanFacts(report, plan.get());
  report.data = data->description;
  report.compileSeconds = options.compileSeconds;
  report.origin = options.origin;
  report.threads = executor.threads();
  if (options.evaluateOnly)
    return evaluateOn(executor, *inputs, *data, options, report);
  return trainOn(executor, *inputs, *data, options, report, saver->get());
}

} // namespace gc::runtime
