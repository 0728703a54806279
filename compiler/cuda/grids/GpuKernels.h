//===- GpuKernels.h - The kernels of one op, while they are built ---------===//
#ifndef GC_COMPILER_CUDA_GRIDS_GPUKERNELS_H
#define GC_COMPILER_CUDA_GRIDS_GPUKERNELS_H

#include "compiler/cuda/grids/GpuBuilder.h"
#include "compiler/cuda/grids/GridDevice.h"
#include "compiler/language/ArgumentAccess.h"
#include "compiler/language/OpUses.h"
#include "dialects/Gc.h"
#include "runtime/plan/Plan_generated.h"
#include "llvm/ADT/StringMap.h"

namespace gc::cuda {

/// One launch of a kernel. An op takes one or several, in order.
struct KernelLaunch {
  unsigned kernel = 0;            // index among the emitter's kernels
  llvm::SmallVector<int> buffers; // as in BufferUse
  llvm::SmallVector<ArgumentAccess> access;
  Extent grid, block;
  double bytes = 0; // of all buffers that it is given
  double flops = 0; // where arithmetic could bound it: f32 FLOPs that take as long
};

/// What the launches of an op cost, known before any kernel is built.
struct LaunchCosts {
  int64_t launches = 0;
  double bytes = 0; // of all buffers that each is given
  /// f32 FLOPs of products that the GPU could do in their time if their tiles filled it: more than
  /// there are, by idle multiprocessors, ends of matrices and slower tiles; fewer with TF32.
  double productFlops = 0;
};

/// Kernels that were built, by what they are.
struct KernelModule {
  explicit KernelModule(const GridDevice &device) : device(device) {}
  const GridDevice device;        // what they are cut for
  mlir::ModuleOp module;          // null: nothing is built, only workspaces are measured
  mlir::gpu::GPUModuleOp kernels; // inside it
  llvm::StringMap<unsigned> bodies;
  unsigned count = 0;
};

/// How work is cut. Depends on shapes and the described device alone, and with it the order of
/// additions and every bit.
inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// What emitters of ops add their kernels to.
class GpuKernels : public OpUses {
public:
  using Body = llvm::function_ref<void(GpuBuilder &, llvm::ArrayRef<mlir::Value>)>;

  GpuKernels(mlir::Operation *op, llvm::ArrayRef<int> aliases, KernelModule &built);
  /// For kernels that belong to no single op.
  GpuKernels(mlir::MLIRContext *context, llvm::StringRef name, KernelModule &built);

  /// Adds a kernel and its launch. `body` gets one memref for each use, in order; uses of one
  /// buffer (or of an operand and the result in its bytes) become one argument. It runs in every
  /// thread. A grid that CUDA cannot launch is not built; `whyImpossible` then says so.
  void add(llvm::StringRef suffix, llvm::ArrayRef<BufferUse> uses, Extent grid, Extent block,
           Body body, double flops = 0);

  const GridDevice &device() const { return built.device; }
  bool allowsTf32() const { return built.device.tf32; }

