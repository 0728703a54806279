// Files made of command times: a trace to look at and a profile for the compiler.
#ifndef GC_RUNTIME_REPORT_COMMANDFILES_H
#define GC_RUNTIME_REPORT_COMMANDFILES_H

#include "runtime/Error.h"
#include "runtime/Measurements.h"
#include "runtime/report/StepData.h"
#include "runtime/report/TrainingReport.h"

#include <string>
#include <vector>

namespace gc::runtime {

/// The last step as a Chrome/Perfetto trace (open it in ui.perfetto.dev): a track for each kind of
/// command (forward, backward, recomputed, updates, …), and as counters the bytes of the arena that
/// are alive at each command, by kind, and the monitor's samples of the whole run, where they are
/// given. `commands` are those of the plan, list by list in their order. Atomic.
Status writeTrace(const std::string &path, const std::string &model, const StepPhases &step,
                  const std::vector<CommandTime> &commands,
                  const MonitorSummary *monitor = nullptr);

/// Seconds of each command, which `gc-compile --costs` reads. Atomic.
///   {"model", "device", "threads", "batch", "micro_batches", "ops": [{"op", "name", "list",
///    "implementation", "seconds", "median_seconds", "least_seconds", "seconds_predicted",
///    "executions", "flops", "bytes_moved", "recomputed"}]}
/// `seconds` is the mean. Commands of one op share its number; the first has the op's flops, bytes
/// and prediction.
Status writeProfile(const std::string &path, const TrainingReport &run,
                    const std::vector<CommandTime> &commands);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_COMMANDFILES_H
