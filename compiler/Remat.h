//===- Remat.h - meeting a memory budget ------------------------*- C++ -*-===//
#ifndef GC_COMPILER_REMAT_H
#define GC_COMPILER_REMAT_H

#include "compiler/Compile.h"
#include "passes/PlanMemory.h"
#include <nlohmann/json.hpp>

namespace gc {

/// Why rematerialization did not happen; exitCode 0 means that it did.
struct RematFailure {
  int exitCode = 0;
  std::string error;
};

/// Follows options.remat or options.budgetBytes: decides, clones, and completes `report` with the
/// "remat" keys. A budget that cannot be met comes back as exit code 3 with the smallest that can.
RematFailure rematerialize(mlir::ModuleOp module, const CompileOptions &options,
                           const PlanMemoryOptions &memory, nlohmann::json &report);

} // namespace gc

#endif
