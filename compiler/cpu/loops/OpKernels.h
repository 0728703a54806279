//===- OpKernels.h - The kernels of one op, while they are built ----------===//
#ifndef GC_COMPILER_CPU_LOOPS_OPKERNELS_H
#define GC_COMPILER_CPU_LOOPS_OPKERNELS_H

#include "compiler/cpu/loops/LoopEmitter.h"
#include "compiler/language/KernelBuilder.h"
#include "compiler/language/OpUses.h"
#include "dialects/Gc.h"
#include <limits>

namespace gc {
struct AttentionShape;
}

namespace gc::cpu {

using namespace kernels;

/// [0, total) is split into items of `size` elements, of which the last may have fewer. itemRange
/// gives the elements of the items [begin, end).
struct Range {
  Expr begin, end;
};
Range itemRange(KernelBuilder &k, Expr begin, Expr end, int64_t size, int64_t total);

/// Rows [0, rows) in chunks for partial sums. Depends on the shape alone, never on the threads, and
/// with it the order of additions.
struct RowChunks {
  int64_t rows;  // in a chunk; the last may have fewer
  int64_t count; // chunks
};
RowChunks chunkRows(int64_t rows, int64_t channels);

/// Items of about this many elements are worth starting a thread for.
constexpr int64_t grainElements = 16384;
inline int64_t grainOf(int64_t elementsPerItem) {
  return std::max<int64_t>(1, grainElements / std::max<int64_t>(1, elementsPerItem));
}

/// What emitters of ops add their kernels to.
class OpKernels : public OpUses {
public:
  using Body = llvm::function_ref<void(KernelBuilder &, llvm::ArrayRef<mlir::Value>, Expr, Expr)>;

  /// With `module` null nothing is built: only the workspace is measured.
  OpKernels(mlir::Operation *op, llvm::ArrayRef<int> aliases, mlir::ModuleOp module,
            llvm::StringMap<unsigned> &bodies, unsigned &count, int64_t streamBytes);
  /// For kernels that belong to no single op.
  OpKernels(mlir::MLIRContext *context, llvm::StringRef name, mlir::ModuleOp module,
            llvm::StringMap<unsigned> &bodies, unsigned &count);

  /// Adds a kernel and its dispatch. `body` gets one memref for each use, in order, and the range
  /// of items; uses of one buffer (or of an operand and the result in its bytes) become one
  /// argument.
  void add(llvm::StringRef suffix, llvm::ArrayRef<BufferUse> uses, int64_t items, int64_t grain,
           Body body);

  /// Whether a result is to be written past the cache: it is too large for it, and not in place.
  bool isStreamed(const BufferUse &use) const;

