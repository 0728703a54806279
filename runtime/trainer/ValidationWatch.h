// What follows from validations: which one was the best, and when to stop. Counts as PyTorch
// Lightning's EarlyStopping and ModelCheckpoint do.
#ifndef GC_RUNTIME_TRAINER_VALIDATIONWATCH_H
#define GC_RUNTIME_TRAINER_VALIDATIONWATCH_H

#include "runtime/report/TrainingReport.h"
#include "runtime/weights/Checkpoint.h"

#include <optional>
#include <string>

namespace gc::runtime {

/// What --monitor names: a metric of validations, and whether less of it is better.
struct MonitoredMetric {
  std::string metric = "loss"; // loss, accuracy or top5
  bool isMin = true;

  std::string text() const { return metric + (isMin ? ":min" : ":max"); }
};
/// `METRIC`, `METRIC:min` or `METRIC:max`.
Result<MonitoredMetric> parseMonitoredMetric(const std::string &text);

struct WatchSettings {
  MonitoredMetric monitored;
  std::optional<uint64_t> patience; // validations without improvement; nothing: never stop
  double minDelta = 0;              // an improvement is more than that
};

class ValidationWatch {
public:
  explicit ValidationWatch(const WatchSettings &settings) : settings(settings) {
    state_.metric = settings.monitored.text();
  }

  /// The metric of an evaluation; nothing where it has none.
  std::optional<double> valueOf(const EvaluationReport &evaluation) const;
  /// Takes a validation; true where it is the best so far. Fails (run failed) where training must
  /// stop because the metric is not finite.
  Result<bool> add(const EvaluationReport &validation);
  /// Whether there have been as many validations in a row without an improvement as patience
  /// allows.
  bool stops() const { return settings.patience && state_.waited >= *settings.patience; }
  /// `validation loss has not improved by more than 0.001 in 3 validations; …`
  std::string reason() const;

  const WatchState &state() const { return state_; }
  /// Goes on from a checkpoint's; with another metric from the beginning, which is told.
  void resume(const WatchState &state);
  std::optional<BestReport> best() const;

private:
  WatchSettings settings;
  WatchState state_;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_VALIDATIONWATCH_H
