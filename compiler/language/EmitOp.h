//===- EmitOp.h - The emitter of an op, by its kind -----------------------===//
#ifndef GC_COMPILER_LANGUAGE_EMITOP_H
#define GC_COMPILER_LANGUAGE_EMITOP_H

#include "dialects/Gc.h"
#include "llvm/ADT/TypeSwitch.h"

namespace gc::kernels {

/// Calls the target's emitFoo for a gc.foo; they are found in the namespace of `Kernels`. Reports
/// an op that is not generated for `target`.
template <typename Kernels>
mlir::LogicalResult emitOpOfKind(mlir::Operation *op, Kernels &kernels, llvm::StringRef target) {
  return llvm::TypeSwitch<mlir::Operation *, mlir::LogicalResult>(op)
      .Case<UpdateOpInterface>([&](auto o) { return emitUpdate(o, kernels); })
      .template Case<RunningStatsOp>([&](auto o) { return emitRunningStats(o, kernels); })
      .template Case<AdvanceOp>([&](auto o) { return emitAdvance(o, kernels); })
      .template Case<CoefficientsOp>([&](auto o) { return emitCoefficients(o, kernels); })
      .template Case<GradientSeedOp>([&](auto o) { return emitGradientSeed(o, kernels); })
      .template Case<DropoutOp>([&](auto o) { return emitDropout(o, kernels); })
      .template Case<BatchStatsOp>([&](auto o) { return emitBatchStats(o, kernels); })
      .template Case<LayerNormOp>([&](auto o) { return emitLayerNorm(o, kernels); })
      .template Case<LayerNormGradOp>([&](auto o) { return emitLayerNormGrad(o, kernels); })
      .template Case<GroupNormOp>([&](auto o) { return emitGroupNorm(o, kernels); })
      .template Case<GroupNormGradOp>([&](auto o) { return emitGroupNormGrad(o, kernels); })
      .template Case<SoftmaxOp>([&](auto o) { return emitSoftmax(o, kernels); })
      .template Case<SoftmaxGradOp>([&](auto o) { return emitSoftmaxGrad(o, kernels); })
      .template Case<CrossEntropyOp>([&](auto o) { return emitCrossEntropy(o, kernels); })
      .template Case<CrossEntropyGradOp>([&](auto o) { return emitCrossEntropyGrad(o, kernels); })
      .template Case<AccuracyOp>([&](auto o) { return emitAccuracy(o, kernels); })
      .template Case<MaxPoolOp>([&](auto o) { return emitMaxPool(o, kernels); })
      .template Case<MaxPoolGradOp>([&](auto o) { return emitMaxPoolGrad(o, kernels); })
      .template Case<AvgPoolOp>([&](auto o) { return emitAvgPool(o, kernels); })
      .template Case<AvgPoolGradOp>([&](auto o) { return emitAvgPoolGrad(o, kernels); })
      .template Case<GlobalAvgPoolOp>([&](auto o) { return emitGlobalAvgPool(o, kernels); })
      .template Case<GlobalAvgPoolGradOp>([&](auto o) { return emitGlobalAvgPoolGrad(o, kernels); })
      .template Case<ReduceSumOp>([&](auto o) { return emitReduceSum(o, kernels); })
      .template Case<ReduceMeanOp>([&](auto o) { return emitReduceMean(o, kernels); })
      .template Case<ReduceMaxOp>([&](auto o) { return emitReduceMax(o, kernels); })
      .template Case<ReduceMaxGradOp>([&](auto o) { return emitReduceMaxGrad(o, kernels); })
      .template Case<TransposeOp>([&](auto o) { return emitTranspose(o, kernels); })
      .template Case<ConcatOp>([&](auto o) { return emitConcat(o, kernels); })
      .template Case<SliceOp>([&](auto o) { return emitSlice(o, kernels); })
      .template Case<PadOp>([&](auto o) { return emitPad(o, kernels); })
      .template Case<BroadcastOp>([&](auto o) { return emitBroadcast(o, kernels); })
      .template Case<ClassTokenOp>([&](auto o) { return emitClassToken(o, kernels); })
      .template Case<EmbeddingOp>([&](auto o) { return emitEmbedding(o, kernels); })
      .template Case<EmbeddingGradOp>([&](auto o) { return emitEmbeddingGrad(o, kernels); })
      .template Case<FusedOp, FusibleOpInterface>([&](auto o) { return emitFusible(o, kernels); })
      .Default([&](mlir::Operation *other) {
        return other->emitOpError("has no generated kernel for ") << target;
      });
}

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_EMITOP_H
