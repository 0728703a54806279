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

} // namespace gc

#endif
