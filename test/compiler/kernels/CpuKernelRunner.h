//===- CpuKernelRunner.h - Kernels that only the CPU has ------------------===//
#ifndef GC_TEST_COMPILER_KERNELS_CPUKERNELRUNNER_H
#define GC_TEST_COMPILER_KERNELS_CPUKERNELRUNNER_H

#include "compiler/cpu/kernels/KernelEmitter.h"
#include "test/compiler/kernels/KernelRunner.h"

namespace gc::test {

/// Runs the dispatch that `emit` makes on the tensors, which it changes.
void runNamed(llvm::function_ref<cpu::KernelDispatch(cpu::KernelEmitter &)> emit,
              std::vector<Tensor> &buffers);

} // namespace gc::test

#endif // GC_TEST_COMPILER_KERNELS_CPUKERNELRUNNER_H
