// What this machine does in a second, by running small networks.
#ifndef GC_TOOLS_CALIBRATION_MEASUREMACHINE_H
#define GC_TOOLS_CALIBRATION_MEASUREMACHINE_H

#include "compiler/Calibrate.h"
#include "runtime/Error.h"

#include <functional>
#include <string>

struct MeasureLimits {
  int rounds = 3;
  double enoughSeconds = 0; // after which no network is run once more; 0: no limit
  double mostSeconds = 0;   // by which each must have been run once; 0: no limit
  std::function<void(int round)> afterRound = [](int) {};
};

struct MeasuredMachine {
  gc::Calibration calibration;
  std::string cpu; // as plans name it: "znver4"
  int threads = 0;

  double busy = 0; // the part of the time in which the first thread waited for a CPU

  /// What --costs reads, and how busy the machine was.
  std::string json() const;
};

/// From here on, rates are those of a machine that does something else as well.
constexpr double kBusy = 0.1;
constexpr const char *kBusyKey = "busy";

/// Trains each network of the calibration for some steps on the cpu device, several times in turn,
/// and fits the rates to the measured ops; also measures how fast a loader fills an input buffer.
/// Fails (run failed) where that takes longer than it may.
gc::runtime::Result<MeasuredMachine> measureMachine(int threads, const MeasureLimits &limits);

#endif // GC_TOOLS_CALIBRATION_MEASUREMACHINE_H
