//===- SelectKernels.h - how each op runs on the CPU ------------*- C++ -*-===//
#ifndef GC_COMPILER_CPU_SELECTKERNELS_H
#define GC_COMPILER_CPU_SELECTKERNELS_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace gc::cpu {
/// --gc-select-cpu: decides how each op runs (library call, generated kernels, or nothing) and
/// writes the scratch it needs into `gc.workspace`, so that memory can be planned. An op that the
/// CPU cannot run is an error. `threads` will run the plan; 0: all of this machine.
std::unique_ptr<mlir::Pass> createSelectKernelsPass(int threads);
void registerSelectKernelsPass();
} // namespace gc::cpu

#endif
