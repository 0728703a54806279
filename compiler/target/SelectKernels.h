//===- SelectKernels.h - how each op runs -----------------------*- C++ -*-===//
#ifndef GC_COMPILER_TARGET_SELECTKERNELS_H
#define GC_COMPILER_TARGET_SELECTKERNELS_H

#include "compiler/target/Target.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace gc {
/// Gives the target of a compilation.
using TargetOf = std::function<std::shared_ptr<Target>(mlir::MLIRContext *)>;

/// What the pass is called where no command line can name it.
inline constexpr llvm::StringLiteral kSelectKernels = "gc-select-kernels";

/// Lets the target decide how each op runs (library call, generated kernels, or nothing) and writes
/// the scratch it needs into `gc.workspace`, so that memory can be planned. An op that the target
/// cannot run is an error. `lean`: see Target. `argument` is the pass's name on a command line.
std::unique_ptr<mlir::Pass> createSelectKernelsPass(TargetOf targetOf, bool lean,
                                                    llvm::StringRef argument = kSelectKernels);
} // namespace gc

#endif
