//===- EmitPtx.h - Lowered kernels to PTX ---------------------------------===//
#ifndef GC_COMPILER_CUDA_PTX_EMITPTX_H
#define GC_COMPILER_CUDA_PTX_EMITPTX_H

#include "compiler/cuda/ptx/KernelSignature.h"
#include "llvm/Support/Error.h"

namespace gc::cuda {

struct EmittedPtx {
  std::string ptx;
  std::string llvm; // optimized IR; only where asked for
};

/// Translates lowered kernels to LLVM IR, optimizes and emits them. Threads may call it at the same
/// time for different modules. A kernel that calls a function is an error that names both.
llvm::Expected<EmittedPtx> emitPtx(mlir::gpu::GPUModuleOp kernels,
                                   llvm::ArrayRef<KernelSignature> signatures,
                                   const DeviceModel &device, bool wantLLVM);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_PTX_EMITPTX_H
