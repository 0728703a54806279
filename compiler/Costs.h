//===- Costs.h - measured costs of ops --------------------------*- C++ -*-===//
#ifndef GC_COMPILER_COSTS_H
#define GC_COMPILER_COSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/analysis/OpCosts.h"
#include <optional>
#include <string>
#include <vector>

namespace gc {

/// What a file of costs has to agree with, besides the ops themselves.
struct CostsFor {
  int64_t microBatches = 1;
  int threads = 1;
  bool fastest = false; // of a profile, the least seconds of an op instead of the median
};

/// Numbers the ops of each list (`gc.op`, which commands and profiles carry) as the pipeline left
/// them: before any is recomputed or moved. Without a file that is all. With one, OpCosts
/// knows what was measured: the seconds of each op where `file` is a profile of this very step
/// (gc-run --profile), what the machine does in a second where it is a calibration
/// (gc-run --calibrate). Returns why the file cannot be used, in one line that says
/// what to do; empty when all is well. Warns where it was measured with other threads.
std::string setCosts(mlir::ModuleOp module, const std::string &file, const CostsFor &step);

/// What a file of costs has measured, before it is known which step it is of.
struct MeasuredCosts {
  std::string device;                        // that the profile is of
  std::optional<Roofline> roofline;          // of a calibration
  std::optional<double> inputBytesPerSecond; // likewise, where it was measured
  /// Of a profile: ops of a micro-batch and a step that were not recomputed. Of a calibration on
  /// CUDA: what can run two ways, each way.
  struct Op {
    std::string kind; // "conv2d"
    double flops = 0, bytes = 0, seconds = 0;
    std::string implementation; // of its first command
    bool isByLibrary() const { return implementation.starts_with("cuDNN"); }
  };
  std::vector<Op> ops;
  /// Of a calibration on CUDA: how many times as fast as its roofline says the products of a class
  /// are (target/ShapeClass.h).
  struct ClassSpeed {
    std::string shapeClass;
    bool byLibrary = false;
    double speed = 1;
  };
  std::vector<ClassSpeed> classSpeeds;
};
/// Reads it; returns why it cannot be used as setCosts does.
std::string readCosts(const std::string &file, MeasuredCosts &costs);
/// The same for the text of a calibration; messages call it `name`.
std::string readRates(const std::string &text, const std::string &name, MeasuredCosts &costs);

} // namespace gc

#endif
