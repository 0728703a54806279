//===- Precision.cpp - what mixed precision makes of each op --------------===//
//
// The rules of PyTorch's autocast, where they are not the default: an op computes in f32, whatever
// it reads and writes, and has all of it in one type but for what has one dimension or none. The
// same as a table for readers: docs/precision.md.
//
//===----------------------------------------------------------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

#define GC_PRECISION(Op, rule)                                                                     \
  PrecisionRule Op::getPrecisionRule() { return PrecisionRule::rule; }

// Products of two numbers of half precision are exact in f32, and so are their sums until they are
// rounded once.
GC_PRECISION(Conv2dOp, Product)
GC_PRECISION(Conv2dGradInputOp, Product)
GC_PRECISION(Conv2dGradFilterOp, Product)
GC_PRECISION(LinearOp, Product)
GC_PRECISION(LinearGradInputOp, Product)
GC_PRECISION(LinearGradWeightOp, Product)
GC_PRECISION(MatmulOp, Product)

// Their kernels, and what they are expanded into, have one type for what they read and write.
GC_PRECISION(PatchEmbedOp, Alike)
GC_PRECISION(AttentionOp, Alike)
GC_PRECISION(AttentionGradOp, Alike)
GC_PRECISION(ReduceMaxGradOp, Alike)
GC_PRECISION(ClassTokenOp, Alike)

// What they sum up, look up or repeat has another shape than what they read, and another type.
GC_PRECISION(BatchStatsOp, Apart)
GC_PRECISION(AttentionBiasGradOp, Apart)
GC_PRECISION(BatchNormGradParamsOp, Apart)
GC_PRECISION(CrossEntropyOp, Apart)
GC_PRECISION(AccuracyOp, Apart)
GC_PRECISION(ReduceSumOp, Apart)
GC_PRECISION(ReduceMeanOp, Apart)
GC_PRECISION(ReduceMaxOp, Apart)
GC_PRECISION(GlobalAvgPoolOp, Apart)
GC_PRECISION(GlobalAvgPoolGradOp, Apart)
GC_PRECISION(BroadcastOp, Apart)
GC_PRECISION(EmbeddingOp, Apart)
GC_PRECISION(EmbeddingGradOp, Apart)

// Once a step, on parameters; a cast says itself what it takes and gives.
GC_PRECISION(GradientSeedOp, Single)
GC_PRECISION(LambRatioOp, Single)
GC_PRECISION(SquareSumOp, Single)
GC_PRECISION(CoefficientsOp, Single)
GC_PRECISION(AllReduceOp, Single)
GC_PRECISION(AllGatherOp, Single)
GC_PRECISION(ReduceScatterOp, Single)
GC_PRECISION(FusedOp, Single)
GC_PRECISION(CastOp, Single)

bool detail::isSmall(Value value) { return cast<ShapedType>(value.getType()).getRank() <= 1; }

// What stays f32 beside small tensors.
#define GC_SINGLES(Op, ...)                                                                        \
  bool Op::staysSingle(Value value) {                                                              \
    return detail::isSmall(value) || llvm::is_contained(ValueRange{__VA_ARGS__}, value);           \
  }

// Statistics of rows, groups and heads; masks and positions that are added to scores.
GC_SINGLES(LayerNormOp, getMean(), getRstd())
GC_SINGLES(LayerNormGradOp, getMean(), getRstd())
GC_SINGLES(GroupNormOp, getMean(), getRstd())
GC_SINGLES(GroupNormGradOp, getMean(), getRstd())
GC_SINGLES(AttentionOp, getLogsumexp(), getBias())
GC_SINGLES(AttentionGradOp, getLogsumexp(), getBias())
GC_SINGLES(AttentionBiasGradOp, getLogsumexp(), getBias(), getBiasGradient())
// Parameters that are read once, and their gradients, which are sums.
GC_SINGLES(ClassTokenOp, getToken(), getPosition())
GC_SINGLES(EmbeddingOp, getTable())
GC_SINGLES(EmbeddingGradOp, getTableGradient())
// Sums over a part of a tensor: small beside it.
GC_SINGLES(ReduceSumOp, getOutput())
GC_SINGLES(ReduceMeanOp, getOutput())
GC_SINGLES(ReduceMaxOp, getOutput())
GC_SINGLES(ReduceMaxGradOp, getOutput(), getGradient())
GC_SINGLES(GlobalAvgPoolOp, getOutput())
GC_SINGLES(GlobalAvgPoolGradOp, getGradient())

// Results of these may be of another type than what it is inferred from.
#define GC_ANY_ELEMENT(Op)                                                                         \
  bool Op::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {                         \
    return haveSameShapes(inferred, actual);                                                       \
  }
GC_ANY_ELEMENT(Conv2dOp)
GC_ANY_ELEMENT(LinearOp)
GC_ANY_ELEMENT(LinearGradInputOp)
GC_ANY_ELEMENT(LinearGradWeightOp)
GC_ANY_ELEMENT(MatmulOp)
GC_ANY_ELEMENT(PatchEmbedOp)
GC_ANY_ELEMENT(EmbeddingOp)

} // namespace gc
