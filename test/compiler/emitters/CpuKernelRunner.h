//===- CpuKernelRunner.h - Kernels that only the CPU has ------------------===//
#ifndef GC_TEST_COMPILER_EMITTERS_CPUKERNELRUNNER_H
#define GC_TEST_COMPILER_EMITTERS_CPUKERNELRUNNER_H

#include "compiler/cpu/loops/LoopEmitter.h"
#include "test/compiler/emitters/KernelRunner.h"

namespace gc::test {

/// Runs the dispatch that `emit` makes on the tensors, which it changes.
void runNamed(llvm::function_ref<cpu::KernelDispatch(cpu::LoopEmitter &)> emit,
              std::vector<Tensor> &buffers);

} // namespace gc::test

#endif // GC_TEST_COMPILER_EMITTERS_CPUKERNELRUNNER_H
