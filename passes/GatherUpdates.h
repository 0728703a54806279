//===- GatherUpdates.h - updates that follow each other ---------*- C++ -*-===//
#ifndef GC_PASSES_GATHERUPDATES_H
#define GC_PASSES_GATHERUPDATES_H

#include "passes/PlanMemory.h"

namespace gc {

/// Moves the updates of a placed step down, into as few runs as its peak allows, and places the
/// step again; for targets that start all updates of a run at once. Where the arena would become
/// larger, fewer move or none. `memory` is the plan of the module as it is, made with `options`.
mlir::FailureOr<MemoryPlan> gatherUpdates(mlir::ModuleOp module, MemoryPlan memory,
                                          const PlanMemoryOptions &options);

} // namespace gc

#endif
