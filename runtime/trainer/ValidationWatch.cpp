#include "runtime/trainer/ValidationWatch.h"

#include "runtime/process/Nearest.h"

#include <fmt/format.h>

#include <cmath>

namespace gc::runtime {

Result<MonitoredMetric> parseMonitoredMetric(const std::string &text) {
  size_t colon = text.find(':');
  MonitoredMetric monitored;
  monitored.metric = text.substr(0, colon);
  if (monitored.metric != "loss" && monitored.metric != "accuracy" && monitored.metric != "top5")
    return badInput(
        fmt::format("--monitor={}: expected loss, accuracy or top5, and :min or :max "
                    "behind it{}",
                    text, didYouMean(nearestName(monitored.metric, {"loss", "accuracy", "top5"}))));
  monitored.isMin = monitored.metric == "loss";
  if (colon == std::string::npos)
    return monitored;
  std::string mode = text.substr(colon + 1);
  if (mode != "min" && mode != "max")
    return badInput(fmt::format("--monitor={}: expected {}:min or {}:max", text, monitored.metric,
                                monitored.metric));
  monitored.isMin = mode == "min";
  return monitored;
}

std::optional<double> ValidationWatch::valueOf(const EvaluationReport &evaluation) const {
  if (settings.monitored.metric == "loss")
    return evaluation.loss;
  return settings.monitored.metric == "accuracy" ? evaluation.accuracy : evaluation.topFive;
}

Result<bool> ValidationWatch::add(const EvaluationReport &validation) {
  state_.validatedStep = validation.step;
  std::optional<double> value = valueOf(validation);
  if (!value)
    return badInput(fmt::format(
        "--monitor={}: this plan's evaluation has no such metric{}", settings.monitored.text(),
        settings.monitored.metric == "top5" ? "; it takes a classifier of six classes or more"
                                            : ""));
  if (!std::isfinite(*value)) {
    if (!settings.patience)
      return false;
    return runFailed(fmt::format(
        "the validation {} is {} after step {}{}; --early-stop ends the run",
        settings.monitored.metric, *value, validation.step,
        state_.best
            ? fmt::format(", the best was {:.6g} after step {}", *state_.best, state_.bestStep)
            : ""));
  }
  auto isBetter = [&](double than, double by) {
    return settings.monitored.isMin ? *value + by < than : *value - by > than;
  };
  // Lightning keeps two numbers: the best of all, and the last that was an improvement.
  if (!state_.reference || isBetter(*state_.reference, settings.minDelta)) {
    state_.reference = value;
    state_.waited = 0;
  } else {
    ++state_.waited;
  }
  if (state_.best && !isBetter(*state_.best, 0))
    return false;
  state_.best = value;
  state_.bestStep = validation.step;
  state_.bestEpoch = validation.epoch;
  return true;
}

std::string ValidationWatch::reason() const {
  return fmt::format(
      "the validation {} has not improved{} in {} validation{}; the best was {:.6g} "
      "after step {}",
      settings.monitored.metric,
      settings.minDelta > 0 ? fmt::format(" by more than {:g}", settings.minDelta) : "",
      state_.waited, state_.waited == 1 ? "" : "s", state_.best.value_or(0), state_.bestStep);
}

void ValidationWatch::resume(const WatchState &state) {
  uint64_t validatedStep = state.validatedStep;
  if (state.metric == state_.metric)
    state_ = state;
  else if (!state.metric.empty())
    fmt::print(stderr,
               "warning: the checkpoint watched {}, this run watches {}: best and patience begin "
               "anew\n",
               state.metric, state_.metric);
  state_.validatedStep = validatedStep;
}

std::optional<BestReport> ValidationWatch::best() const {
  if (!state_.best)
    return std::nullopt;
  return BestReport{settings.monitored.text(), *state_.best, state_.bestEpoch, state_.bestStep, ""};
}

} // namespace gc::runtime
