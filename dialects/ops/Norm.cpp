//===- Norm.cpp - normalization -------------------------------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

// A tensor without dimensions has no channels; the verifier says so.
static RankedTensorType channelType(Value full) {
  bool scalar = tensorType(full).getRank() == 0;
  return sumsOf(full, {scalar ? 1 : lastDim(full)});
}
static RankedTensorType rowType(Value full) {
  auto shape = tensorType(full).getShape();
  return sumsOf(full, shape.drop_back(shape.empty() ? 0 : 1));
}

template <typename Op> static LogicalResult verifyAffine(Op op) {
  if (failed(verifyChannel(op, op.getInput(), op.getWeight(), "weight")))
    return failure();
  return verifyChannel(op, op.getInput(), op.getBias(), "bias");
}

static LogicalResult verifyGroups(Operation *op, Value input, int64_t groups) {
  if (groups < 1 || lastDim(input) % groups)
    return op->emitOpError() << groups << " groups do not divide " << lastDim(input) << " channels";
  return success();
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  types.append({a.getInput().getType(), channelType(a.getInput()), channelType(a.getInput())});
  return success();
}
LogicalResult BatchNormOp::verify() { return verifyAffine(*this); }

LogicalResult BatchStatsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                             SmallVectorImpl<Type> &types) {
  if (tensorType(a.getInput()).getRank() == 0)
    return emitOptionalError(loc, "the input needs a last dimension, its channels");
  types.append({channelType(a.getInput()), channelType(a.getInput())});
  return success();
}

LogicalResult InverseDeviationOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                   Adaptor a, SmallVectorImpl<Type> &types) {
  types.push_back(a.getVariance().getType());
  return success();
}

LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(a.getInput().getType());
  return success();
}
LogicalResult NormalizeOp::verify() {
  if (failed(verifyChannel(*this, getInput(), getMean(), "mean")) ||
      failed(verifyChannel(*this, getInput(), getRstd(), "rstd")))
    return failure();
  return verifyAffine(*this);
}

LogicalResult NormalizeGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                                SmallVectorImpl<Type> &types) {
  types.push_back(a.getGradient().getType());
  return success();
}
LogicalResult NormalizeGradOp::verify() {
  if (failed(verifyChannel(*this, getGradient(), getRstd(), "rstd")))
    return failure();
  return verifyChannel(*this, getGradient(), getWeight(), "weight");
}

LogicalResult BatchNormGradParamsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                      Adaptor a, SmallVectorImpl<Type> &types) {
  types.append({channelType(a.getInput()), channelType(a.getInput())});
  return success();
}
LogicalResult BatchNormGradParamsOp::verify() {
  if (failed(verifyChannel(*this, getInput(), getMean(), "mean")) ||
      failed(verifyChannel(*this, getInput(), getRstd(), "rstd")))
    return failure();
  return verifySame(*this, getInput().getType(), getGradient().getType(), "gradient");
}

LogicalResult BatchNormGradInputOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                     Adaptor a, SmallVectorImpl<Type> &types) {
  types.push_back(a.getInput().getType());
  return success();
}
LogicalResult BatchNormGradInputOp::verify() {
  for (Value channel : getOperands().drop_front(2))
    if (failed(verifyChannel(*this, getInput(), channel, "per-channel operand")))
      return failure();
  return verifySame(*this, getInput().getType(), getGradient().getType(), "gradient");
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  types.append({a.getInput().getType(), rowType(a.getInput()), rowType(a.getInput())});
  return success();
}
LogicalResult LayerNormOp::verify() { return verifyAffine(*this); }

LogicalResult LayerNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                                SmallVectorImpl<Type> &types) {
  types.append({a.getInput().getType(), a.getWeight().getType(), a.getWeight().getType()});
  return success();
}
LogicalResult LayerNormGradOp::verify() {
  if (failed(verifyChannel(*this, getInput(), getWeight(), "weight")) ||
      failed(verifySame(*this, rowType(getInput()), getMean().getType(), "mean")) ||
      failed(verifySame(*this, rowType(getInput()), getRstd().getType(), "rstd")))
    return failure();
  return verifySame(*this, getInput().getType(), getGradient().getType(), "gradient");
}

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  auto stats = sumsOf(
      a.getInput(), {tensorType(a.getInput()).getDimSize(0), static_cast<int64_t>(a.getGroups())});
  types.append({a.getInput().getType(), stats, stats});
  return success();
}
LogicalResult GroupNormOp::verify() {
  if (failed(verifyGroups(*this, getInput(), getGroups())))
    return failure();
  return verifyAffine(*this);
}

LogicalResult GroupNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                                SmallVectorImpl<Type> &types) {
  types.append({a.getInput().getType(), a.getWeight().getType(), a.getWeight().getType()});
  return success();
}
LogicalResult GroupNormGradOp::verify() {
  auto stats =
      sumsOf(getInput(), {tensorType(getInput()).getDimSize(0), static_cast<int64_t>(getGroups())});
  if (failed(verifyGroups(*this, getInput(), getGroups())) ||
      failed(verifyChannel(*this, getInput(), getWeight(), "weight")) ||
      failed(verifySame(*this, stats, getMean().getType(), "mean")) ||
      failed(verifySame(*this, stats, getRstd().getType(), "rstd")))
    return failure();
  return verifySame(*this, getInput().getType(), getGradient().getType(), "gradient");
}

// Gives the norm that feeds the running statistics those instead of the batch's:
//   %y, %mean, %rstd = gc.batch_norm %x, %w, %b        %mean = gc.read @m
//   gc.running_stats @m, @v, %mean, %rstd         =>   %rstd = gc.inverse_deviation (gc.read @v)
//                                                      %y = gc.normalize %x, %mean, %rstd, %w, %b
LogicalResult RunningStatsOp::toInference() {
  Operation *norm = getMean().getDefiningOp();
  if (!isa_and_nonnull<BatchNormOp, BatchStatsOp>(norm) || getRstd().getDefiningOp() != norm)
    return emitOpError("takes no mean and inverse deviation of one batch norm, so inference does "
                       "not know what they stand for");
  OpBuilder builder(norm);
  Location loc = norm->getLoc();
  Value mean = ReadOp::create(builder, loc, getMean().getType(), getRunningMeanAttr());
  Value variance = ReadOp::create(builder, loc, getRstd().getType(), getRunningVarianceAttr());
  Value rstd = InverseDeviationOp::create(builder, loc, getRstd().getType(), variance,
                                          norm->getAttrOfType<FloatAttr>("epsilon"));
  getMean().replaceAllUsesWith(mean);
  getRstd().replaceAllUsesWith(rstd);
  if (auto batchNorm = dyn_cast<BatchNormOp>(norm))
    batchNorm.getOutput().replaceAllUsesWith(
        NormalizeOp::create(builder, loc, batchNorm.getOutput().getType(), batchNorm.getInput(),
                            mean, rstd, batchNorm.getWeight(), batchNorm.getBias()));
  erase();
  norm->erase();
  return success();
}

SmallVector<FlatSymbolRefAttr> RunningStatsOp::getVariables() {
  return {getRunningMeanAttr(), getRunningVarianceAttr()};
}

} // namespace gc
