//===- Pool.cpp - derivatives of pooling ----------------------------------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc {

// y[o] = x[argmax of window o]:  dx[i] = sum of dy[o] over the windows o that i won, from the byte
// index alone
LogicalResult MaxPoolOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                      const llvm::SmallBitVector &needed,
                                      adjoint::Gradients &gradients) {
  if (failed(adjoint::onlyFirstResult(*this, resultGradients)))
    return failure();
  if (needed[0])
    gradients[0] = MaxPoolGradOp::create(builder, getLoc(), getInput().getType(), getIndex(),
                                         resultGradients[0], getKernelAttr(), getStridesAttr(),
                                         getPaddingAttr(), getCeilModeAttr());
  return success();
}
SavedValues MaxPoolOp::getSavedValues() { return {{}, {1}}; }

// y[o] = sum of x over window o / k[o]:  dx[i] = sum of dy[o] / k[o] over the windows o that hold i
LogicalResult AvgPoolOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                      const llvm::SmallBitVector &needed,
                                      adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = AvgPoolGradOp::create(
        builder, getLoc(), getInput().getType(), resultGradients[0], getKernelAttr(),
        getStridesAttr(), getPaddingAttr(), getCeilModeAttr(), getCountPaddingAttr());
  return success();
}
SavedValues AvgPoolOp::getSavedValues() { return {}; }

// y[n, c] = sum_s x[n, s, c] / S:  dx[n, s, c] = dy[n, c] / S
LogicalResult GlobalAvgPoolOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                            const llvm::SmallBitVector &needed,
                                            adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        GlobalAvgPoolGradOp::create(builder, getLoc(), getInput().getType(), resultGradients[0]);
  return success();
}
SavedValues GlobalAvgPoolOp::getSavedValues() { return {}; }

} // namespace gc
