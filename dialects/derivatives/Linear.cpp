//===- Linear.cpp - derivatives of convolution and matrix products --------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc {

// A fused activation would need its input or a sign mask; fusion runs after autodiff, so it is not
// worth keeping one.
static LogicalResult refuseActivation(Operation *op, Activation activation) {
  if (activation == Activation::None)
    return success();
  return op->emitOpError("with activation '")
         << stringifyActivation(activation)
         << "' has no adjoint: differentiate before fusing, or write the activation as its own op";
}

// Position of an optional operand in the operand list.
static unsigned operandIndex(MutableOperandRange range) {
  return llvm::cast<OpOperand>(*range.begin()).getOperandNumber();
}

// y = x * w + b + r (* is cross-correlation):
//   dx = dy * w transposed, dw = x * dy summed over batch and space, db = sum of dy over batch and
//   space, dr = dy
LogicalResult Conv2dOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                     const llvm::SmallBitVector &needed,
                                     adjoint::Gradients &gradients) {
  if (failed(refuseActivation(*this, getActivation())))
    return failure();
  Value dy = resultGradients[0];
  // The filter's gradient first: it is the last to read the input, which can die before the
  // input's gradient is made.
  bool biasNeeded = getBias() && needed[operandIndex(getBiasMutable())];
  if (needed[1]) {
    auto grad = Conv2dGradFilterOp::create(
        builder, getLoc(), getFilter().getType(), biasNeeded ? getBias().getType() : Type(),
        getInput(), dy, getStridesAttr(), getPaddingAttr(), getDilationAttr(), getGroupsAttr());
    gradients[1] = grad.getFilterGradient();
    if (biasNeeded)
      gradients[operandIndex(getBiasMutable())] = grad.getBiasGradient();
  } else if (biasNeeded) {
    gradients[operandIndex(getBiasMutable())] = adjoint::sumRows(builder, getLoc(), dy);
  }
  if (needed[0])
    gradients[0] = Conv2dGradInputOp::create(builder, getLoc(), getInput().getType(), dy,
                                             getFilter(), getStridesAttr(), getPaddingAttr(),
                                             getDilationAttr(), getGroupsAttr());
  if (getResidual() && needed[operandIndex(getResidualMutable())])
    gradients[operandIndex(getResidualMutable())] = dy;
  return success();
}
SavedValues Conv2dOp::getSavedValues() { return {{0, 1}, {}}; }

// y is the gradient of the input of z = conv(y', w) for a gradient x of z, so that
// <y, y'> = <x, conv(y', w)> for every y':
//   dx = conv(dy, w), dw = the filter's gradient of conv(dy, w) for the gradient x
LogicalResult Conv2dGradInputOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                              const llvm::SmallBitVector &needed,
                                              adjoint::Gradients &gradients) {
  Value dy = resultGradients[0];
  if (needed[1])
    gradients[1] = Conv2dGradFilterOp::create(builder, getLoc(), getFilter().getType(), Type(), dy,
                                              getGradient(), getStridesAttr(), getPaddingAttr(),
                                              getDilationAttr(), getGroupsAttr())
                       .getFilterGradient();
  if (needed[0])
    gradients[0] = Conv2dOp::create(builder, getLoc(), dy, getFilter(), Value(), getStrides(),
                                    getPadding(), getDilation(), getGroups());
  return success();
}
SavedValues Conv2dGradInputOp::getSavedValues() { return {{0, 1}, {}}; }

// y = x W^T + b + r:  dx = dy W, dW = dy^T x, db = sum of dy over rows, dr = dy
LogicalResult LinearOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                     const llvm::SmallBitVector &needed,
                                     adjoint::Gradients &gradients) {
  if (failed(refuseActivation(*this, getActivation())))
    return failure();
  Value dy = resultGradients[0];
  if (needed[1])
    gradients[1] =
        LinearGradWeightOp::create(builder, getLoc(), getWeight().getType(), getInput(), dy);
  if (needed[0])
    gradients[0] =
        LinearGradInputOp::create(builder, getLoc(), getInput().getType(), dy, getWeight());
  if (getBias() && needed[operandIndex(getBiasMutable())])
    gradients[operandIndex(getBiasMutable())] = adjoint::sumRows(builder, getLoc(), dy);
  if (getResidual() && needed[operandIndex(getResidualMutable())])
    gradients[operandIndex(getResidualMutable())] = dy;
  return success();
}
SavedValues LinearOp::getSavedValues() { return {{0, 1}, {}}; }

// Y = op(A) op(B):
//   A plain:       dA = dY op(B)^T      A transposed:  dA = op(B) dY^T
//   B plain:       dB = op(A)^T dY      B transposed:  dB = dY^T op(A)
LogicalResult MatmulOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                     const llvm::SmallBitVector &needed,
                                     adjoint::Gradients &gradients) {
  Value dy = resultGradients[0], a = getLhs(), b = getRhs();
  bool ta = getTransposeLhs(), tb = getTransposeRhs();
  if (needed[0])
    gradients[0] = ta ? MatmulOp::create(builder, getLoc(), a.getType(), b, dy, tb, true)
                      : MatmulOp::create(builder, getLoc(), a.getType(), dy, b, false, !tb);
  if (needed[1])
    gradients[1] = tb ? MatmulOp::create(builder, getLoc(), b.getType(), dy, a, true, ta)
                      : MatmulOp::create(builder, getLoc(), b.getType(), a, dy, !ta, false);
  return success();
}
SavedValues MatmulOp::getSavedValues() { return {{0, 1}, {}}; }

} // namespace gc
