// A whole training run: plan, data, weights, loop, reports. What `gc-run` does once it has a plan.
#ifndef GC_RUNTIME_TRAINER_TRAINPLAN_H
#define GC_RUNTIME_TRAINER_TRAINPLAN_H

#include "runtime/Error.h"
#include "runtime/data/OpenData.h"
#include "runtime/nvml/Nvml.h"
#include "runtime/process/OutputCheck.h"
#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/Trainer.h"
#include "runtime/weights/CheckpointFolder.h"

#include <cstdio>
#include <string>

namespace gc::runtime {

class PlanFile;

/// In the directories of --checkpoint and --log-dir: what the run was started with.
constexpr const char *kConfigurationFile = "config.toml";

struct TrainOptions {
  TrainingSchedule schedule;
  std::string data = "synthetic";
  std::string testData, normalize, augment, validation; // see DataOptions; empty: not asked for
  std::string normalizeOfWeights; // what load or resume say; filled in by trainPlan
  std::string device;             // empty: the plan's
  int threads = 0;                // 0: as many as the process may use
  std::string load, save, dumpGradients, resume, checkpoint; // empty: not asked for
  bool loadPartial = false;                                  // what fits; else all must
  std::string saveAs = "F32";                                // the type of --save's floats
  std::optional<KeepRule> keep; // of checkpoints; nothing: the last, and the best of validations
  bool evaluateOnly = false;    // the weights of load or resume, and nothing is trained
  std::string predict;          // with it: the answers; empty: not asked for
  std::string report, logDir, trace, html, profile;
  uint64_t histogramsEvery = 0; // steps, in logDir; 0: none
  bool logGradients = false;    // histograms of gradients must be among them
  bool timeFirstSteps = false;  // cpu: the report gets the seconds of ops in early steps

  std::string nvmlLibrary = nvml::kLibraryName; // watches the device, where it can be watched

  double compileSeconds = 0;
  OriginReport origin;       // for the report
  std::string configuration; // of this run as a file for --config; empty: none is written
  std::FILE *out = stdout;   // header, progress, summary
  ProgressMode progress = ProgressMode::Auto; // None: nothing but errors and warnings

  DataOptions dataOptions() const {
    return {data, testData, normalize, normalizeOfWeights, augment, validation};
  }
};

/// Fails (bad input) where what was asked for cannot be written, is written twice, or is one of the
/// inputs: what the options name, and `otherInputs`.
Status checkOutputs(const TrainOptions &options, std::vector<NamedPath> otherInputs = {});

/// Fails before the first step where anything asked for cannot be had (data, weights, places to
/// write to). Weights, checkpoint and report are written at the end and on an interrupt; a run that
/// fails in between writes its report and leaves every file of before as it was.
Status trainPlan(const PlanFile &plan, const TrainOptions &options);
/// The same for callers that look at the report themselves.
Status trainPlan(const PlanFile &plan, const TrainOptions &options, TrainingReport &report);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_TRAINPLAN_H
