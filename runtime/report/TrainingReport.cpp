#include "runtime/report/TrainingReport.h"

#include "runtime/process/AtomicFile.h"
#include "runtime/report/Sizes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace gc::runtime {

using json = nlohmann::ordered_json;

double TrainingReport::stepMedian() const {
  if (stepSeconds.empty())
    return 0;
  std::vector<float> sorted = stepSeconds;
  size_t middle = sorted.size() / 2;
  std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.end());
  double upper = sorted[middle];
  if (sorted.size() % 2)
    return upper;
  return (upper + *std::max_element(sorted.begin(), sorted.begin() + middle)) / 2;
}

double TrainingReport::loaderWaitShare() const {
  double steps = std::accumulate(stepSeconds.begin(), stepSeconds.end(), 0.0);
  return steps > 0 ? std::min(1.0, loading.waitSeconds / steps) : 0;
}

double TrainingReport::coresNeededToLoad() const {
  double steps = std::accumulate(stepSeconds.begin(), stepSeconds.end(), 0.0);
  double computing = steps - loading.waitSeconds;
  return computing > 0 ? loading.readSeconds / computing : 0;
}

double TrainingReport::samplesPerSecond() const {
  double median = stepMedian();
  return median > 0 ? static_cast<double>(batch) / median : 0;
}

template <class T> static json orNull(const std::optional<T> &value) {
  return value ? json(*value) : json(nullptr);
}

static json monitorJson(const MonitorSummary &monitor) {
  json seconds = json::array(), memory = json::array(), cpus = json::array();
  for (const MonitorSample &sample : monitor.samples) {
    seconds.push_back(sample.seconds);
    memory.push_back(sample.memoryBytes);
    cpus.push_back(sample.cpus);
  }
  return {{"seconds", monitor.seconds},
          {"period_seconds", monitor.periodSeconds},
          {"rss_max_bytes", monitor.memoryMaxBytes},
          {"rss_mean_bytes", monitor.memoryMeanBytes},
          {"cpus_max", monitor.cpusMax},
          {"cpus_mean", monitor.cpusMean},
          {"samples", {{"seconds", seconds}, {"rss_bytes", memory}, {"cpus", cpus}}}};
}

json plannedMemoryJson(const MemoryReport &m) {
  return {{"predicted_peak_bytes", m.arenaBytes},
          {"lower_bound_bytes", m.planned.lower_bound},
          {"weights_bytes", m.planned.weights},
          {"gradients_bytes", m.planned.gradients},
          {"optimizer_bytes", m.planned.optimizer},
          {"activations_bytes", m.planned.activations},
          {"workspace_bytes", m.planned.workspace},
          {"input_bytes", m.planned.input},
          {"fragmentation_bytes", m.planned.fragmentation},
          {"master_bytes", m.masterBytes},
          {"arena_bytes", m.arenaBytes}};
}

json precisionJson(const PrecisionReport &precision) {
  return {
      {"products", precision.products}, {"saved", precision.saved}, {"master", precision.master}};
}

json originJson(const OriginReport &origin) {
  auto orNone = [](const std::string &text) { return text.empty() ? json() : json(text); };
  json configuration = json::parse(origin.configuration, nullptr, /*allow_exceptions=*/false);
  return {{"version", orNone(origin.version)},
          {"command_line", orNone(origin.commandLine)},
          {"host", orNone(origin.host)},
          {"cpu", orNone(origin.cpu)},
          {"configuration", configuration.is_object() ? configuration : json()}};
}

static json evaluationsJson(const std::vector<EvaluationReport> &evaluations) {
  json out = json::array();
  for (const EvaluationReport &e : evaluations)
    out.push_back({{"epoch", e.epoch},
                   {"step", e.step},
                   {"samples", e.samples},
                   {"loss", e.loss},
                   {"accuracy", orNull(e.accuracy)},
                   {"top5", orNull(e.topFive)},
                   {"seconds", e.seconds}});
  return out;
}

static json bestJson(const BestReport &best) {
  return {{"metric", best.monitor},
          {"value", best.value},
          {"epoch", best.epoch},
          {"step", best.step},
          {"file", best.file.empty() ? json() : json(best.file)}};
}

std::string parametersText(const TrainingReport &r) {
  std::string text = countText(static_cast<uint64_t>(r.parameters)) + " parameters";
  if (r.trainableParameters != r.parameters)
    text += ", " + countText(static_cast<uint64_t>(r.trainableParameters)) + " of them trained";
  return text;
}

