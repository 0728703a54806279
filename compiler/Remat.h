//===- Remat.h - which plan a step gets -------------------------*- C++ -*-===//
#ifndef GC_COMPILER_REMAT_H
#define GC_COMPILER_REMAT_H

#include "compiler/Compile.h"
#include "passes/StepPlans.h"
#include <nlohmann/json.hpp>

namespace gc {

/// Which of several numbers of micro-batches, and which plan for it.
struct StepDecision {
  int exitCode = 0; // not 0: there is none, and `error` says why
  std::string error;
  size_t candidate = 0;
  RematPlan plan;
};

/// Follows options.budgetBytes, else options.remat, on candidates that differ in their
/// micro-batches: the fastest by predicted time that fits. A budget that cannot be met is exit code
/// 3, with the smallest that can.
StepDecision decide(std::vector<StepPlans> &candidates, const CompileOptions &options);

/// The "remat" and "timeline" keys of the compile report.
void reportDecision(const StepDecision &decision, const StepPlans &plans,
                    const CompileOptions &options, nlohmann::json &report);

/// What was chosen and why, for people: micro-batches, what is recomputed, what is alive at the
/// peak. `rejected` says which numbers of micro-batches were not looked at, and why; may be empty.
std::string explainDecision(const StepDecision &decision, std::vector<StepPlans> &candidates,
                            const CompileOptions &options, const std::string &rejected);

/// Peak against time at `points` budgets from no recomputation to the smallest feasible: a list of
/// {budget_bytes, peak_bytes, step_seconds_predicted, recompute_fraction, time_lower_bound,
/// micro_batches, recomputed}.
nlohmann::json paretoTable(std::vector<StepPlans> &candidates, int points);

/// The place where most is alive, and what is.
struct PeakFacts {
  std::string op; // empty: the end of the step
  int64_t bytes = 0;
  struct Alive {
    std::string name;
    std::string kind;
    int64_t bytes;
  };
  std::vector<Alive> alive;  // largest first
  std::vector<int64_t> live; // at each op
};
PeakFacts peakOf(const FunctionGraph &function, const RematPlan &plan);

/// "1048576 bytes (1.0 MiB)"
std::string bytesText(int64_t bytes);

} // namespace gc

#endif
