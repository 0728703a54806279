//===- KernelSignature.h - What a kernel's launch and buffers are ---------===//
#ifndef GC_COMPILER_CUDA_PTX_KERNELSIGNATURE_H
#define GC_COMPILER_CUDA_PTX_KERNELSIGNATURE_H

#include "compiler/cuda/DeviceModel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include <array>
#include <string>
#include <vector>

namespace gc::cuda {

/// Every address of shared memory that we declare, so that 16 bytes are one access.
constexpr int64_t sharedAlignment = 16;

struct KernelSignature {
  std::string name;
  mlir::Location location;
  llvm::SmallVector<int64_t> bufferBytes;
  std::array<int32_t, 3> block;
  int threads;   // of a block
  int minBlocks; // 0: not asked for
  int64_t staticSharedBytes;
  int64_t dynamicSharedBytes;
};

/// Reads and checks the kernels of `kernels` against what compileKernels promises and what the
/// device can launch. Reports the first wrong one.
mlir::FailureOr<std::vector<KernelSignature>> readSignatures(mlir::gpu::GPUModuleOp kernels,
                                                             const DeviceModel &device);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_PTX_KERNELSIGNATURE_H
