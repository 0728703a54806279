//===- StoreKernels.h - Launches and compiled kernels in a plan -----------===//
#ifndef GC_COMPILER_CUDA_STOREKERNELS_H
#define GC_COMPILER_CUDA_STOREKERNELS_H

#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/cuda/ptx/CompileToPtx.h"

namespace gc::cuda {

/// The command of a launch with these buffers. Its kernel is a number of the emitter until kernels
/// are stored.
plan::LaunchT launchCommand(const KernelLaunch &launch, std::vector<uint32_t> buffers);

/// Moves the images (not the resources) of `compiled` into what a plan holds. Images group kernels
/// as it suits the assembler; `launches` are renumbered to name symbols, and get their shared
/// memory.
plan::KernelsT storeKernels(KernelImages &compiled, llvm::ArrayRef<plan::LaunchT *> launches);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_STOREKERNELS_H
