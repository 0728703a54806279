// The directory of --log-dir: TensorBoard's event file, metrics.csv, metrics.jsonl. A failure to
// write must not end training: it is told after.
#ifndef GC_RUNTIME_TRAINER_RUNLOG_H
#define GC_RUNTIME_TRAINER_RUNLOG_H

#include "runtime/monitor/DeviceSampler.h"
#include "runtime/report/EventFile.h"
#include "runtime/report/MetricFiles.h"
#include "runtime/trainer/StepExecutor.h"
#include "runtime/trainer/TrainPlan.h"

#include <optional>

namespace gc::runtime {

class RunLog {
public:
  RunLog() = default; // of nothing: all calls do nothing
  /// `from`: the steps that are done. Fails (bad input) where the directory cannot be written to.
  Status open(const TrainOptions &options, const TrainingReport &report, uint64_t from);
  bool isOpen() const { return events.has_value(); }

  /// After a step that is complete and in the report.
  void step(uint64_t step, uint64_t epoch, const TrainingReport &report,
            std::optional<double> learningRate);
  void evaluation(const EvaluationReport &evaluation, Split split);
  void device(const std::optional<DeviceSample> &sample, uint64_t step);
  /// Of each parameter, and of each gradient that the plan keeps, where this step has its turn.
  void histograms(uint64_t step, StepExecutor &executor);
  bool wantsHistograms(uint64_t step) const;
  void end(bool isSuccess);

  const Status &result() const { return written; }

private:
  bool goesOn() const { return events && written; } // nothing has failed yet
  void note(Status result);
  void scalar(const std::string &tag, uint64_t step, double value);

  std::optional<EventFile> events;
  std::optional<MetricFiles> metrics;
  uint64_t histogramsEvery = 0;
  Status written;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_RUNLOG_H
