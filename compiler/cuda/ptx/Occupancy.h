//===- Occupancy.h - How many blocks a multiprocessor holds ---------------===//
#ifndef GC_COMPILER_CUDA_PTX_OCCUPANCY_H
#define GC_COMPILER_CUDA_PTX_OCCUPANCY_H

#include "compiler/cuda/ptx/CompileToPtx.h"

namespace gc::cuda {

/// Fills blocksPerMultiprocessor, occupancy and limiter from registers, sharedBytes and
/// threadsPerBlock. Where several limits are equal, the first of threads, blocks, registers and
/// shared is named. 0 blocks: the kernel cannot be launched.
void computeOccupancy(KernelResources &kernel, const DeviceModel &device);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_PTX_OCCUPANCY_H
