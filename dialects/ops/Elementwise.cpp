//===- Elementwise.cpp - point-by-point ops -------------------------------===//
#include "dialects/ops/Formula.h"
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

//===----------------------------------------------------------------------===//
// Scalar expressions
//===----------------------------------------------------------------------===//

#define GC_SCALAR(Op, expression)                                                                  \
  void Op::emitScalar(OpBuilder &builder, Location loc, ValueRange x,                              \
                      SmallVectorImpl<Value> &results) {                                           \
    Formula f{builder, loc, x[0].getType()};                                                       \
    results.push_back(expression);                                                                 \
  }

GC_SCALAR(AddOp, f.add(x[0], x[1]))
GC_SCALAR(SubOp, f.sub(x[0], x[1]))
GC_SCALAR(MulOp, f.mul(x[0], x[1]))
GC_SCALAR(DivOp, f.div(x[0], x[1]))
GC_SCALAR(NegOp, f.neg(x[0]))
GC_SCALAR(ExpOp, f.exp(x[0]))
GC_SCALAR(LogOp, math::LogOp::create(builder, loc, x[0]))
GC_SCALAR(SqrtOp, math::SqrtOp::create(builder, loc, x[0]))
GC_SCALAR(TanhOp, math::TanhOp::create(builder, loc, x[0]))
GC_SCALAR(SigmoidOp, f.div(f.constant(1), f.add(f.constant(1), f.exp(f.neg(x[0])))))
// Not maximumf: a NaN must stay a NaN, and -0 and 0 need no telling apart.
GC_SCALAR(
    ReluOp,
    f.select(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ULE, x[0], f.constant(0)),
             f.select(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x[0], x[0]),
                      x[0], f.constant(0)),
             x[0]))
// Not x times a sigmoid: where exp(-x) overflows, x / infinity is the right zero.
GC_SCALAR(SiluOp, f.div(x[0], f.add(f.constant(1), f.exp(f.neg(x[0])))))
GC_SCALAR(ScaleOp, f.mul(x[0], f.constant(getFactor().convertToFloat())))
GC_SCALAR(AddScalarOp, f.add(x[0], f.constant(getAddend().convertToFloat())))
GC_SCALAR(AbsOp, f.abs(x[0]))
GC_SCALAR(RsqrtOp, f.div(f.constant(1), f.sqrt(x[0])))
// max(x, 0) + log(1 + exp(-|x|)): no exponential overflows.
GC_SCALAR(SoftplusOp,
          f.add(f.atLeast(x[0], 0), f.log(f.add(f.constant(1), f.exp(f.neg(f.abs(x[0])))))))
GC_SCALAR(HardsigmoidOp,
          f.div(f.atMost(f.atLeast(f.add(x[0], f.constant(3)), 0), 6), f.constant(6)))
GC_SCALAR(HardswishOp,
          f.div(f.mul(x[0], f.atMost(f.atLeast(f.add(x[0], f.constant(3)), 0), 6)), f.constant(6)))
GC_SCALAR(LeakyReluOp,
          f.select(f.positive(x[0]), x[0], f.mul(x[0], f.constant(getSlope().convertToFloat()))))
GC_SCALAR(EluOp, f.select(f.positive(x[0]), x[0],
                          f.mul(math::ExpM1Op::create(builder, loc, x[0]),
                                f.constant(getAlpha().convertToFloat()))))
GC_SCALAR(SelectOp, f.select(f.compare(arith::CmpFPredicate::UNE, x[0], f.constant(0)), x[1], x[2]))
GC_SCALAR(ReluGradOp, f.select(f.positive(x[0]), x[1], f.constant(0)))
GC_SCALAR(AbsGradOp, f.select(f.positive(x[0]), x[1],
                              f.select(f.positive(f.neg(x[0])), f.neg(x[1]), f.mul(x[0], x[1]))))
GC_SCALAR(LeakyReluGradOp,
          f.select(f.positive(x[0]), x[1], f.mul(x[1], f.constant(getSlope().convertToFloat()))))
