//===- OpCosts.h - how long ops take ----------------------------*- C++ -*-===//
#ifndef GC_PASSES_ANALYSIS_OPCOSTS_H
#define GC_PASSES_ANALYSIS_OPCOSTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace gc {

/// Two numbers that bound any op, and what starting one costs.
struct Roofline {
  double flopsPerSecond = 160e9;
  double bytesPerSecond = 30e9;
  double startSeconds = 5e-6;
};

/// Seconds of ops: measured where a profile has them, else from the roofline.
class OpCosts {
public:
  explicit OpCosts(Roofline roofline = {}) : roofline(roofline) {}
  /// `name` as displayName gives it.
  void setMeasured(llvm::StringRef name, double seconds) { measured[name] = seconds; }
  bool hasMeasured() const { return !measured.empty(); }
  double seconds(mlir::Operation *op) const;

private:
  Roofline roofline;
  llvm::StringMap<double> measured;
};

} // namespace gc

#endif
