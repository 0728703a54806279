//===- Elementwise.cpp - derivatives of point-by-point ops ----------------===//
//
// dy is the gradient of the result; da, db, dx those of the operands.
//
//===----------------------------------------------------------------------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc {

// y = a + b:  da = dy, db = dy
LogicalResult AddOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  for (unsigned i : needed.set_bits())
    gradients[i] = resultGradients[0];
  return success();
}
SavedValues AddOp::getSavedValues() { return {}; }

// y = a - b:  da = dy, db = -dy
LogicalResult SubOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  Value dy = resultGradients[0];
  if (needed[0])
    gradients[0] = dy;
  if (needed[1])
    gradients[1] = NegOp::create(builder, getLoc(), dy.getType(), dy);
  return success();
}
SavedValues SubOp::getSavedValues() { return {}; }

// y = a b:  da = dy b, db = dy a
LogicalResult MulOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  Value dy = resultGradients[0];
  if (needed[0])
    gradients[0] = MulOp::create(builder, getLoc(), dy.getType(), dy, getRhs());
  if (needed[1])
    gradients[1] = MulOp::create(builder, getLoc(), dy.getType(), dy, getLhs());
  return success();
}
SavedValues MulOp::getSavedValues() { return {{0, 1}, {}}; }

// y = a / b:  da = dy / b, db = -dy a / b^2 = -da y
LogicalResult DivOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  Type type = getType();
  Value da = DivOp::create(builder, getLoc(), type, resultGradients[0], getRhs());
  if (needed[0])
    gradients[0] = da;
  if (needed[1])
    gradients[1] = NegOp::create(builder, getLoc(), type,
                                 MulOp::create(builder, getLoc(), type, da, getOutput()));
  return success();
}
SavedValues DivOp::getSavedValues() { return {{1}, {0}}; }

// y = -x:  dx = -dy
LogicalResult NegOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = NegOp::create(builder, getLoc(), getType(), resultGradients[0]);
  return success();
}
SavedValues NegOp::getSavedValues() { return {}; }

// y = exp(x):  dx = dy y
LogicalResult ExpOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = MulOp::create(builder, getLoc(), getType(), resultGradients[0], getOutput());
  return success();
}
SavedValues ExpOp::getSavedValues() { return {{}, {0}}; }

// y = log(x):  dx = dy / x
LogicalResult LogOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = DivOp::create(builder, getLoc(), getType(), resultGradients[0], getInput());
  return success();
}
SavedValues LogOp::getSavedValues() { return {{0}, {}}; }

// y = sqrt(x):  dx = dy / (2 y)
LogicalResult SqrtOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = adjoint::scale(
        builder, getLoc(),
        DivOp::create(builder, getLoc(), getType(), resultGradients[0], getOutput()), 0.5);
  return success();
}
SavedValues SqrtOp::getSavedValues() { return {{}, {0}}; }

// y = tanh(x):  dx = dy (1 - y^2) = dy - (dy y) y
LogicalResult TanhOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  Type type = getType();
  Value dy = resultGradients[0];
  Value dyY = MulOp::create(builder, getLoc(), type, dy, getOutput());
  Value dyYY = MulOp::create(builder, getLoc(), type, dyY, getOutput());
  gradients[0] = SubOp::create(builder, getLoc(), type, dy, dyYY);
  return success();
}
SavedValues TanhOp::getSavedValues() { return {{}, {0}}; }

// y = 1 / (1 + exp(-x)):  dx = dy y (1 - y) = dy y - (dy y) y
LogicalResult SigmoidOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                      const llvm::SmallBitVector &needed,
                                      adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  Type type = getType();
  Value dyY = MulOp::create(builder, getLoc(), type, resultGradients[0], getOutput());
  Value dyYY = MulOp::create(builder, getLoc(), type, dyY, getOutput());
  gradients[0] = SubOp::create(builder, getLoc(), type, dyY, dyYY);
  return success();
}
SavedValues SigmoidOp::getSavedValues() { return {{}, {0}}; }

// y = max(x, 0):  dx = dy where y > 0, else 0 (PyTorch's choice at the kink)
LogicalResult ReluOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        ReluGradOp::create(builder, getLoc(), getType(), getOutput(), resultGradients[0]);
  return success();
}
SavedValues ReluOp::getSavedValues() { return {{}, {0}}; }

