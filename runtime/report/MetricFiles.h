// metrics.csv and metrics.jsonl: a line for each step and each evaluation. Lines are written whole
// and at once, so that a killed run leaves readable files.
#ifndef GC_RUNTIME_REPORT_METRICFILES_H
#define GC_RUNTIME_REPORT_METRICFILES_H

#include "runtime/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace gc::runtime {

constexpr const char *kMetricsCsv = "metrics.csv", *kMetricsJson = "metrics.jsonl";

struct MetricRow {
  uint64_t step = 0, epoch = 0; // from 1 on
  std::string split;            // train, validation or test
  double loss = 0;
  std::optional<double> accuracy, topFive, learningRate;
  double seconds = 0; // of the step, or of the evaluation
};

/// Move-only; owns the open files.
class MetricFiles {
public:
  /// Goes on behind what the files have of the steps up to `from`; 0: begins anew. What a killed
  /// run left behind that step, or half, is cut off. Fails (bad input) where they cannot be
  /// written.
  static Result<MetricFiles> open(const std::string &directory, uint64_t from);
  MetricFiles(MetricFiles &&other) noexcept;
  MetricFiles &operator=(MetricFiles &&) = delete;
  ~MetricFiles();

  Status add(const MetricRow &row);

private:
  MetricFiles() = default;
  struct File {
    std::string path;
    int descriptor = -1;
  };
  std::array<File, 2> files; // CSV, JSON
};

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_METRICFILES_H
