//===- KernelEmitter.cpp - Generated kernels for gc ops -------------------===//
#include "compiler/cpu/kernels/KernelEmitter.h"

#include "compiler/cpu/codegen/CompileKernels.h"
#include "compiler/cpu/codegen/LowerKernels.h"
#include "compiler/cpu/kernels/OpKernels.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc::cpu {
namespace {

LogicalResult emitOp(Operation *op, OpKernels &kernels) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
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
        return other->emitOpError("has no generated kernel for the CPU");
      });
}

} // namespace

KernelEmitter::KernelEmitter(MLIRContext *context, int64_t streamBytes)
    : context(context), streamBytes(streamBytes) {
  registerKernelDialects(*context);
  module = ModuleOp::create(UnknownLoc::get(context));
}

bool KernelEmitter::handles(Operation *op) {
  return isa<UpdateOpInterface, RunningStatsOp, AdvanceOp, CoefficientsOp, GradientSeedOp,
             DropoutOp, BatchStatsOp, LayerNormOp, LayerNormGradOp, GroupNormOp, GroupNormGradOp,
             SoftmaxOp, SoftmaxGradOp, CrossEntropyOp, CrossEntropyGradOp, AccuracyOp, MaxPoolOp,
             MaxPoolGradOp, AvgPoolOp, AvgPoolGradOp, GlobalAvgPoolOp, GlobalAvgPoolGradOp,
             ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMaxGradOp, TransposeOp, ConcatOp,
             SliceOp, PadOp, BroadcastOp, ClassTokenOp, EmbeddingOp, EmbeddingGradOp, FusedOp,
             FusibleOpInterface>(op);
}

int64_t KernelEmitter::workspaceBytes(Operation *op) {
  if (!handles(op))
    return 0;
  llvm::StringMap<unsigned> unused;
  unsigned none = 0;
  OpKernels measured(op, {}, ModuleOp(), unused, none, streamBytes);
  return succeeded(emitOp(op, measured)) ? measured.workspaceBytes : 0;
}

FailureOr<SmallVector<KernelDispatch>> KernelEmitter::emit(Operation *op, ArrayRef<int> aliases) {
  std::string key = keyOf(op, aliases);
  auto found = emitted.find(key);
  if (found != emitted.end())
    return found->second;
  OpKernels built(op, aliases, *module, bodies, kernels, streamBytes);
  if (failed(emitOp(op, built)))
    return failure();
  emitted[key] = built.dispatches;
  return built.dispatches;
}

KernelDispatch KernelEmitter::emitNamed(StringRef name,
                                        llvm::function_ref<void(OpKernels &)> emitOne) {
  OpKernels built(context, name, *module, bodies, kernels);
  emitOne(built);
  return built.dispatches.front();
}

KernelDispatch KernelEmitter::emitAttentionSoftmax(int64_t batch, int64_t heads, int64_t sequence) {
  return emitNamed("attention_softmax", [&](OpKernels &kernels) {
    addAttentionSoftmax(kernels, batch * heads * sequence, sequence);
  });
}

KernelDispatch KernelEmitter::emitAttentionProbabilities(int64_t batch, int64_t heads,
                                                         int64_t sequence) {
  return emitNamed("attention_probabilities", [&](OpKernels &kernels) {
    addAttentionProbabilities(kernels, batch * heads * sequence, sequence);
  });
}

KernelDispatch KernelEmitter::emitAttentionScoreGradient(int64_t batch, int64_t heads,
                                                         int64_t sequence, int64_t headSize) {
  return emitNamed("attention_score_gradient", [&](OpKernels &kernels) {
    addAttentionScoreGradient(kernels, batch, heads, sequence, headSize);
  });
}

FailureOr<KernelLibrary> KernelEmitter::finish(const CodegenOptions &options) {
  FailureOr<KernelLibrary> library = compileKernels(*module, options);
  module = ModuleOp::create(UnknownLoc::get(context));
  kernels = 0;
  emitted.clear();
  bodies.clear();
  return library;
}

} // namespace gc::cpu
