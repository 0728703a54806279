// The rates by which a tool's compilation predicts times on this machine: measured once, kept,
// used from then on.
#ifndef GC_TOOLS_CALIBRATION_MACHINERATES_H
#define GC_TOOLS_CALIBRATION_MACHINERATES_H

#include "compiler/Compile.h"
#include "runtime/Error.h"
#include "runtime/report/OpTimes.h"

#include <functional>
#include <string>

/// Whether the answer to these options depends on how long ops take: a budget, micro-batches by
/// themselves, or a policy of recomputation whose cost is told.
bool asksForTime(const gc::CompileOptions &options);

struct RatesWish {
  bool noCalibrate = false; // neither measure nor use what was measured
  bool measure = false;     // where nothing is known yet; else that is left for another time
  /// What measures: rates of so many threads, as --costs reads them.
  std::function<gc::runtime::Result<std::string>(int threads)> how;
  /// Gets one line for each thing that the user should know.
  std::function<void(const std::string &)> say;
};

/// Measures in a process of its own, and says on standard error what it does.
RatesWish usualWish(bool noCalibrate, bool measure);

/// Fills `options.machine` for a compilation for the CPU; leaves it empty, which means built-in
/// rates, for other devices, with --costs, and where nothing is known and nothing can be measured.
void findMachineRates(gc::CompileOptions &options, const RatesWish &wish);

/// Keeps what ops took in a run with so many threads, for the compilations to come. Does nothing
/// where that is not possible.
void keepOpTimes(const std::vector<gc::runtime::OpTime> &times, int threads);

#endif // GC_TOOLS_CALIBRATION_MACHINERATES_H
