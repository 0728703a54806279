#include "runtime/trainer/TrainPlan.h"
#include "runtime/trainer/TrainOn.h"

#include "runtime/plan/PlanFile.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/Resume.h"
#include "runtime/trainer/SessionExecutor.h"

namespace gc::runtime {

/// Hours of training must not end in a misspelled directory.
Status checkOutputs(const TrainOptions &options, std::vector<NamedPath> inputs) {
  using Kind = NamedPath::Kind;
  std::vector<std::string> kept = checkpointFiles();
  if (!options.configuration.empty())
    kept.push_back(kConfigurationFile); // in --log-dir, too, which may be the same directory
  std::vector<NamedPath> outputs = {{"--save", options.save},
                                    {"--checkpoint", options.checkpoint, Kind::Directory, kept},
                                    {"--dump-gradients", options.dumpGradients},
                                    {"--report", options.report},
                                    {"--log-dir", options.logDir, Kind::Directory},
                                    {"--trace", options.trace},
                                    {"--html", options.html},
                                    {"--profile", options.profile}};
  inputs.push_back({"--load", options.load});
  // A run that goes on replaces its own checkpoint.
  if (options.checkpoint.empty() || options.resume.empty() ||
      !isSamePlace(options.checkpoint, options.resume))
    inputs.push_back({"--resume", options.resume, Kind::Directory, checkpointFiles()});
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
  if (Status fine = checkOutputs(asked); !fine)
    return fine;
  Result<TrainOptions> resolved = resolveResume(asked);
  if (!resolved)
    return resolved.error();
  const TrainOptions &options = *resolved;
  Result<PlanInputs> inputs = findPlanInputs(plan.get());
  if (!inputs)
    return inputs.error();
  Result<DataSource> data = openData(options.dataOptions(), inputs->model, options.schedule.seed);
  if (!data)
    return data.error();

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
  return trainOn(executor, *inputs, *data, options, report);
}

} // namespace gc::runtime
