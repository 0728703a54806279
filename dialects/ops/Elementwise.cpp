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
GC_SCALAR(GeluOp, f.mul(x[0], f.normalCdf(x[0])))
// Not x times a sigmoid: where exp(-x) overflows, x / infinity is the right zero.
GC_SCALAR(SiluOp, f.div(x[0], f.add(f.constant(1), f.exp(f.neg(x[0])))))
GC_SCALAR(ScaleOp, f.mul(x[0], f.constant(getFactor().convertToFloat())))
GC_SCALAR(ReluGradOp, f.select(f.positive(x[0]), x[1], f.constant(0)))
GC_SCALAR(BiasOp, f.add(x[0], x[1]))
GC_SCALAR(InverseDeviationOp,
          f.div(f.constant(1),
                math::SqrtOp::create(builder, loc,
                                     f.add(x[0], f.constant(getEpsilon().convertToFloat())))))
GC_SCALAR(NormalizeOp, f.add(f.mul(f.sub(x[0], x[1]), f.mul(x[2], x[3])), x[4]))
GC_SCALAR(NormalizeGradOp, f.mul(x[0], f.mul(x[1], x[2])))

void GeluGradOp::emitScalar(OpBuilder &builder, Location loc, ValueRange x,
                            SmallVectorImpl<Value> &results) {
  Formula f{builder, loc, x[0].getType()};
  Value density = f.mul(f.exp(f.mul(f.mul(x[0], x[0]), f.constant(-0.5))),
                        f.constant(0.39894228040143268)); // 1 / sqrt(2 pi)
  results.push_back(f.mul(x[1], f.add(f.normalCdf(x[0]), f.mul(x[0], density))));
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