GC_SCALAR(EluGradOp, f.select(f.positive(x[0]), x[1],
                              f.mul(x[1], f.add(x[0], f.constant(getAlpha().convertToFloat())))))
GC_SCALAR(HardsigmoidGradOp, f.select(f.positive(f.mul(x[0], f.sub(f.constant(1), x[0]))),
                                      f.div(x[1], f.constant(6)), f.constant(0)))
GC_SCALAR(BiasOp, f.add(x[0], x[1]))
GC_SCALAR(InverseDeviationOp,
          f.div(f.constant(1),
                math::SqrtOp::create(builder, loc,
                                     f.add(x[0], f.constant(getEpsilon().convertToFloat())))))
GC_SCALAR(NormalizeOp, f.add(f.mul(f.sub(x[0], x[1]), f.mul(x[2], x[3])), x[4]))
GC_SCALAR(NormalizeGradOp, f.mul(x[0], f.mul(x[1], x[2])))

// tanh(u) of the approximate GELU, u = sqrt(2 / pi) (x + 0.044715 x^3).
static constexpr double rootOfTwoOverPi = 0.79788456080286536, geluCubic = 0.044715;
static Value geluTanh(const Formula &f, Value x) {
  Value cubic = f.mul(f.mul(f.mul(x, x), x), f.constant(geluCubic));
  return f.tanh(f.mul(f.constant(rootOfTwoOverPi), f.add(x, cubic)));
}

void GeluOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                        SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  if (getApproximate() == GeluForm::None)
    return results.push_back(f.mul(x[0], f.normalCdf(x[0])));
  Value half = f.mul(x[0], f.constant(0.5));
  results.push_back(f.mul(half, f.add(f.constant(1), geluTanh(f, x[0]))));
}

void GeluGradOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                            SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  if (getApproximate() == GeluForm::Tanh) {
    Value one = f.constant(1), half = f.constant(0.5), t = geluTanh(f, x[0]);
    Value inner = f.mul(f.constant(rootOfTwoOverPi), // u'
                        f.add(one, f.mul(f.mul(x[0], x[0]), f.constant(3 * geluCubic))));
    Value slope = f.mul(f.mul(f.mul(half, x[0]), f.sub(one, f.mul(t, t))), inner);
    return results.push_back(f.mul(x[1], f.add(f.mul(half, f.add(one, t)), slope)));
  }
  Value density = f.mul(f.exp(f.mul(f.mul(x[0], x[0]), f.constant(-0.5))),
                        f.constant(0.39894228040143268)); // 1 / sqrt(2 pi)
  results.push_back(f.mul(x[1], f.add(f.normalCdf(x[0]), f.mul(x[0], density))));
}

// x^n for n > 0 by squaring.
static Value wholePower(const Formula &f, Value x, int n) {
  Value result;
  for (; n > 0; n /= 2, x = n > 0 ? f.mul(x, x) : x)
    if (n % 2 == 1)
      result = result ? f.mul(result, x) : x;
  return result;
}

// Whole and half exponents of at most this size, and one less for the derivative, become products.
static constexpr int kLargestWhole = 32;

void PowOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                       SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  double exponent = getExponent().convertToFloat(), size = std::abs(exponent);
  if (size > kLargestWhole + 1 || std::trunc(2 * size) != 2 * size)
    return results.push_back(f.exp(f.mul(f.constant(exponent), f.log(x[0]))));
  Value power = wholePower(f, x[0], static_cast<int>(size));
  if (std::trunc(size) != size)
    power = power ? f.mul(power, f.sqrt(x[0])) : f.sqrt(x[0]);
  results.push_back(exponent < 0 ? f.div(f.constant(1), power) : power);
}

void ClampOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                         SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  Value y = x[0];
  if (getLow())
    y = f.atLeast(y, getLow()->convertToFloat());
  if (getHigh())
    y = f.atMost(y, getHigh()->convertToFloat());
  results.push_back(y);
}

void ClampGradOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                             SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  Value dx = x[1], zero = f.constant(0);
  auto keep = [&](arith::CmpFPredicate inside, APFloat bound) {
    dx = f.select(f.compare(inside, x[0], f.constant(bound.convertToFloat())), dx, zero);
  };
  if (getLow())
    keep(getOpen() ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE, *getLow());
  if (getHigh())
    keep(getOpen() ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OLE, *getHigh());
  results.push_back(dx);
}

void HardswishGradOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                                 SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  Value slope = f.div(f.add(f.mul(x[0], f.constant(2)), f.constant(3)), f.constant(6));
  Value low = f.compare(arith::CmpFPredicate::OLE, x[0], f.constant(-3));
  Value high = f.compare(arith::CmpFPredicate::OGE, x[0], f.constant(3));
  results.push_back(f.select(low, f.constant(0), f.select(high, x[1], f.mul(x[1], slope))));
}

static arith::CmpFPredicate comparison(Predicate predicate) {
  switch (predicate) {
  case Predicate::Less:
    return arith::CmpFPredicate::OLT;
  case Predicate::LessOrEqual:
    return arith::CmpFPredicate::OLE;
  case Predicate::Greater:
    return arith::CmpFPredicate::OGT;
  case Predicate::GreaterOrEqual:
    return arith::CmpFPredicate::OGE;
  case Predicate::Equal:
    return arith::CmpFPredicate::OEQ;
  case Predicate::NotEqual:
    return arith::CmpFPredicate::UNE;
  }
  llvm_unreachable("all predicates are handled");
}
// In the type of kernels; what is stored is rounded there.
void CastOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                        SmallVectorImpl<Value> &results) {
  Type computed = x[0].getType(), element = tensorType(getOutput()).getElementType();
  if (auto vector = dyn_cast<VectorType>(computed))
    element = vector.clone(element);
  Value rounded = x[0];
  if (element != computed) {
    rounded = arith::TruncFOp::create(builder, loc, element, rounded);
    rounded = arith::ExtFOp::create(builder, loc, computed, rounded);
  }
  results.push_back(rounded);
}

GC_SCALAR(CompareOp,
          f.select(f.compare(comparison(getPredicate()), x[0], x[1]), f.constant(1), f.constant(0)))

void MaskedFillOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                              SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  Value fill = f.constant(getValue().convertToFloat());
  Value isSet = f.compare(arith::CmpFPredicate::UNE, x[1], f.constant(0));
  results.push_back(getInverted() ? f.select(isSet, x[0], fill) : f.select(isSet, fill, x[0]));
}

void SiluGradOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                            SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  Value one = f.constant(1);
  Value sigmoid = f.div(one, f.add(one, f.exp(f.neg(x[0]))));
  Value slope = f.mul(sigmoid, f.add(one, f.mul(x[0], f.sub(one, sigmoid))));
  results.push_back(f.mul(x[1], slope));
}

void BatchNormGradParamsOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                                       SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  results.push_back(f.mul(x[0], f.mul(f.sub(x[1], x[2]), x[3])));
  results.push_back(x[0]);
}

void BatchNormGradInputOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                                      SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  double n = static_cast<double>(elementCount(getInput().getType())) / lastDim(getInput());
  Value average = f.constant(1 / n);
  Value hat = f.mul(f.sub(x[1], x[2]), x[3]);
  Value centred = f.sub(f.sub(x[0], f.mul(x[6], average)), f.mul(hat, f.mul(x[5], average)));
  results.push_back(f.mul(f.mul(x[4], x[3]), centred));
}

