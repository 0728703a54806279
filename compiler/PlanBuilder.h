//===- PlanBuilder.h - placed IR to a plan file -----------------*- C++ -*-===//
#ifndef GC_COMPILER_PLANBUILDER_H
#define GC_COMPILER_PLANBUILDER_H

#include "compiler/Compile.h"
#include "compiler/target/Target.h"
#include "passes/ChooseStep.h"
#include <nlohmann/json.hpp>

namespace gc {

/// Lowers every op of the placed step for the target and writes the plan. `report` is completed
/// with what is known only here and stored in the plan.
mlir::FailureOr<std::vector<uint8_t>> buildPlan(const StepCandidate &step, const MemoryPlan &memory,
                                                const CompileOptions &options, Target &target,
                                                nlohmann::json &report);

/// How much less the placed step takes than was predicted op by op, because updates that follow
/// each other are one command: what buildPlan would subtract, without the plan being built.
mlir::FailureOr<double> secondsSavedByJoining(const StepCandidate &step, const MemoryPlan &memory,
                                              const CompileOptions &options, Target &target);

} // namespace gc

#endif
