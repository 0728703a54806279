//===- StepReport.h - what was decided, and why -----------------*- C++ -*-===//
#ifndef GC_COMPILER_STEPREPORT_H
#define GC_COMPILER_STEPREPORT_H

#include "compiler/Compile.h"
#include "passes/ChooseStep.h"
#include <nlohmann/json.hpp>

namespace gc {

/// The keys "remat", "timeline" and "saved" of the compile report. "saved" tells, in program order,
/// of each value that a step saves when nothing is recomputed:
///   op, name, result   which op of a micro-batch makes it (numbered as Command.op) and which
///   result bytes kept, executions   false: computed again; how often its op runs in a micro-batch
///   seconds            that one more execution of the op takes, as predicted
///   repeatable         whether its op gives the same bits again; what does not is never dropped
///   at_peak            whether it is alive at the peak of the step that recomputes nothing
void reportDecision(const StepDecision &decision, const std::vector<StepCandidate> &candidates,
                    const CompileOptions &options, nlohmann::json &report);

/// The "split" key: what runs in parts of the batch, and what that alone costs where `unsplit`, the
/// step that it was chosen instead of, is another one.
void reportSplit(const StepSplit &split, const StepPlans &plans, const StepPlans &unsplit,
                 nlohmann::json &report);

/// What was chosen and why, for people: micro-batches, what is recomputed, what is alive at the
/// peak. `rejected` says which numbers of micro-batches were not looked at, and why; may be empty.
std::string explainDecision(const StepDecision &decision, std::vector<StepCandidate> &candidates,
                            const CompileOptions &options, const std::string &rejected);

/// Peak against time at `points` budgets from no recomputation to the smallest feasible: a list of
/// {budget_bytes, peak_bytes, step_seconds_predicted, recompute_fraction, time_lower_bound,
/// micro_batches, split_parts, input_slots, recomputed_ops}.
nlohmann::json paretoTable(std::vector<StepCandidate> &candidates, int points);

/// A row of that kind for what a fixed policy chose; its budget is its peak.
nlohmann::json policyRow(const std::vector<StepCandidate> &candidates,
                         const StepDecision &decision);

} // namespace gc

#endif
