//===- EmitOp.h - The emitter of an op, by its kind -----------------------===//
#ifndef GC_COMPILER_LANGUAGE_EMITOP_H
#define GC_COMPILER_LANGUAGE_EMITOP_H

#include "dialects/Gc.h"

namespace gc::kernels {

/// Adds the kernels of an op to a target's `Kernels`.
template <typename Kernels> using Emitter = mlir::LogicalResult (*)(mlir::Operation *, Kernels &);

/// The emitter of `op`, null for an op that has none: the table of all ops with generated kernels,
/// which every target has. The target's emitFoo for a gc.foo is found in the namespace of
/// `Kernels`.
template <typename Kernels> Emitter<Kernels> emitterOf(mlir::Operation *op) {
  struct Row {
    bool (*matches)(mlir::Operation *);
    Emitter<Kernels> emit;
  };
#define GC_ROW(Op, emitOp)                                                                         \
  Row {                                                                                            \
    [](mlir::Operation *op) { return mlir::isa<Op>(op); },                                         \
        [](mlir::Operation *op, Kernels &kernels) { return emitOp(mlir::cast<Op>(op), kernels); }  \
  }
  static constexpr Row table[] = {
      GC_ROW(AdafactorOp, emitAdafactor), // an update, too
      GC_ROW(UpdateOpInterface, emitUpdate),
      GC_ROW(RunningStatsOp, emitRunningStats),
      GC_ROW(AdvanceOp, emitAdvance),
      GC_ROW(CoefficientsOp, emitCoefficients),
      GC_ROW(SquareSumOp, emitSquareSum),
      GC_ROW(LambRatioOp, emitLambRatio),
      GC_ROW(AdafactorRatioOp, emitAdafactorRatio),
      GC_ROW(GradientSeedOp, emitGradientSeed),
      GC_ROW(DropoutOp, emitDropout),
      GC_ROW(BatchStatsOp, emitBatchStats),
      GC_ROW(LayerNormOp, emitLayerNorm),
      GC_ROW(LayerNormGradOp, emitLayerNormGrad),
      GC_ROW(GroupNormOp, emitGroupNorm),
      GC_ROW(GroupNormGradOp, emitGroupNormGrad),
      GC_ROW(SoftmaxOp, emitSoftmax),
      GC_ROW(SoftmaxGradOp, emitSoftmaxGrad),
      GC_ROW(CrossEntropyOp, emitCrossEntropy),
      GC_ROW(CrossEntropyGradOp, emitCrossEntropyGrad),
      GC_ROW(AccuracyOp, emitAccuracy),
      GC_ROW(LabelCountOp, emitLabelCount),
      GC_ROW(MaxPoolOp, emitMaxPool),
      GC_ROW(MaxPoolGradOp, emitMaxPoolGrad),
      GC_ROW(AvgPoolOp, emitAvgPool),
      GC_ROW(AvgPoolGradOp, emitAvgPoolGrad),
      GC_ROW(GlobalAvgPoolOp, emitGlobalAvgPool),
      GC_ROW(GlobalAvgPoolGradOp, emitGlobalAvgPoolGrad),
      GC_ROW(ReduceSumOp, emitReduceSum),
      GC_ROW(ReduceMeanOp, emitReduceMean),
      GC_ROW(MeanSquareOp, emitMeanSquare),
      GC_ROW(ReduceMaxOp, emitReduceMax),
      GC_ROW(ReduceMaxGradOp, emitReduceMaxGrad),
      GC_ROW(TransposeOp, emitTranspose),
      GC_ROW(ConcatOp, emitConcat),
      GC_ROW(SliceOp, emitSlice),
      GC_ROW(PutRowsOp, emitPutRows),
      GC_ROW(PadOp, emitPad),
      GC_ROW(RollOp, emitRoll),
      GC_ROW(FlipOp, emitFlip),
      GC_ROW(BroadcastOp, emitBroadcast),
      GC_ROW(ClassTokenOp, emitClassToken),
      GC_ROW(EmbeddingOp, emitEmbedding),
      GC_ROW(EmbeddingGradOp, emitEmbeddingGrad),
      // After the sums over rows, which also run alone in other ways.
      GC_ROW(FusedOp, emitFusible),
      GC_ROW(FusibleOpInterface, emitFusible),
  };
#undef GC_ROW
  for (const Row &row : table)
    if (row.matches(op))
      return row.emit;
  return nullptr;
}

/// Calls the emitter of `op`; reports an op that is not generated for `target`.
template <typename Kernels>
mlir::LogicalResult emitOpOfKind(mlir::Operation *op, Kernels &kernels, llvm::StringRef target) {
  if (Emitter<Kernels> emit = emitterOf<Kernels>(op))
    return emit(op, kernels);
  return op->emitOpError("has no generated kernel for ") << target;
}

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_EMITOP_H
