//===- PlanStep.h - the passes that decide what is kept ---------*- C++ -*-===//
#ifndef GC_PASSES_PLANSTEP_H
#define GC_PASSES_PLANSTEP_H

#include "mlir/Pass/Pass.h"
#include <string>

namespace gc {

/// Why a policy would ignore that a budget or a number of checkpoints was given; empty if it does
/// not.
std::string ignoredByPolicy(llvm::StringRef policy, bool budget, bool checkpoints);

/// Whether `pass` is --gc-plan-step or --gc-rematerialize and has failed because its budget cannot
/// be met.
bool missedBudget(mlir::Pass *pass);

} // namespace gc

#endif