void ReduceSumOp::emitScalar(OpBuilder &, Location, ValueRange x, SmallVectorImpl<Value> &results) {
  results.push_back(x[0]);
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

Access BiasOp::getOperandAccess(unsigned i) { return i == 0 ? Access::Full : Access::Channel; }
Access NormalizeOp::getOperandAccess(unsigned i) { return i == 0 ? Access::Full : Access::Channel; }
Access NormalizeGradOp::getOperandAccess(unsigned i) {
  return i == 0 ? Access::Full : Access::Channel;
}
Access InverseDeviationOp::getOperandAccess(unsigned) { return Access::Full; }
Access BatchNormGradInputOp::getOperandAccess(unsigned i) {
  return i < 2 ? Access::Full : Access::Channel;
}
Access BatchNormGradParamsOp::getOperandAccess(unsigned i) {
  return i < 2 ? Access::Full : Access::Channel;
}
Access BatchNormGradParamsOp::getResultAccess(unsigned) { return Access::Channel; }
FusionKind BatchNormGradParamsOp::getFusionKind() { return FusionKind::SumOverRows; }
Access ReduceSumOp::getOperandAccess(unsigned) { return Access::Full; }
Access ReduceSumOp::getResultAccess(unsigned) { return Access::Channel; }

// Only a sum over all rows is one; other sums run alone.
FusionKind ReduceSumOp::getFusionKind() {
  int64_t rank = tensorType(getInput()).getRank();
  bool overRows = static_cast<int64_t>(getDimensions().size()) == rank - 1 &&
                  !llvm::is_contained(getDimensions(), rank - 1);
  return overRows ? FusionKind::SumOverRows : FusionKind::None;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult BiasOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}
LogicalResult BiasOp::verify() { return verifyChannel(*this, getInput(), getBias(), "bias"); }

LogicalResult PowOp::verify() {
  double exponent = getExponent().convertToFloat();
  if (exponent == 0)
    return emitOpError("exponent must not be 0: the result would be 1 everywhere");
  if (std::abs(exponent) > kLargestWhole && std::trunc(exponent) == exponent)
    return emitOpError() << "a whole exponent is at most " << kLargestWhole << ", got " << exponent;
  return success();
}

// The bounds of a clamp or its adjoint.
template <typename Op> static LogicalResult verifyBounds(Op op) {
  if (!op.getLow() && !op.getHigh())
    return op.emitOpError("needs low, high or both");
  if (op.getLow() && op.getHigh() && *op.getLow() > *op.getHigh())
    return op.emitOpError() << "low must not be above high, got " << op.getLow()->convertToFloat()
                            << " and " << op.getHigh()->convertToFloat();
  return success();
}
LogicalResult ClampOp::verify() { return verifyBounds(*this); }
LogicalResult ClampGradOp::verify() { return verifyBounds(*this); }

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}
LogicalResult DropoutOp::verify() {
  float p = getProbability().convertToFloat();
  if (!(p >= 0 && p < 1))
    return emitOpError() << "probability must be in [0, 1), got " << p;
  if (tensorType(getGenerator()).getDimSize(0) != 2)
    return emitOpError("generator must hold (seed, step)");
  if (getMicroBatch() && tensorType(getMicroBatch()).getDimSize(0) != 1)
    return emitOpError("micro_batch must hold one number, the index of the micro-batch");
  return success();
}

// Nothing is dropped in inference mode.
LogicalResult DropoutOp::toInference() {
  getOutput().replaceAllUsesWith(getInput());
  erase();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto input = tensorType(getInput()), output = tensorType(getOutput());
  auto dimensions = getDimensions();
  if (static_cast<int64_t>(dimensions.size()) != input.getRank())
    return emitOpError() << "dimensions must have one entry per input dimension, "
                         << input.getRank();
  if (failed(verifyDimensions(*this, dimensions, output.getRank())))
    return failure();
  for (auto [i, d] : llvm::enumerate(dimensions)) {
    if (i > 0 && dimensions[i - 1] >= d)
      return emitOpError("dimensions must ascend");
    if (input.getDimSize(i) != 1 && input.getDimSize(i) != output.getDimSize(d))
      return emitOpError() << "input dimension " << i << " (" << input.getDimSize(i)
                           << ") does not fit result dimension " << d << " ("
                           << output.getDimSize(d) << ")";
  }
  return success();
}

} // namespace gc
