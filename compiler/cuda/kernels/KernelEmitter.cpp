//===- KernelEmitter.cpp - Generated CUDA kernels for gc ops --------------===//
#include "compiler/cuda/kernels/KernelEmitter.h"

#include "compiler/target/Products.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace gc::cuda {

static LogicalResult emitOp(Operation *op, GpuKernels &kernels) {
  if (auto convolution = convolutionCommand(op))
    return emitConvolution(op, *convolution, kernels);
  if (auto product = matMulCommand(op))
    return emitProduct(op, *product, kernels);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AttentionOp>([&](auto o) { return emitAttention(o, kernels); })
      .Case<AttentionGradOp>([&](auto o) { return emitAttentionGrad(o, kernels); })
      .Case<UpdateOpInterface>([&](auto o) { return emitUpdate(o, kernels); })
      .Case<RunningStatsOp>([&](auto o) { return emitRunningStats(o, kernels); })
      .Case<AdvanceOp>([&](auto o) { return emitAdvance(o, kernels); })
      .Case<CoefficientsOp>([&](auto o) { return emitCoefficients(o, kernels); })
      .Case<GradientSeedOp>([&](auto o) { return emitGradientSeed(o, kernels); })
      .Case<DropoutOp>([&](auto o) { return emitDropout(o, kernels); })
      .Case<BatchStatsOp>([&](auto o) { return emitBatchStats(o, kernels); })
      .Case<LayerNormOp>([&](auto o) { return emitLayerNorm(o, kernels); })
      .Case<LayerNormGradOp>([&](auto o) { return emitLayerNormGrad(o, kernels); })
      .Case<GroupNormOp>([&](auto o) { return emitGroupNorm(o, kernels); })
      .Case<GroupNormGradOp>([&](auto o) { return emitGroupNormGrad(o, kernels); })
      .Case<SoftmaxOp>([&](auto o) { return emitSoftmax(o, kernels); })
      .Case<SoftmaxGradOp>([&](auto o) { return emitSoftmaxGrad(o, kernels); })
      .Case<CrossEntropyOp>([&](auto o) { return emitCrossEntropy(o, kernels); })
      .Case<CrossEntropyGradOp>([&](auto o) { return emitCrossEntropyGrad(o, kernels); })
      .Case<AccuracyOp>([&](auto o) { return emitAccuracy(o, kernels); })
      .Case<MaxPoolOp>([&](auto o) { return emitMaxPool(o, kernels); })
      .Case<MaxPoolGradOp>([&](auto o) { return emitMaxPoolGrad(o, kernels); })
      .Case<AvgPoolOp>([&](auto o) { return emitAvgPool(o, kernels); })
      .Case<AvgPoolGradOp>([&](auto o) { return emitAvgPoolGrad(o, kernels); })
      .Case<GlobalAvgPoolOp>([&](auto o) { return emitGlobalAvgPool(o, kernels); })
      .Case<GlobalAvgPoolGradOp>([&](auto o) { return emitGlobalAvgPoolGrad(o, kernels); })
      .Case<ReduceSumOp>([&](auto o) { return emitReduceSum(o, kernels); })
      .Case<ReduceMeanOp>([&](auto o) { return emitReduceMean(o, kernels); })
      .Case<ReduceMaxOp>([&](auto o) { return emitReduceMax(o, kernels); })
      .Case<ReduceMaxGradOp>([&](auto o) { return emitReduceMaxGrad(o, kernels); })
      .Case<TransposeOp>([&](auto o) { return emitTranspose(o, kernels); })
      .Case<ConcatOp>([&](auto o) { return emitConcat(o, kernels); })
      .Case<SliceOp>([&](auto o) { return emitSlice(o, kernels); })
      .Case<PadOp>([&](auto o) { return emitPad(o, kernels); })
      .Case<BroadcastOp>([&](auto o) { return emitBroadcast(o, kernels); })
      .Case<ClassTokenOp>([&](auto o) { return emitClassToken(o, kernels); })
      .Case<EmbeddingOp>([&](auto o) { return emitEmbedding(o, kernels); })
      .Case<EmbeddingGradOp>([&](auto o) { return emitEmbeddingGrad(o, kernels); })
      .Case<FusedOp, FusibleOpInterface>([&](auto o) { return emitFusible(o, kernels); })
      .Default([](Operation *other) {
        return other->emitOpError("has no generated kernel for CUDA");
      });
}

// db[c] = sum over rows of dy[row][c], the second result of a convolution's filter gradient, or the
// second accumulator.
static void addBiasGradient(Operation *op, GpuKernels &kernels) {
  auto accumulating = dyn_cast<AccumulateProductOp>(op);
  Operation *product = accumulating ? accumulating.getProduct() : op;
  int64_t channels = elementCount(product->getResult(1).getType());
  int64_t rows = elementCount(product->getOperand(1).getType()) / channels;
  RowChunks chunks = chunkRows(rows, channels);
  ColumnTile tile = columnTile(channels);
  kernels.add("bias", {kernels.operand(1, {rows, channels}),
                       kernels.scratch({1, chunks.count, channels})},
              {tile.tiles, chunks.count, 1}, tile.block(),
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    addColumnSums(k, tile, chunks, rows, channels, 1, buffers[1], [&](Expr row, Expr channel) {
      return SmallVector<Expr>{k.load(buffers[0], {row, channel})};
    });
  });
  BufferUse result = accumulating
                         ? kernels.variable(1, {channels}, Float32Type::get(op->getContext()))
                         : kernels.result(1);
  addCombineSums(kernels, {result}, chunks.count, channels, 1, accumulating);
}

KernelEmitter::KernelEmitter(MLIRContext *context) {
  context->loadDialect<arith::ArithDialect, gpu::GPUDialect, math::MathDialect,
                       memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  OpBuilder builder(context);
  Location location = builder.getUnknownLoc();
  owned = ModuleOp::create(location);
  built.module = *owned;
  builder.setInsertionPointToStart(owned->getBody());
  built.kernels = gpu::GPUModuleOp::create(builder, location, "kernels");
}

FailureOr<int64_t> KernelEmitter::workspaceBytes(Operation *op) {
  std::string key = keyOf(op, {});
  auto found = measured.find(key);
  if (found != measured.end())
    return found->second;
  KernelModule none;
  GpuKernels kernels(op, {}, none);
  if (failed(emitOp(op, kernels)))
    return failure();
  measured[key] = kernels.workspaceBytes;
  return kernels.workspaceBytes;
}

int64_t KernelEmitter::biasGradientWorkspace(Operation *op) {
  KernelModule none;
  GpuKernels kernels(op, {}, none);
  addBiasGradient(op, kernels);
  return kernels.workspaceBytes;
}

SmallVector<KernelLaunch> KernelEmitter::emitBiasGradient(Operation *op) {
  GpuKernels kernels(op, {}, built);
  addBiasGradient(op, kernels);
  return kernels.launches;
}

FailureOr<SmallVector<KernelLaunch>> KernelEmitter::emit(Operation *op, ArrayRef<int> aliases) {
  std::string key = keyOf(op, aliases);
  auto found = emitted.find(key);
  if (found != emitted.end())
    return found->second;
  GpuKernels kernels(op, aliases, built);
  if (failed(emitOp(op, kernels)))
    return failure();
  emitted[key] = kernels.launches;
  return kernels.launches;
}

} // namespace gc::cuda
