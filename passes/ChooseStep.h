//===- ChooseStep.h - which plan a step gets --------------------*- C++ -*-===//
//
// The one way from steps whose kernels are chosen to a placed step: gc-opt's passes and the
// compiler both take it, so that both choose the same for one budget.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_CHOOSESTEP_H
#define GC_PASSES_CHOOSESTEP_H

#include "passes/StepPlans.h"

namespace gc {

/// What of a model runs in parts of the batch, one after the other (--gc-split).
struct StepSplit {
  int64_t parts = 1;
  std::string chains;                                     // as --gc-split takes them
  std::vector<std::pair<std::string, std::string>> names; // of the first and last op of each
};

/// One way to run a step.
struct StepCandidate {
  mlir::ModuleOp module; // may be that of other candidates too
  StepPlans plans;
  bool lean = false; // whether kernels were chosen for little scratch instead of speed
  StepSplit split{};
};

/// Appends the candidates of a module whose micro-batch is `train`: with all input slots and, where
/// memory is `scarce`, with one.
void addCandidates(mlir::ModuleOp module, mlir::func::FuncOp train, int64_t microBatches, bool lean,
                   bool scarce, const PlanMemoryOptions &memory,
                   std::vector<StepCandidate> &candidates);

/// What a user wishes of a step's memory: a budget or a fixed policy.
struct MemoryWishes {
  int64_t budgetBytes = 0;               // 0: none, and the policy decides
  std::string policy = "none";           // none, all, sqrt or checkpoints
  int checkpoints = 0;                   // for the last of them
  std::string policyAsWritten;           // how messages repeat the policy, such as "--remat=sqrt"
  std::string budgetOption = "--budget"; // how messages call the budget
};

/// Which candidate, and which of its plans.
struct StepDecision {
  enum class Outcome { Chosen, BadWish, BudgetMissed };
  Outcome outcome = Outcome::Chosen;
  std::string error; // where nothing was chosen: why, and what to do
  size_t candidate = 0;
  RematPlan plan;
  // Where the budget was missed:
  int64_t smallestBytes = 0; // of all plans that were found
  int64_t lowestBytes = 0;   // proven: no plan needs less
};

/// A proven bound: no plan of any candidate needs fewer bytes.
int64_t lowestBytes(const std::vector<StepCandidate> &candidates);

/// The candidate that has the smallest arena of all, the first of equals, and that arena's bytes.
std::pair<size_t, int64_t> smallestStep(std::vector<StepCandidate> &candidates);

/// The fastest plan by predicted time that fits the budget; equal seconds: the first candidate, so
/// fewer micro-batches come first. Without a budget: what the policy makes of the first candidate.
StepDecision chooseStep(std::vector<StepCandidate> &candidates, const MemoryWishes &wishes);

/// Rewrites the candidate's module as the plan says and gives every byte its place: the arena has
/// the size that was scored. Fails, with an error at the module, only where the compiler itself is
/// at fault.
mlir::FailureOr<MemoryPlan> placeStep(StepCandidate &candidate, const RematPlan &plan,
                                      PlanMemoryOptions memory);

} // namespace gc

#endif
