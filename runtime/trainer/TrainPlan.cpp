#include "runtime/trainer/TrainPlan.h"

#include "runtime/plan/PlanFile.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/SessionExecutor.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace gc::runtime {

namespace fs = std::filesystem;

/// Hours of training must not end in a misspelled directory.
Result<void> checkOutputs(const TrainOptions &options) {
  std::pair<const char *, const std::string *> files[] = {
      {"--save", &options.save},     {"--dump-gradients", &options.dumpGradients},
      {"--report", &options.report}, {"--trace", &options.trace},
      {"--html", &options.html},     {"--profile", &options.profile}};
  for (auto [flag, path] : files) {
    if (path->empty())
      continue;
    struct stat status;
    if (::stat(path->c_str(), &status) == 0 && !S_ISREG(status.st_mode))
      return badInput(fmt::format("{}={}: it exists and is not a regular file", flag, *path));
    std::string parent = fs::path(*path).parent_path().string();
    if (parent.empty())
      parent = ".";
    if (::access(parent.c_str(), W_OK | X_OK) != 0)
      return badInput(fmt::format("{}={}: cannot write to directory '{}': {}", flag, *path, parent,
                                  std::strerror(errno)));
  }
  return {};
}

Result<void> trainPlan(const PlanFile &plan, const TrainOptions &options) {
  TrainingReport report;
  return trainPlan(plan, options, report);
}

Result<void> trainPlan(const PlanFile &plan, const TrainOptions &options, TrainingReport &report) {
  if (Result<void> fine = checkOutputs(options); !fine)
    return fine;
  Result<PlanInputs> inputs = findPlanInputs(plan.get());
  if (!inputs)
    return inputs.error();
  Result<DataSource> data = openData(options.data, inputs->model, options.schedule.seed);
  if (!data)
    return data.error();

  SessionOptions sessionOptions;
  sessionOptions.device = options.device;
  sessionOptions.threads = options.threads;
  sessionOptions.profile = !options.trace.empty() || !options.profile.empty();
  Result<std::unique_ptr<Session>> session = Session::create(plan, sessionOptions);
  if (!session)
    return session.error();
  SessionExecutor executor(**session);
  fillPlanFacts(report, plan.get());
  report.data = data->description;
  report.optimizer = options.optimizer;
  report.compileSeconds = options.compileSeconds;
  report.threads = executor.threads();
  return trainOn(executor, *inputs, *data, options, report);
}

} // namespace gc::runtime
