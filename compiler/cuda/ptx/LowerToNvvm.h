//===- LowerToNvvm.h - GPU kernels to the NVVM dialect -------------------===//
#ifndef GC_COMPILER_CUDA_PTX_LOWERTONVVM_H
#define GC_COMPILER_CUDA_PTX_LOWERTONVVM_H

#include "mlir/IR/BuiltinOps.h"

namespace gc::cuda {

/// On each gpu.module: the width of its indices in bits, an integer attribute.
constexpr llvm::StringLiteral indexBitsAttribute = "gc.index_bits";

/// Takes away what has no instructions: math functions, affine operations, views of memrefs,
/// vectors of several dimensions. Structured control flow stays.
mlir::LogicalResult simplifyKernels(mlir::ModuleOp module);

/// Lowers the gpu.func of each gpu.module in `module` to llvm.func with one bare pointer for each
/// memref. Reports what cannot be lowered as a diagnostic.
mlir::LogicalResult lowerKernels(mlir::ModuleOp module);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_PTX_LOWERTONVVM_H
