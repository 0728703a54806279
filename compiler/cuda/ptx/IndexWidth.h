//===- IndexWidth.h - Whether 32 bits are enough for a kernel's indices ---===//
#ifndef GC_COMPILER_CUDA_PTX_INDEXWIDTH_H
#define GC_COMPILER_CUDA_PTX_INDEXWIDTH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace gc::cuda {

/// Whether the kernel computes the same with 32-bit indices as with 64-bit ones: 64-bit integer
/// arithmetic takes a GPU several instructions. The proof, by MLIR's range analysis from the
/// launch's extents and the loops' bounds:
/// - every value of type index lies in [-2^31, 2^31), loop counters after their last step included;
/// - operations that see more than the value (unsigned division, shifts) have operands for which
///   both widths agree;
/// - every buffer has less than 2^31 bytes, so the offsets that memory accesses compute, which are
///   not values yet, are in range as well (accesses are within their buffers).
/// What cannot be proven is answered by no. Affine operations must have been lowered.
bool indicesFitIn32Bits(mlir::gpu::GPUFuncOp kernel);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_PTX_INDEXWIDTH_H