  llvm::SmallVector<KernelDispatch> dispatches;
  int64_t workspaceBytes = 0;

private:
  std::string name;
  mlir::ModuleOp module;
  llvm::StringMap<unsigned> &bodies;
  unsigned &count;
  int64_t streamBytes = std::numeric_limits<int64_t>::max();
};

/// Adds result[c] = scale * (sum over k of partials[k][c]) for each of `sums` partial arrays, whose
/// results are `results`; the workspace holds [sums, chunks, channels].
void addCombineSums(OpKernels &kernels, llvm::ArrayRef<BufferUse> results, int64_t chunks,
                    int64_t channels, double scale = 1);

// One function for each family of ops; the file of that name has the formulas.
mlir::LogicalResult emitFusible(mlir::Operation *op, OpKernels &kernels);
mlir::LogicalResult emitUpdate(UpdateOpInterface op, OpKernels &kernels);
mlir::LogicalResult emitRunningStats(RunningStatsOp op, OpKernels &kernels);
mlir::LogicalResult emitAdvance(AdvanceOp op, OpKernels &kernels);
mlir::LogicalResult emitCoefficients(CoefficientsOp op, OpKernels &kernels);
mlir::LogicalResult emitSquareSum(SquareSumOp op, OpKernels &kernels);
mlir::LogicalResult emitLambRatio(LambRatioOp op, OpKernels &kernels);
mlir::LogicalResult emitAdafactorRatio(AdafactorRatioOp op, OpKernels &kernels);
mlir::LogicalResult emitAdafactor(AdafactorOp op, OpKernels &kernels);
mlir::LogicalResult emitGradientSeed(GradientSeedOp op, OpKernels &kernels);
mlir::LogicalResult emitDropout(DropoutOp op, OpKernels &kernels);
mlir::LogicalResult emitBatchStats(BatchStatsOp op, OpKernels &kernels);
mlir::LogicalResult emitLayerNorm(LayerNormOp op, OpKernels &kernels);
mlir::LogicalResult emitLayerNormGrad(LayerNormGradOp op, OpKernels &kernels);
mlir::LogicalResult emitGroupNorm(GroupNormOp op, OpKernels &kernels);
mlir::LogicalResult emitGroupNormGrad(GroupNormGradOp op, OpKernels &kernels);
mlir::LogicalResult emitSoftmax(SoftmaxOp op, OpKernels &kernels);
mlir::LogicalResult emitSoftmaxGrad(SoftmaxGradOp op, OpKernels &kernels);
mlir::LogicalResult emitCrossEntropy(CrossEntropyOp op, OpKernels &kernels);
mlir::LogicalResult emitCrossEntropyGrad(CrossEntropyGradOp op, OpKernels &kernels);
mlir::LogicalResult emitAccuracy(AccuracyOp op, OpKernels &kernels);
mlir::LogicalResult emitLabelCount(LabelCountOp op, OpKernels &kernels);
mlir::LogicalResult emitMaxPool(MaxPoolOp op, OpKernels &kernels);
mlir::LogicalResult emitMaxPoolGrad(MaxPoolGradOp op, OpKernels &kernels);
mlir::LogicalResult emitAvgPool(AvgPoolOp op, OpKernels &kernels);
mlir::LogicalResult emitAvgPoolGrad(AvgPoolGradOp op, OpKernels &kernels);
mlir::LogicalResult emitGlobalAvgPool(GlobalAvgPoolOp op, OpKernels &kernels);
mlir::LogicalResult emitGlobalAvgPoolGrad(GlobalAvgPoolGradOp op, OpKernels &kernels);
mlir::LogicalResult emitReduceSum(ReduceSumOp op, OpKernels &kernels);
mlir::LogicalResult emitReduceMean(ReduceMeanOp op, OpKernels &kernels);
mlir::LogicalResult emitMeanSquare(MeanSquareOp op, OpKernels &kernels);
mlir::LogicalResult emitReduceMax(ReduceMaxOp op, OpKernels &kernels);
mlir::LogicalResult emitReduceMaxGrad(ReduceMaxGradOp op, OpKernels &kernels);
mlir::LogicalResult emitTranspose(TransposeOp op, OpKernels &kernels);
mlir::LogicalResult emitConcat(ConcatOp op, OpKernels &kernels);
mlir::LogicalResult emitSlice(SliceOp op, OpKernels &kernels);
mlir::LogicalResult emitPutRows(PutRowsOp op, OpKernels &kernels);
mlir::LogicalResult emitPad(PadOp op, OpKernels &kernels);
mlir::LogicalResult emitRoll(RollOp op, OpKernels &kernels);
mlir::LogicalResult emitFlip(FlipOp op, OpKernels &kernels);
mlir::LogicalResult emitBroadcast(BroadcastOp op, OpKernels &kernels);
mlir::LogicalResult emitClassToken(ClassTokenOp op, OpKernels &kernels);
mlir::LogicalResult emitEmbedding(EmbeddingOp op, OpKernels &kernels);
mlir::LogicalResult emitEmbeddingGrad(EmbeddingGradOp op, OpKernels &kernels);
void addCast(OpKernels &kernels, int64_t elements, mlir::Type from, mlir::Type to);
void addAttentionSoftmax(OpKernels &kernels, const AttentionShape &shape, mlir::Type element);
void addAttentionProbabilities(OpKernels &kernels, const AttentionShape &shape, mlir::Type element);
void addAttentionBiasGradient(OpKernels &kernels, const AttentionShape &shape, bool isFirst,
                              mlir::Type element);
void addAttentionScoreGradient(OpKernels &kernels, int64_t batch, int64_t heads, int64_t sequence,
                               int64_t headSize, mlir::Type element);

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_LOOPS_OPKERNELS_H