std::string reportJson(const TrainingReport &r) {
  json out;
  out["model"] = r.model;
  out["device"] = r.device;
  out["notices"] = r.notices;
  out["threads"] = r.threads;
  out["batch"] = r.batch;
  out["micro_batches"] = r.microBatches;
  out["parameters"] = r.parameters;
  out["trainable_parameters"] = r.trainableParameters;
  out["steps"] = r.steps;
  out["loss"] = r.loss;
  out["learning_rate"] = r.learningRate;
  out["accuracy"] = orNull(r.accuracy);
  out["test_accuracy"] =
      r.evaluations.empty() ? json(nullptr) : orNull(r.evaluations.back().accuracy);
  out["test_loss"] = r.evaluations.empty() ? json(nullptr) : json(r.evaluations.back().loss);
  double fastest =
      r.stepSeconds.empty() ? 0 : *std::min_element(r.stepSeconds.begin(), r.stepSeconds.end());
  out["step_seconds"] = {{"median", r.stepMedian()}, {"min", fastest}, {"all", r.stepSeconds}};
  out["samples_per_second"] = r.samplesPerSecond();
  out["compile_seconds"] = r.compileSeconds;
  const MemoryReport &m = r.memory;
  out["memory"] = plannedMemoryJson(m);
  out["memory"].update({{"measured_peak_bytes", m.measured.peakBytes},
                        {"allocations_in_step", m.measured.allocationsInStep},
                        {"library_bytes", m.measured.libraryBytes},
                        {"process_rss_before_bytes", m.measured.rssBeforeBytes},
                        {"process_rss_peak_bytes", m.measured.rssPeakBytes},
                        {"device", m.device ? deviceMemoryJson(*m.device) : json(nullptr)}});
  out["precision"] = precisionJson(r.precision);
  const RematReport &remat = r.remat;
  out["remat"] = {{"policy", remat.policy},
                  {"budget_bytes", orNull(remat.budgetBytes)},
                  {"retained", remat.retained},
                  {"recomputed", remat.recomputed},
                  {"recompute_seconds_predicted", remat.recomputeSecondsPredicted},
                  {"recompute_fraction", remat.recomputeFraction},
                  {"time_lower_bound", orNull(remat.timeLowerBound)},
                  {"gap", orNull(remat.gap)}};
  out["split"] = {{"parts", r.split.parts}, {"chains", r.split.chains}};
  out["prediction"] = {{"step_seconds", orNull(r.prediction.stepSeconds)},
                       {"rates_from", r.prediction.ratesFrom}};
  // Where nothing was compared, null says so; false would be a verdict.
  out["verify"] = {{"identical", r.verify ? json(r.verify->identical) : json(nullptr)},
                   {"compared", r.verify ? r.verify->compared : 0}};
  if (r.verify) {
    out["verify"]["steps"] = r.verify->steps;
    out["verify"]["bytes"] = r.verify->bytes;
    out["verify"]["difference"] = r.verify->identical ? json(nullptr) : json(r.verify->difference);
  }
  out["data"] = r.data;
  out["data_preparation"] = r.dataPreparation;
  out["data_use"] = {{"samples", r.dataUse.samples},
                     {"used", r.dataUse.used},
                     {"used_in_epoch", r.dataUse.usedInEpoch}};
  out["classes"] = r.classes;
  out["bad_samples"] = {{"samples", r.badSamples.samples},
                        {"times", r.badSamples.times},
                        {"reasons", r.badSamples.reasons}};
  out["optimizer"] = r.optimizer;
  out["schedule"] = r.schedule;
  out["seed"] = r.seed;
  out["interrupted"] = r.interrupted;
  out["seconds"] = r.seconds;
  out["loader_wait_seconds"] = r.loading.waitSeconds;
  out["loading"] = {{"workers", r.loading.workers},
                    {"wait_share", r.loaderWaitShare()},
                    {"read_cpu_seconds", r.loading.readSeconds},
                    {"cores_needed", r.coresNeededToLoad()}};
  out["epochs"] = json::array();
  for (const EpochReport &e : r.epochs)
    out["epochs"].push_back({{"epoch", e.epoch},
                             {"steps", e.steps},
                             {"loss", e.loss},
                             {"accuracy", orNull(e.accuracy)},
                             {"seconds", e.seconds}});
  out["evaluations"] = evaluationsJson(r.evaluations);
  out["validation"] = evaluationsJson(r.validations);
  out["best"] = r.best ? bestJson(*r.best) : json();
  out["early_stop"] = nullptr;
  if (r.earlyStop)
    out["early_stop"] = {{"epoch", r.earlyStop->epoch},
                         {"step", r.earlyStop->step},
                         {"reason", r.earlyStop->reason}};
  out["checkpoint"] = nullptr;
  if (r.checkpoint)
    out["checkpoint"] = {
        {"directory", r.checkpoint->directory},      {"kept", r.checkpoint->kept},
        {"written", r.checkpoint->written},          {"copy_bytes", r.checkpoint->copyBytes},
        {"copy_seconds", r.checkpoint->copySeconds}, {"wait_seconds", r.checkpoint->waitSeconds}};
  out["load_partial"] = nullptr;
  if (r.partialLoad)
    out["load_partial"] = {{"file", r.partialLoad->file},
                           {"loaded", r.partialLoad->loaded},
                           {"initialized", r.partialLoad->initialized},
                           {"left_out", r.partialLoad->leftOut}};
  auto classesJson = [&](const std::optional<ClassCounts> &counts) {
    return counts ? classCountsJson(*counts, r.classes) : json();
  };
  out["classification"] = {{"test", classesJson(r.testClasses)},
                           {"validation", classesJson(r.validationClasses)}};
  out.update(originJson(r.origin));
  out["monitor"] = monitorJson(r.monitor);
  out["nvml"] = r.nvml ? nvmlJson(*r.nvml, r.monitor) : json(nullptr);
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Status writeReport(const std::string &path, const TrainingReport &report) {
  return writeFileAtomically(path, reportJson(report));
}

} // namespace gc::runtime
