//===- ArgumentAccess.h - What a kernel does with its arguments -------------===//
#ifndef GC_COMPILER_LANGUAGE_ARGUMENTACCESS_H
#define GC_COMPILER_LANGUAGE_ARGUMENTACCESS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallVector.h"

namespace gc::kernels {

struct ArgumentAccess {
  /// Whether the kernel reads what the argument held before. A kernel that stores to an argument
  /// before it first loads from it (a sum that starts at zero) reads only what it wrote itself:
  /// that does not count.
  bool reads = false;
  bool writes = false;
};

/// The accesses of the first `count` arguments of a kernel, found in its loads and stores. An op
/// whose effect is unknown counts as both.
llvm::SmallVector<ArgumentAccess> argumentAccess(mlir::FunctionOpInterface kernel, unsigned count);

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_ARGUMENTACCESS_H
