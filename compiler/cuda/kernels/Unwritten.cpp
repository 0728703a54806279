// Kernels that are still to be written; each moves to the file of its family.
#include "compiler/cuda/kernels/GpuKernels.h"
namespace gc::cuda {
mlir::LogicalResult emitDropout(DropoutOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitBatchStats(BatchStatsOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitLayerNorm(LayerNormOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitLayerNormGrad(LayerNormGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitGroupNorm(GroupNormOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitGroupNormGrad(GroupNormGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitSoftmax(SoftmaxOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitSoftmaxGrad(SoftmaxGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitCrossEntropy(CrossEntropyOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitCrossEntropyGrad(CrossEntropyGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitAccuracy(AccuracyOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitMaxPool(MaxPoolOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitMaxPoolGrad(MaxPoolGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitAvgPool(AvgPoolOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitAvgPoolGrad(AvgPoolGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitGlobalAvgPool(GlobalAvgPoolOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitGlobalAvgPoolGrad(GlobalAvgPoolGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitReduceSum(ReduceSumOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitReduceMean(ReduceMeanOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitReduceMax(ReduceMaxOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitReduceMaxGrad(ReduceMaxGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitTranspose(TransposeOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitConcat(ConcatOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitSlice(SliceOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitPad(PadOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitBroadcast(BroadcastOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitClassToken(ClassTokenOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitEmbedding(EmbeddingOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
mlir::LogicalResult emitEmbeddingGrad(EmbeddingGradOp op, GpuKernels &kernels) { return op->emitOpError("has no generated kernel for CUDA"); }
} // namespace gc::cuda