  llvm::SmallVector<KernelLaunch> launches;
  LaunchCosts costs;
  int64_t workspaceBytes = 0;
  std::string whyImpossible; // empty: all kernels can be launched

private:
  std::string name;
  KernelModule &built;
};

/// One thread for each of `items`, in blocks of `threads`: runs `body` for those that are there.
void forItems(GpuBuilder &k, int64_t items, llvm::function_ref<void(Expr item)> body);
constexpr int64_t itemThreads = 256;
inline Extent itemGrid(int64_t items) { return {ceilDiv(items, itemThreads), 1, 1}; }
constexpr Extent itemBlock{itemThreads, 1, 1};

/// Rows [0, rows) of [rows, channels] in chunks for partial sums.
struct RowChunks {
  int64_t rows;  // in a chunk; the last may have fewer
  int64_t count; // chunks
};
/// Of one of so many `matrices` that are reduced at the same time.
RowChunks chunkRows(int64_t rows, int64_t channels, int64_t matrices = 1);

/// A block of threads over [rows of a chunk, channels]: `width` channels side by side, so that
/// neighbouring threads read neighbouring floats.
struct ColumnTile {
  int64_t width, height; // threads
  int64_t tiles;         // of the channels
  Extent block() const { return {width, height, 1}; }
};
/// At most `threads` threads, and no more above each other than there are rows, rounded up.
ColumnTile columnTile(int64_t channels, int64_t rows = itemThreads, int64_t threads = itemThreads);

/// Sums, or maxima, of what the threads of one column have: combines `values` over thread y in a
/// fixed order and calls `store` in the threads with y = 0. Has barriers; all threads must get
/// here.
void reduceOverHeight(GpuBuilder &k, const ColumnTile &tile, llvm::ArrayRef<Expr> values,
                      bool isMaximum, llvm::function_ref<void(llvm::ArrayRef<Expr> totals)> store);

/// Adds result[c] = scale * (sum over k of partials[s][k][c]) for each result s; the workspace
/// holds [results, chunks, channels]. With `accumulate` the sums are added to what is there.
void addCombineSums(GpuKernels &kernels, llvm::ArrayRef<BufferUse> results, int64_t chunks,
                    int64_t channels, double scale = 1, bool accumulate = false);

// One function for each family of ops; the file of that name has the formulas.
mlir::LogicalResult emitFusible(mlir::Operation *op, GpuKernels &kernels);
mlir::LogicalResult emitUpdate(UpdateOpInterface op, GpuKernels &kernels);
/// One kernel for several updates that touch nothing of each other's. `buffers` has, for each of
/// them, a number for each operand and then each variable; equal numbers are one argument.
void emitJoinedUpdates(llvm::ArrayRef<UpdateOpInterface> ops,
                       llvm::ArrayRef<llvm::SmallVector<int>> buffers, GpuKernels &kernels,
                       KernelModule &built);
mlir::LogicalResult emitRunningStats(RunningStatsOp op, GpuKernels &kernels);
mlir::LogicalResult emitAdvance(AdvanceOp op, GpuKernels &kernels);
mlir::LogicalResult emitCoefficients(CoefficientsOp op, GpuKernels &kernels);
mlir::LogicalResult emitSquareSum(SquareSumOp op, GpuKernels &kernels);
mlir::LogicalResult emitLambRatio(LambRatioOp op, GpuKernels &kernels);
mlir::LogicalResult emitAdafactorRatio(AdafactorRatioOp op, GpuKernels &kernels);
mlir::LogicalResult emitAdafactor(AdafactorOp op, GpuKernels &kernels);
mlir::LogicalResult emitGradientSeed(GradientSeedOp op, GpuKernels &kernels);
mlir::LogicalResult emitDropout(DropoutOp op, GpuKernels &kernels);
mlir::LogicalResult emitBatchStats(BatchStatsOp op, GpuKernels &kernels);
mlir::LogicalResult emitLayerNorm(LayerNormOp op, GpuKernels &kernels);
mlir::LogicalResult emitLayerNormGrad(LayerNormGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitGroupNorm(GroupNormOp op, GpuKernels &kernels);
mlir::LogicalResult emitGroupNormGrad(GroupNormGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitSoftmax(SoftmaxOp op, GpuKernels &kernels);
mlir::LogicalResult emitSoftmaxGrad(SoftmaxGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitCrossEntropy(CrossEntropyOp op, GpuKernels &kernels);
mlir::LogicalResult emitCrossEntropyGrad(CrossEntropyGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitAccuracy(AccuracyOp op, GpuKernels &kernels);
mlir::LogicalResult emitLabelCount(LabelCountOp op, GpuKernels &kernels);
mlir::LogicalResult emitMaxPool(MaxPoolOp op, GpuKernels &kernels);
mlir::LogicalResult emitMaxPoolGrad(MaxPoolGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitAvgPool(AvgPoolOp op, GpuKernels &kernels);
mlir::LogicalResult emitAvgPoolGrad(AvgPoolGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitGlobalAvgPool(GlobalAvgPoolOp op, GpuKernels &kernels);
mlir::LogicalResult emitGlobalAvgPoolGrad(GlobalAvgPoolGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitReduceSum(ReduceSumOp op, GpuKernels &kernels);
mlir::LogicalResult emitReduceMean(ReduceMeanOp op, GpuKernels &kernels);
mlir::LogicalResult emitMeanSquare(MeanSquareOp op, GpuKernels &kernels);
mlir::LogicalResult emitReduceMax(ReduceMaxOp op, GpuKernels &kernels);
mlir::LogicalResult emitReduceMaxGrad(ReduceMaxGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitTranspose(TransposeOp op, GpuKernels &kernels);
mlir::LogicalResult emitConcat(ConcatOp op, GpuKernels &kernels);
mlir::LogicalResult emitSlice(SliceOp op, GpuKernels &kernels);
mlir::LogicalResult emitPutRows(PutRowsOp op, GpuKernels &kernels);
mlir::LogicalResult emitPad(PadOp op, GpuKernels &kernels);
mlir::LogicalResult emitRoll(RollOp op, GpuKernels &kernels);
mlir::LogicalResult emitFlip(FlipOp op, GpuKernels &kernels);
mlir::LogicalResult emitBroadcast(BroadcastOp op, GpuKernels &kernels);
mlir::LogicalResult emitClassToken(ClassTokenOp op, GpuKernels &kernels);
mlir::LogicalResult emitEmbedding(EmbeddingOp op, GpuKernels &kernels);
mlir::LogicalResult emitEmbeddingGrad(EmbeddingGradOp op, GpuKernels &kernels);
// Products: what is computed is in the spec (see compiler/target/Products.h).
mlir::LogicalResult emitProduct(mlir::Operation *op, const plan::MatMulSpecT &product,
                                GpuKernels &kernels);
mlir::LogicalResult emitConvolution(mlir::Operation *op, const plan::ConvolutionSpecT &convolution,
                                    GpuKernels &kernels);
mlir::LogicalResult emitAttention(AttentionOp op, GpuKernels &kernels);
mlir::LogicalResult emitAttentionGrad(AttentionGradOp op, GpuKernels &kernels);
mlir::LogicalResult emitAttentionBiasGrad(AttentionBiasGradOp op, GpuKernels &kernels);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_GPUKERNELS_H
