//===- CheckMemory.h - proves a memory plan by replaying it -----*- C++ -*-===//
#ifndef GC_PASSES_CHECKMEMORY_H
#define GC_PASSES_CHECKMEMORY_H

#include "dialects/Gc.h"

namespace gc {

/// What a replay has gone through without a fault.
struct MemoryReplay {
  int64_t ops = 0;
  int64_t reads = 0;     // operands, variables and results that were found intact
  int64_t writes = 0;    // results, workspaces and variables that were written
  int64_t usedBytes = 0; // end of the highest byte that anything occupies
};

/// Replays the functions of a module that gc-plan-memory annotated, on a map from the arena's bytes
/// to what they hold. Knows nothing of liveness or packing, so that it can judge them. Fails with
/// an error at the op that would go wrong and a note at the op that took its bytes.
mlir::FailureOr<MemoryReplay> checkMemory(mlir::ModuleOp module);

} // namespace gc

#endif
