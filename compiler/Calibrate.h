//===- Calibrate.h - a machine's rates from profiles ------------*- C++ -*-===//
//
// Plain types only, as in Compile.h.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CALIBRATE_H
#define GC_COMPILER_CALIBRATE_H

#include "compiler/Compile.h"
#include <string>
#include <utility>
#include <vector>

namespace gc {

/// A network and the files that gc-run --profile wrote for it: the same step, several times.
struct ProfiledNetwork {
  std::string text; // gc IR
  std::vector<std::string> profiles;
};

struct Calibration {
  std::string error;                                 // why there is none; empty when all is well
  std::string device;                                // that was measured: "cpu", "cuda"
  std::vector<std::pair<std::string, double>> rates; // the roofline, by name
  struct Fit {
    std::string model;
    double measuredSeconds = 0, predictedSeconds = 0; // of a step
  };
  std::vector<Fit> fits;

  /// What --costs reads: {machine, device, threads, roofline{...}, networks[...]}.
  std::string json(const std::string &machine, int threads) const;
};

/// The rates that explain the measured ops best. `options` are what the networks were compiled with
/// (device, target, library, threads); what they do not exercise keeps the target's own rate.
Calibration calibrate(const std::vector<ProfiledNetwork> &networks, const CompileOptions &options);

} // namespace gc

#endif