// y = x (1 + erf(x / sqrt 2)) / 2:  dx = dy ((1 + erf(x / sqrt 2)) / 2 + x exp(-x^2 / 2) / sqrt(2
// pi))
// y = x (1 + t) / 2 with t = tanh(u):  dx = dy ((1 + t) / 2 + x (1 - t^2) u' / 2)
LogicalResult GeluOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = GeluGradOp::create(builder, getLoc(), getType(), getInput(), resultGradients[0],
                                      getApproximate());
  return success();
}
SavedValues GeluOp::getSavedValues() { return {{0}, {}}; }

// y = x s with s = 1 / (1 + exp(-x)), s' = s (1 - s):  dx = dy (s + x s (1 - s))
LogicalResult SiluOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = SiluGradOp::create(builder, getLoc(), getType(), getInput(), resultGradients[0]);
  return success();
}
SavedValues SiluOp::getSavedValues() { return {{0}, {}}; }

// y = x + addend:  dx = dy
LogicalResult AddScalarOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = resultGradients[0];
  return success();
}
SavedValues AddScalarOp::getSavedValues() { return {}; }

// y = |x|:  dx = dy sign(x), 0 at 0 (PyTorch's choice)
LogicalResult AbsOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = AbsGradOp::create(builder, getLoc(), getType(), getInput(), resultGradients[0]);
  return success();
}
SavedValues AbsOp::getSavedValues() { return {{0}, {}}; }

// y = x^(-1/2):  dx = -dy y^3 / 2
LogicalResult RsqrtOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                    const llvm::SmallBitVector &needed,
                                    adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  Type type = getType();
  Value square = MulOp::create(builder, getLoc(), type, getOutput(), getOutput());
  Value dyY = MulOp::create(builder, getLoc(), type, resultGradients[0], getOutput());
  gradients[0] =
      adjoint::scale(builder, getLoc(), MulOp::create(builder, getLoc(), type, dyY, square), -0.5);
  return success();
}
SavedValues RsqrtOp::getSavedValues() { return {{}, {0}}; }

// y = x^p:  dx = dy p x^(p - 1)
LogicalResult PowOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  double exponent = getExponent().convertToFloat();
  if (!needed[0])
    return success();
  gradients[0] = resultGradients[0];
  if (exponent == 1)
    return success();
  Value power = getInput();
  if (exponent != 2)
    power = PowOp::create(builder, getLoc(), getType(), power,
                          builder.getF32FloatAttr(static_cast<float>(exponent - 1)));
  gradients[0] = adjoint::scale(
      builder, getLoc(), MulOp::create(builder, getLoc(), getType(), resultGradients[0], power),
      exponent);
  return success();
}
SavedValues PowOp::getSavedValues() {
  return getExponent().convertToFloat() == 1 ? SavedValues{} : SavedValues{{0}, {}};
}

// y = min(max(x, low), high):  dx = dy where x is between the bounds, else 0. Of an open interval
// the output knows it as well.
LogicalResult ClampOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                    const llvm::SmallBitVector &needed,
                                    adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        ClampGradOp::create(builder, getLoc(), getType(), getOpen() ? getOutput() : getInput(),
                            resultGradients[0], getLowAttr(), getHighAttr(), getOpenAttr());
  return success();
}
SavedValues ClampOp::getSavedValues() {
  return getOpen() ? SavedValues{{}, {0}} : SavedValues{{0}, {}};
}

// y = x where x > 0, else s x:  dx = dy where y > 0, else s dy
LogicalResult LeakyReluOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = LeakyReluGradOp::create(builder, getLoc(), getType(), getOutput(),
                                           resultGradients[0], getSlopeAttr());
  return success();
}
SavedValues LeakyReluOp::getSavedValues() { return {{}, {0}}; }

// y = x where x > 0, else a (exp(x) - 1):  dx = dy where y > 0, else dy a exp(x) = dy (y + a)
LogicalResult EluOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = EluGradOp::create(builder, getLoc(), getType(), getOutput(), resultGradients[0],
                                     getAlphaAttr());
  return success();
}
SavedValues EluOp::getSavedValues() { return {{}, {0}}; }

// y = log(1 + exp(x)):  dx = dy / (1 + exp(-x))
LogicalResult SoftplusOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                       const llvm::SmallBitVector &needed,
                                       adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = MulOp::create(builder, getLoc(), getType(), resultGradients[0],
                                 SigmoidOp::create(builder, getLoc(), getType(), getInput()));
  return success();
}
SavedValues SoftplusOp::getSavedValues() { return {{0}, {}}; }

