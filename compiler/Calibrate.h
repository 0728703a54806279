//===- Calibrate.h - a machine's rates from profiles ------------*- C++ -*-===//
//
// Plain types only, as in Compile.h.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CALIBRATE_H
#define GC_COMPILER_CALIBRATE_H

#include "compiler/Compile.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gc {

/// A network and the files that gc-run --profile wrote for it: the same step, several times. A
/// network may be there more than once, with another library each time: then rates are fitted to
/// the faster way of each op.
struct ProfiledNetwork {
  std::string text; // gc IR
  std::vector<std::string> profiles;
  std::string cudaLibrary{}; // that it ran with; empty: what the options say
};

/// "conv2d" of "layer1.0.conv1:conv2d" or "conv2d@model.mlir:12", as profiles name ops.
std::string opKind(const std::string &name);

struct Calibration {
  std::string error;                                 // why there is none; empty when all is well
  std::string device;                                // that was measured: "cpu", "cuda"
  std::vector<std::pair<std::string, double>> rates; // the roofline, by name
  struct Fit {
    std::string model;
    double measuredSeconds = 0, predictedSeconds = 0; // of a step
  };
  std::vector<Fit> fits;
  double inputBytesPerSecond = 0; // how fast an input's buffer is filled; 0: not measured

  // Of ops that a target has two ways to run. Nothing where it has one way for all.
  struct ProductClass {
    std::string name; // compiler/target/ShapeClass.h
    bool byLibrary = false;
    size_t ops = 0;
    double flopsPerSecond = 0;
    double speed = 0; // how many times that of the fitted rates
  };
  std::vector<ProductClass> classes;
  struct MeasuredOp {
    std::string kind;
    double flops = 0, bytes = 0;
    bool byLibrary = false;
    double seconds = 0; // the mean of equal ops
  };
  std::vector<MeasuredOp> ops;

  /// What --costs reads: {machine, device, threads, roofline{...}, networks[...]}, and
  /// input_bytes_per_second where it is known; of a GPU product_classes[...] and measured_ops[...].
  std::string json(const std::string &machine, int threads) const;
};

/// The rates that explain the measured ops best. `options` are what the networks were compiled with
/// (device, target, library, threads); what they do not exercise keeps the target's own rate.
/// `startSeconds` is what starting a command takes, where that was measured by itself.
Calibration calibrate(const std::vector<ProfiledNetwork> &networks, const CompileOptions &options,
                      std::optional<double> startSeconds = std::nullopt);

/// Why the text of a calibration cannot be used, in one line; empty where it can.
std::string refuseCalibration(const std::string &text, const std::string &name);

} // namespace gc

#endif
