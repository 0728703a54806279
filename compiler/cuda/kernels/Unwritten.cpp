// Kernels that are still to be written; each moves to the file of its family.
#include "compiler/cuda/kernels/GpuKernels.h"
namespace gc::cuda {
mlir::LogicalResult emitAttention(AttentionOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitAttentionGrad(AttentionGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
} // namespace gc::cuda
