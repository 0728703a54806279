#include "runtime/trainer/RunLog.h"

#include "runtime/plan/Plan_generated.h"
#include "runtime/process/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

namespace gc::runtime {

/// What a run was asked for beside what it computes.
static const std::set<std::string> kOutputs = {
    "checkpoint",     "config",  "html",    "log-dir",  "log-gradients",
    "log-histograms", "predict", "profile", "progress", "quiet",
    "report",         "resume",  "save",    "trace",    "workers"};

/// By which runs are compared: the flags that have a value, and what the model is.
static std::vector<EventFile::HyperParameter> hyperParameters(const TrainingReport &report) {
  std::vector<EventFile::HyperParameter> parameters = {
      {"model", report.model},
      {"batch", static_cast<double>(report.batch)},
      {"parameters", static_cast<double>(report.parameters)}};
  auto flags = nlohmann::json::parse(report.origin.configuration, nullptr,
                                     /*allow_exceptions=*/false);
  if (!flags.is_object())
    return parameters;
  for (const auto &[name, value] : flags.items()) {
    if (kOutputs.count(name))
      continue;
    if (value.is_boolean())
      parameters.emplace_back(name, value.get<bool>());
    else if (value.is_number())
      parameters.emplace_back(name, value.get<double>());
    else if (value.is_string())
      parameters.emplace_back(name, value.get<std::string>());
  }
  return parameters;
}

Status RunLog::open(const TrainOptions &options, const TrainingReport &report, uint64_t from) {
  Result<EventFile> file = EventFile::create(options.logDir);
  if (!file)
    return file.error();
  Result<MetricFiles> rows = MetricFiles::open(options.logDir, from);
  if (!rows)
    return rows.error();
  events.emplace(std::move(*file));
  metrics.emplace(std::move(*rows));
  histogramsEvery = options.histogramsEvery;
  note(events->sessionStart(hyperParameters(report)));
  if (!report.origin.commandLine.empty())
    note(events->text("command_line", 0, fmt::format("    {}", report.origin.commandLine)));
  if (options.configuration.empty())
    return {};
  note(events->text("configuration", 0, fmt::format("```\n{}\n```", options.configuration)));
  return writeFileAtomically((std::filesystem::path(options.logDir) / kConfigurationFile).string(),
                             options.configuration);
}

void RunLog::note(Status result) {
  if (written && !result)
    written = std::move(result);
}

void RunLog::scalar(const std::string &tag, uint64_t step, double value) {
  if (written)
    note(events->scalar(tag, step, static_cast<float>(value)));
}

void RunLog::step(uint64_t step, uint64_t epoch, const TrainingReport &report,
                  std::optional<double> learningRate) {
  if (!goesOn())
    return;
  scalar("loss/train", step, report.loss.back());
  if (learningRate)
    scalar("learning_rate", step, *learningRate);
  MetricRow row;
  row.step = step;
  row.epoch = epoch;
  row.split = "train";
  row.loss = report.loss.back();
  row.learningRate = learningRate;
  row.seconds = report.stepSeconds.back();
  note(metrics->add(row));
}

void RunLog::evaluation(const EvaluationReport &evaluation, Split split) {
  if (!goesOn())
    return;
  std::string name = split == Split::Test ? "test" : "validation";
  scalar("loss/" + name, evaluation.step, evaluation.loss);
  if (evaluation.accuracy)
    scalar("accuracy/" + name, evaluation.step, *evaluation.accuracy);
  if (evaluation.topFive)
    scalar("top5/" + name, evaluation.step, *evaluation.topFive);
  MetricRow row;
  row.step = evaluation.step;
  row.epoch = evaluation.epoch;
  row.split = name;
  row.loss = evaluation.loss;
  row.accuracy = evaluation.accuracy;
  row.topFive = evaluation.topFive;
  row.seconds = evaluation.seconds;
  note(metrics->add(row));
}

void RunLog::device(const std::optional<DeviceSample> &sample, uint64_t step) {
  for (size_t i = 0; isOpen() && sample && i < kDeviceQuantities; ++i)
    if ((*sample)[i])
      scalar(fmt::format("nvml/{}", kDeviceQuantityNames[i].key), step, *(*sample)[i]);
}

bool RunLog::wantsHistograms(uint64_t step) const {
  return goesOn() && histogramsEvery > 0 && step % histogramsEvery == 0;
}

void RunLog::histograms(uint64_t step, StepExecutor &executor) {
  const plan::Plan &plan = executor.plan();
  auto add = [&](const std::string &tag, uint32_t buffer, uint64_t elements) -> Status {
    Result<std::byte *> bytes = executor.map(buffer);
    if (!bytes)
      return bytes.error();
    Histogram histogram = histogramOf({reinterpret_cast<const float *>(*bytes), elements});
    if (Status done = executor.unmap(buffer, /*written=*/false); !done)
      return done;
    return events->histogram(tag, step, histogram);
  };
  for (const plan::Variable *variable : *plan.variables()) {
    const plan::Buffer &buffer = *plan.buffers()->Get(variable->buffer());
    if (variable->role() != plan::VariableRole_Parameter || buffer.dtype() != plan::DType_F32)
      continue;
    uint64_t elements = 1;
    for (int64_t dimension : *buffer.shape())
      elements *= static_cast<uint64_t>(dimension);
    std::string name = variable->name()->str();
    note(add("weights/" + name, variable->buffer(), elements));
    if (variable->gradient_buffer() >= 0)
      note(add("gradients/" + name, static_cast<uint32_t>(variable->gradient_buffer()), elements));
  }
}

void RunLog::end(bool isSuccess) {
  if (goesOn())
    note(events->sessionEnd(isSuccess));
}

} // namespace gc::runtime
