//===- Parallel.h - Independent pieces of work on several threads ---------===//
#ifndef GC_COMPILER_LOWERING_PARALLEL_H
#define GC_COMPILER_LOWERING_PARALLEL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <cstddef>

namespace gc::codegen {

/// Calls `work` once for each index below `count`, on up to `threads` threads (0: as many as the
/// machine has; fewer where the system gives no more). All of it is done whatever fails; the first
/// error in the order of indices is returned, so that the outcome does not depend on the threads.
llvm::Error inParallel(size_t count, unsigned threads,
                       llvm::function_ref<llvm::Error(size_t)> work);

} // namespace gc::codegen

#endif // GC_COMPILER_LOWERING_PARALLEL_H