// y = x min(max(x + 3, 0), 6) / 6:  dx = dy (2 x + 3) / 6 for -3 < x < 3, 0 below, dy above
LogicalResult HardswishOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        HardswishGradOp::create(builder, getLoc(), getType(), getInput(), resultGradients[0]);
  return success();
}
SavedValues HardswishOp::getSavedValues() { return {{0}, {}}; }

// y = min(max(x + 3, 0), 6) / 6:  dx = dy / 6 where 0 < y < 1, else 0
LogicalResult HardsigmoidOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                          const llvm::SmallBitVector &needed,
                                          adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        HardsigmoidGradOp::create(builder, getLoc(), getType(), getOutput(), resultGradients[0]);
  return success();
}
SavedValues HardsigmoidOp::getSavedValues() { return {{}, {0}}; }

// y = 0 or 1:  no gradient
LogicalResult CompareOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                      const llvm::SmallBitVector &needed,
                                      adjoint::Gradients &gradients) {
  return success();
}
SavedValues CompareOp::getSavedValues() { return {}; }

// y = a where m != 0, else b:  da = dy where m != 0, else 0;  db the other way round
LogicalResult SelectOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                     const llvm::SmallBitVector &needed,
                                     adjoint::Gradients &gradients) {
  auto where = [&](bool isSet) {
    return MaskedFillOp::create(builder, getLoc(), getType(), resultGradients[0], getMask(),
                                builder.getF32FloatAttr(0), builder.getBoolAttr(isSet));
  };
  if (needed[1])
    gradients[1] = where(true);
  if (needed[2])
    gradients[2] = where(false);
  return success();
}
SavedValues SelectOp::getSavedValues() { return {{0}, {}}; }

// y = v where m != 0, else x:  dx = 0 where m != 0, else dy
LogicalResult MaskedFillOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                         const llvm::SmallBitVector &needed,
                                         adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = MaskedFillOp::create(builder, getLoc(), getType(), resultGradients[0], getMask(),
                                        builder.getF32FloatAttr(0), getInvertedAttr());
  return success();
}
SavedValues MaskedFillOp::getSavedValues() { return {{1}, {}}; }

// y = factor x:  dx = factor dy
LogicalResult ScaleOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                    const llvm::SmallBitVector &needed,
                                    adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        ScaleOp::create(builder, getLoc(), getType(), resultGradients[0], getFactorAttr());
  return success();
}
SavedValues ScaleOp::getSavedValues() { return {}; }

// y = x in another type:  dx = dy in the type of x
LogicalResult CastOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = adjoint::castTo(builder, getLoc(), resultGradients[0], getInput().getType());
  return success();
}
SavedValues CastOp::getSavedValues() { return {}; }

// y[r, c] = x[r, c] + b[c]:  dx = dy, db[c] = sum_r dy[r, c]
LogicalResult BiasOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = resultGradients[0];
  if (needed[1])
    gradients[1] = adjoint::sumRows(builder, getLoc(), resultGradients[0]);
  return success();
}
SavedValues BiasOp::getSavedValues() { return {}; }

// y[j] = x[j restricted to `dimensions`, 0 where x has size 1]:  dx = the sum of dy over what
// repeats
LogicalResult BroadcastOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  auto inputType = cast<RankedTensorType>(getInput().getType());
  auto outputType = cast<RankedTensorType>(getType());
  SmallVector<int64_t> kept, repeated;
  for (auto [inputDim, outputDim] : llvm::enumerate(getDimensions()))
    if (inputType.getDimSize(inputDim) == outputType.getDimSize(outputDim))
      kept.push_back(outputDim);
  for (int64_t d = 0; d < outputType.getRank(); ++d)
    if (!llvm::is_contained(kept, d))
      repeated.push_back(d);
  // `dimensions` ascend, so what is left is in the input's order.
  Value sum = adjoint::sumOver(builder, getLoc(), resultGradients[0], repeated);
  gradients[0] = adjoint::reshapeTo(builder, getLoc(), sum, inputType);
  return success();
}
SavedValues BroadcastOp::getSavedValues() { return {}; }

// y = mask x / (1 - p):  dx = mask dy / (1 - p), the mask drawn again from the same counter
LogicalResult DropoutOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                      const llvm::SmallBitVector &needed,
                                      adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        DropoutOp::create(builder, getLoc(), getType(), resultGradients[0], getGenerator(),
                          getMicroBatch(), getProbabilityAttr(), getIdAttr());
  return success();
}
SavedValues DropoutOp::getSavedValues() {
  return getMicroBatch() ? SavedValues{{1, 2}, {}} : SavedValues{{1}, {}};
}

} // namespace gc
