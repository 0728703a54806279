// What a run found out, as data; everything that is printed or written is made from it. The keys of
// its JSON are a promise to people who script against them.
#ifndef GC_RUNTIME_REPORT_TRAININGREPORT_H
#define GC_RUNTIME_REPORT_TRAININGREPORT_H

#include "runtime/Error.h"
#include "runtime/Measurements.h"
#include "runtime/monitor/Monitor.h"
#include "runtime/plan/Plan_generated.h"
#include "runtime/report/ClassCounts.h"
#include "runtime/report/DeviceReport.h"
#include "runtime/report/OpTimes.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gc::runtime {

struct MemoryReport {
  uint64_t arenaBytes = 0;  // the predicted peak
  uint64_t masterBytes = 0; // of parameters in f32 beside values of half precision; 0: all is f32
  plan::MemoryT planned;    // what it is made of
  MemoryMeasurement measured;
  std::optional<DeviceMemoryReport> device; // where the device has memory of its own
};

struct RematReport {
  std::string policy = "none";
  std::optional<uint64_t> budgetBytes;
  uint64_t retained = 0, recomputed = 0; // values that backward reads
  double recomputeSecondsPredicted = 0, recomputeFraction = 0;
  std::optional<double> timeLowerBound, gap; // where the solver proved one
};

/// What of a step runs in parts of the batch, one part after the other.
struct SplitReport {
  int64_t parts = 1;
  std::string chains; // as gc-compile --split=PARTS:CHAINS takes them
};

/// What the compiler expected of a step, and by whose rates.
struct PredictionReport {
  std::optional<double> stepSeconds; // absent in plans that do not say
  std::string ratesFrom;
};

/// What this run trained of an epoch, which is all of it unless it resumed or was ended within.
struct EpochReport {
  uint64_t epoch = 0, steps = 0; // counted from 1
  double loss = 0;               // mean over its steps
  std::optional<double> accuracy;
  double seconds = 0; // without evaluation
};

/// A split in inference mode, after a step.
struct EvaluationReport {
  uint64_t epoch = 0, step = 0;
  int64_t samples = 0;
  double loss = 0;
  std::optional<double> accuracy;
  std::optional<double> topFive = {}; // of classifiers with more classes
  double seconds = 0;
};

/// The best of all validations up to now, also of those before a run that goes on.
struct BestReport {
  std::string monitor; // "loss:min"
  double value = 0;
  uint64_t epoch = 0, step = 0;
  std::string file; // that holds it; empty: none does
};

/// How training got its samples.
struct LoadingReport {
  int workers = 0;
  double waitSeconds = 0; // that steps waited for a micro-batch
  double readSeconds = 0; // CPU time of the threads that read
};

/// What was kept in the folder of --checkpoint, and what that took.
struct CheckpointReport {
  std::string directory;
  std::vector<std::string> kept;         // files, the last one last
  std::pair<std::string, uint64_t> best; // file and step, where one of them is the best
  uint64_t copyBytes = 0;                // of host memory outside of the arena; 0: no copy
  uint64_t written = 0;
  double copySeconds = 0, waitSeconds = 0; // by which training was held up
};

/// What of a file of weights was taken by --load-partial.
struct PartialLoadReport {
  std::string file;
  uint64_t loaded = 0;
  std::vector<std::string> initialized, leftOut;
};

/// Why training ended before its schedule did.
struct EarlyStopReport {
  uint64_t epoch = 0, step = 0;
  std::string reason;
};

/// How much of the training split is used. An epoch leaves out what its last batch has no room for.
struct DataUse {
  bool endless = false; // made on the way: an epoch has no meaning
  int64_t samples = 0, used = 0, usedInEpoch = 0;
};

/// Samples that could not be read and were left out.
struct BadSamplesReport {
  uint64_t samples = 0, times = 0;  // different ones; how often one was met
  std::vector<std::string> reasons; // of the first ones
};

/// The types of a step: of products' factors, of what is saved between ops, and of parameters.
struct PrecisionReport {
  std::string products = "f32", saved = "f32", master = "f32";
};

/// Two plans of one model, held against each other.
struct VerifyReport {
  bool identical = false;
  uint64_t compared = 0; // tensors, over all steps
  uint64_t bytes = 0, steps = 0;
  std::string difference; // the first, in words; empty where there is none
};

/// Where a report comes from: what ran, where, and how it was asked to.
struct OriginReport {
  std::string version, commandLine, host, cpu;
  std::string configuration; // an object of JSON: each flag and its value; empty: not known
};

struct TrainingReport {
  std::string model, device, data, optimizer;
  std::string schedule; // of the learning rate, in words; empty where the plan has none to set
  OriginReport origin;
  std::string dataPreparation;      // what is done to a sample on its way to the model
  std::vector<std::string> classes; // their names, where the data has any
  DataUse dataUse;
  BadSamplesReport badSamples;
  std::vector<std::string> notices; // what the device does otherwise than the plan says
  int threads = 0;
  int64_t batch = 0, microBatches = 0, parameters = 0, trainableParameters = 0, steps = 0;
  uint64_t seed = 0;
  bool interrupted = false;
  uint64_t stepsBefore = 0; // done before a run that goes on from a checkpoint; no part of the JSON
  std::vector<float> loss;  // each step's
  std::vector<double> learningRate; // each step's; empty where they are not known
  std::optional<double> accuracy; // of the last epoch (or of what was run of it), in training mode
  std::vector<EpochReport> epochs;
  std::vector<EvaluationReport> evaluations;                 // of the test split
  std::vector<EvaluationReport> validations;                 // of the validation split
  std::optional<ClassCounts> testClasses, validationClasses; // of the last one, of classifiers
  std::optional<BestReport> best;                            // of validations
  std::optional<EarlyStopReport> earlyStop;
  std::optional<CheckpointReport> checkpoint;
  std::optional<PartialLoadReport> partialLoad;
  std::vector<float> stepSeconds;
  double compileSeconds = 0, seconds = 0;
  LoadingReport loading;
  MemoryReport memory;
  RematReport remat;
  SplitReport split;
  PrecisionReport precision;
  PredictionReport prediction;
  std::vector<OpTime> opTimes;        // where they were asked for; no part of the JSON
  std::optional<VerifyReport> verify; // where it was asked for
  MonitorSummary monitor;
  std::optional<NvmlReport> nvml; // where the device is one that NVML may know

  double stepMedian() const;
  /// Of the time of all steps; 0 where there is none.
  double loaderWaitShare() const;
  /// How many cores reading would have to have so that it keeps pace with the rest of a step.
  double coresNeededToLoad() const;
  /// Of the median step; 0 where no step was run.
  double samplesPerSecond() const;
};

/// {predicted_peak_bytes, lower_bound_bytes, weights_bytes, …, arena_bytes}: what the plan says of
/// memory, for this report and the compiler's.
nlohmann::ordered_json plannedMemoryJson(const MemoryReport &memory);

/// {products, saved, master}, for this report and the compiler's.
nlohmann::ordered_json precisionJson(const PrecisionReport &precision);

/// {version, command_line, host, cpu, configuration}, null where something is not known; for this
/// report and the compiler's.
nlohmann::ordered_json originJson(const OriginReport &origin);

/// `25,557,032 parameters`, and how many of them are trained where that is not all.
std::string parametersText(const TrainingReport &report);

std::string reportJson(const TrainingReport &report);
/// Atomic.
Status writeReport(const std::string &path, const TrainingReport &report);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_TRAININGREPORT_H
