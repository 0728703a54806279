//===- PeakFacts.h - what is alive where most is ----------------*- C++ -*-===//
#ifndef GC_PASSES_ANALYSIS_PEAKFACTS_H
#define GC_PASSES_ANALYSIS_PEAKFACTS_H

#include "passes/algorithms/rematerialization/Rematerialization.h"
#include "passes/analysis/StepGraphOf.h"

namespace gc {

/// The place of a step where most is alive, and what is.
struct PeakFacts {
  std::string op; // empty: the end of the step
  int64_t bytes = 0;
  struct Alive {
    std::string name;
    std::string kind;
    int64_t bytes;
  };
  std::vector<Alive> alive;  // largest first
  std::vector<int64_t> live; // bytes at each op
};
PeakFacts peakOf(const FunctionGraph &function, const RematPlan &plan);

/// "1048576 bytes (1.0 MiB)"
std::string bytesText(int64_t bytes);

} // namespace gc

#endif
