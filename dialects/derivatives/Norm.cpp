//===- Norm.cpp - derivatives of normalizations ---------------------------===//
//
// h = (x - mean) * rstd is the normalized input; it is recomputed from the input and the two
// statistics, so that nothing of the input's size is kept beside the input.
//
//===----------------------------------------------------------------------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc {

// y = h w + b over n elements a channel:
//   dw = sum(dy h), db = sum(dy), dx = w rstd (dy - db / n - h dw / n)
LogicalResult BatchNormOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (failed(adjoint::onlyFirstResult(*this, resultGradients)))
    return failure();
  Value dy = resultGradients[0];
  auto params =
      BatchNormGradParamsOp::create(builder, getLoc(), getWeight().getType(), getBias().getType(),
                                    dy, getInput(), getMean(), getRstd());
  if (needed[0])
    gradients[0] = BatchNormGradInputOp::create(
        builder, getLoc(), getInput().getType(), dy, getInput(), getMean(), getRstd(), getWeight(),
        params.getWeightGradient(), params.getBiasGradient());
  if (needed[1])
    gradients[1] = params.getWeightGradient();
  if (needed[2])
    gradients[2] = params.getBiasGradient();
  return success();
}
SavedValues BatchNormOp::getSavedValues() { return {{0, 1}, {1, 2}}; }

// y = (x - mean) rstd w + b with statistics that depend on nothing that is trained:
//   dx = dy rstd w, dw = sum(dy (x - mean) rstd), db = sum(dy)
LogicalResult NormalizeOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  Value dy = resultGradients[0];
  if (needed[1] || needed[2])
    return emitOpError(
        "normalizes with a mean or deviation that depends on a parameter, and has no "
        "derivative there; use gc.batch_norm");
  if (needed[0])
    gradients[0] = NormalizeGradOp::create(builder, getLoc(), getInput().getType(), dy, getRstd(),
                                           getWeight());
  if (!needed[3] && !needed[4])
    return success();
  auto params =
      BatchNormGradParamsOp::create(builder, getLoc(), getWeight().getType(), getBias().getType(),
                                    dy, getInput(), getMean(), getRstd());
  if (needed[3])
    gradients[3] = params.getWeightGradient();
  if (needed[4])
    gradients[4] = params.getBiasGradient();
  return success();
}
SavedValues NormalizeOp::getSavedValues() { return {{0, 1, 2, 3}, {}}; }

// y = h w + b over the last dimension, g = dy w, avg over the last dimension:
//   dx = rstd (g - avg(g) - h avg(g h)), dw = sum over rows (dy h), db = sum over rows (dy)
LogicalResult LayerNormOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (failed(adjoint::onlyFirstResult(*this, resultGradients)))
    return failure();
  auto grad = LayerNormGradOp::create(
      builder, getLoc(), getInput().getType(), getWeight().getType(), getBias().getType(),
      resultGradients[0], getInput(), getMean(), getRstd(), getWeight());
  for (unsigned i : needed.set_bits())
    gradients[i] = grad.getResult(i);
  return success();
}
SavedValues LayerNormOp::getSavedValues() { return {{0, 1}, {1, 2}}; }

// As layer norm, with averages over the space and channels of a sample's group and the parameters'
// gradients summed over batch and space.
LogicalResult GroupNormOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (failed(adjoint::onlyFirstResult(*this, resultGradients)))
    return failure();
  auto grad = GroupNormGradOp::create(
      builder, getLoc(), getInput().getType(), getWeight().getType(), getBias().getType(),
      resultGradients[0], getInput(), getMean(), getRstd(), getWeight(), getGroupsAttr());
  for (unsigned i : needed.set_bits())
    gradients[i] = grad.getResult(i);
  return success();
}
SavedValues GroupNormOp::getSavedValues() { return {{0, 1}, {1, 2}}; }

} // namespace gc
