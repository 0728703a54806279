//===- Optimizers.cpp - the formulas of optimizers ------------------------===//
#include "dialects/ops/Formula.h"
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

namespace {

// The gradient as an update takes it: times the step's scale, and cut where elements are clipped. A
// NaN stays one.
Value takenGradient(const Formula &f, Value gradient, Value scale, std::optional<APFloat> clip) {
  Value g = f.mul(gradient, scale);
  if (!clip)
    return g;
  float limit = clip->convertToFloat();
  g = f.select(f.greater(g, f.constant(limit)), f.constant(limit), g);
  return f.select(f.greater(f.constant(-limit), g), f.constant(-limit), g);
}

// What every optimizer's update begins and ends with. A number that does nothing writes no code.
class OptimizerStep {
  OptimizerOpInterface op;
  ValueRange variables;

public:
  // operands = gradient, then the coefficients (lr, s, a, b); variables = the parameter, the op's
  // states, and the average if there is one.
  OptimizerStep(OptimizerOpInterface op, OpBuilder &b, Location loc, ValueRange operands,
                ValueRange variables)
      : op(op), variables(variables), f(b, loc, variables[0].getType()), p(variables[0]),
        g(takenGradient(f, operands[0], operands[2], op.getClipValue())), lr(scaled(operands[1])),
        a(operands[3]), b(operands[4]) {}

  // By the group that the parameter is in.
  Value scaled(Value rate) {
    float scale = op.getLrScale().convertToFloat();
    return scale == 1 ? rate : f.mul(f.constant(scale), rate);
  }
  // What pulls the parameter to 0: as a part of the gradient, or, in decayed(), by itself.
  Value withDecay(Value gradient) {
    float decay = op.getWeightDecay().convertToFloat();
    return decay == 0 ? gradient : f.add(gradient, f.mul(f.constant(decay), p));
  }
  Value decayed() {
    float decay = op.getWeightDecay().convertToFloat();
    return decay == 0 ? p : f.mul(p, f.sub(f.constant(1), f.mul(lr, f.constant(decay))));
  }
  void finish(Value parameter, ArrayRef<Value> states, SmallVectorImpl<Value> &results) {
    results.push_back(parameter);
    results.append(states.begin(), states.end());
    if (!op.getAverageAttr())
      return;
    float decay = op.getAverageDecay().convertToFloat();
    results.push_back(
        f.add(f.mul(f.constant(decay), variables.back()), f.mul(f.constant(1 - decay), parameter)));
  }

  Formula f;
  Value p, g, lr, a, b;
};

SmallVector<FlatSymbolRefAttr> optimizerVariables(OptimizerOpInterface op,
                                                  std::initializer_list<FlatSymbolRefAttr> states) {
  SmallVector<FlatSymbolRefAttr> variables{op.getParameterAttr()};
  for (FlatSymbolRefAttr variable : states)
    if (variable)
      variables.push_back(variable);
  if (FlatSymbolRefAttr average = op.getAverageAttr())
    variables.push_back(average);
  return variables;
}

LogicalResult verifyCoefficients(Operation *op, Value coefficients) {
  int64_t count = tensorType(coefficients).getDimSize(0);
  if (count != kCoefficients)
    return op->emitOpError() << "takes " << kCoefficients << " coefficients, got " << count;
  return success();
}

LogicalResult verifyOptimizer(OptimizerOpInterface op) {
  if (failed(verifyCoefficients(op, op.getCoefficients())))
    return failure();
  if (!op.getAverageAttr() && !op.getAverageDecay().isZero())
    return op->emitOpError("has an average_decay, but no average");
  return success();
}

} // namespace

SmallVector<FlatSymbolRefAttr> SgdOp::getVariables() {
  return optimizerVariables(*this, {getVelocityAttr()});
}

// (a, b) = (momentum, 1 - dampening), or (0, 1) in the first step.
void SgdOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                       SmallVectorImpl<Value> &results) {
  OptimizerStep step(*this, b, loc, operands, variables);
  const Formula &f = step.f;
  Value g = step.withDecay(step.g), direction = g;
  SmallVector<Value> states;
  if (getVelocityAttr()) {
    Value v = f.add(f.mul(step.a, variables[1]), f.mul(step.b, g));
    direction = getNesterov() ? f.add(g, f.mul(f.constant(getMomentum().convertToFloat()), v)) : v;
    states.push_back(v);
  }
  step.finish(f.sub(step.p, f.mul(step.lr, direction)), states, results);
}

LogicalResult SgdOp::verify() {
  bool momentum = getMomentum().convertToFloat() != 0;
  if (momentum != getVelocityAttr().operator bool())
    return emitOpError("velocity is there exactly when momentum is not zero");
  if (getNesterov() && !momentum)
    return emitOpError("nesterov needs momentum");
  return verifyOptimizer(*this);
}

// (a, b) = (lr / c1, 1 / sqrt(c2)).
template <typename Adam>
static void emitAdam(Adam op, OptimizerStep &step, Value p, Value g, ValueRange variables,
                     SmallVectorImpl<Value> &results) {
  const Formula &f = step.f;
  float beta1 = op.getBeta1().convertToFloat(), beta2 = op.getBeta2().convertToFloat();
  Value m = variables[1], v = variables[2];
  m = f.add(m, f.mul(f.constant(1 - beta1), f.sub(g, m)));
  v = f.add(f.mul(f.constant(beta2), v), f.mul(f.mul(f.constant(1 - beta2), g), g));
  Value denominator = f.add(f.mul(f.sqrt(v), step.b), f.constant(op.getEpsilon().convertToFloat()));
  step.finish(f.sub(p, f.mul(step.scaled(step.a), f.div(m, denominator))), {m, v}, results);
}

SmallVector<FlatSymbolRefAttr> AdamOp::getVariables() {
  return optimizerVariables(*this, {getFirstMomentAttr(), getSecondMomentAttr()});
}
LogicalResult AdamOp::verify() { return verifyOptimizer(*this); }
void AdamOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                        SmallVectorImpl<Value> &results) {
  OptimizerStep step(*this, b, loc, operands, variables);
  emitAdam(*this, step, step.p, step.withDecay(step.g), variables, results);
}

SmallVector<FlatSymbolRefAttr> AdamWOp::getVariables() {
  return optimizerVariables(*this, {getFirstMomentAttr(), getSecondMomentAttr()});
}
LogicalResult AdamWOp::verify() { return verifyOptimizer(*this); }
void AdamWOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                         SmallVectorImpl<Value> &results) {
  OptimizerStep step(*this, b, loc, operands, variables);
  emitAdam(*this, step, step.decayed(), step.g, variables, results);
}

SmallVector<FlatSymbolRefAttr> RmspropOp::getVariables() {
  return optimizerVariables(*this,
                            {getSquareAverageAttr(), getGradientAverageAttr(), getVelocityAttr()});
}
LogicalResult RmspropOp::verify() {
  if ((getMomentum().convertToFloat() != 0) != getVelocityAttr().operator bool())
    return emitOpError("velocity is there exactly when momentum is not zero");
  return verifyOptimizer(*this);
}
void RmspropOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                           SmallVectorImpl<Value> &results) {
  OptimizerStep step(*this, b, loc, operands, variables);
  const Formula &f = step.f;
  float alpha = getAlpha().convertToFloat();
  Value g = step.withDecay(step.g), q = variables[1], rest = f.constant(1 - alpha);
  q = f.add(f.mul(f.constant(alpha), q), f.mul(f.mul(rest, g), g));
  SmallVector<Value> states{q};
  Value variance = q;
  if (getGradientAverageAttr()) {
    Value m = variables[2];
    m = f.add(m, f.mul(rest, f.sub(g, m)));
    states.push_back(m);
    // Never below 0 but for rounding.
    variance = f.sub(q, f.mul(m, m));
    variance = f.select(f.greater(f.constant(0), variance), f.constant(0), variance);
  }
  Value direction = f.div(g, f.add(f.sqrt(variance), f.constant(getEpsilon().convertToFloat())));
  if (getVelocityAttr()) {
    Value v = variables[1 + states.size()];
    direction = f.add(f.mul(f.constant(getMomentum().convertToFloat()), v), direction);
    states.push_back(direction);
  }
  step.finish(f.sub(step.p, f.mul(step.lr, direction)), states, results);
}

SmallVector<FlatSymbolRefAttr> LionOp::getVariables() {
  return optimizerVariables(*this, {getFirstMomentAttr()});
}
LogicalResult LionOp::verify() { return verifyOptimizer(*this); }
void LionOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                        SmallVectorImpl<Value> &results) {
  OptimizerStep step(*this, b, loc, operands, variables);
  const Formula &f = step.f;
  auto mixed = [&](float decay) {
    return f.add(f.mul(f.constant(decay), variables[1]), f.mul(f.constant(1 - decay), step.g));
  };
  Value x = mixed(getBeta1().convertToFloat());
  Value sign = f.select(f.positive(x), f.constant(1),
                        f.select(f.greater(f.constant(0), x), f.constant(-1), x));
  step.finish(f.sub(step.decayed(), f.mul(step.lr, sign)), {mixed(getBeta2().convertToFloat())},
              results);
}

namespace {

// What LAMB makes of a gradient `g`: the moments, and where it leads before it is scaled. (a, b) =
// (1 / c1, 1 / sqrt(c2)).
struct LambStep {
  template <typename Op>
  LambStep(Op op, const Formula &f, Value p, Value g, ValueRange moments, Value a, Value b)
      : m(moments[0]), v(moments[1]) {
    float beta1 = op.getBeta1().convertToFloat(), beta2 = op.getBeta2().convertToFloat();
    m = f.add(m, f.mul(f.constant(1 - beta1), f.sub(g, m)));
    v = f.add(f.mul(f.constant(beta2), v), f.mul(f.mul(f.constant(1 - beta2), g), g));
    direction = f.div(f.mul(m, a),
                      f.add(f.mul(f.sqrt(v), b), f.constant(op.getEpsilon().convertToFloat())));
    if (float decay = op.getWeightDecay().convertToFloat())
      direction = f.add(direction, f.mul(f.constant(decay), p));
  }
  Value m, v, direction;
};

} // namespace

LogicalResult LambRatioOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({1}, Float32Type::get(context)));
  return success();
}
LogicalResult LambRatioOp::verify() {
  if (failed(verifyCoefficients(*this, getCoefficients())))
    return failure();
  for (Value tensor : {getParameter(), getFirstMoment(), getSecondMoment()})
    if (failed(verifySame(*this, getGradient().getType(), tensor.getType(), "all tensors")))
      return failure();
  return success();
}
void LambRatioOp::emitSquares(OpBuilder &builder, Location loc, ValueRange tensors,
                              ValueRange coefficients, SmallVectorImpl<Value> &squares) {
  Formula f{builder, loc, tensors[0].getType()};
  Value p = tensors[1], g = takenGradient(f, tensors[0], coefficients[1], getClipValue());
  LambStep step(*this, f, p, g, tensors.drop_front(2), coefficients[2], coefficients[3]);
  squares.append({f.mul(p, p), f.mul(step.direction, step.direction)});
}

SmallVector<FlatSymbolRefAttr> LambOp::getVariables() {
  return optimizerVariables(*this, {getFirstMomentAttr(), getSecondMomentAttr()});
}
LogicalResult LambOp::verify() {
  int64_t count = tensorType(getRatio()).getDimSize(0);
  if (count != 1)
    return emitOpError() << "takes the one number of a gc.lamb_ratio, got " << count;
  return verifyOptimizer(*this);
}
void LambOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                        SmallVectorImpl<Value> &results) {
  OptimizerStep step(*this, b, loc, operands, variables);
  const Formula &f = step.f;
  LambStep lamb(*this, f, step.p, step.g, variables.slice(1, 2), step.a, step.b);
  Value scale = f.mul(step.lr, operands[1 + kCoefficients]);
  step.finish(f.sub(step.p, f.mul(scale, lamb.direction)), {lamb.m, lamb.v}, results);
}

//===----------------------------------------------------------------------===//
// Adafactor
//===----------------------------------------------------------------------===//

SmallVector<FlatSymbolRefAttr> AdafactorAverageOp::getVariables() { return {getAverageAttr()}; }
LogicalResult AdafactorAverageOp::verify() { return verifyCoefficients(*this, getCoefficients()); }
void AdafactorAverageOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands,
                                    ValueRange variables, SmallVectorImpl<Value> &results) {
  Formula f{b, loc, variables[0].getType()};
  Value v = variables[0], scale = operands[2], x = f.mul(f.mul(scale, scale), operands[0]);
  results.push_back(f.add(v, f.mul(operands[4], f.sub(x, v))));
}

// rows: outer x R x inner; columns and means, of a factored tensor: outer x C x inner, outer x
// inner.
template <typename Op> static LogicalResult verifyVariance(Op op) {
  auto rows = tensorType(op.getRows());
  if (rows.getRank() != 3)
    return op.emitOpError() << "rows are outer x R x inner, got " << rows;
  if (op->getNumOperands() % 2 != 0)
    return op.emitOpError("columns and means come together");
  int64_t outer = rows.getDimSize(0), inner = rows.getDimSize(2), elements = rows.getNumElements();
  if (op.getColumns()) {
    auto columns = tensorType(op.getColumns());
    if (columns.getRank() != 3 || columns.getDimSize(0) != outer || columns.getDimSize(2) != inner)
      return op.emitOpError() << "columns are outer x C x inner with those of " << rows << ", got "
                              << columns;
    if (failed(verifySame(op, withShape(op.getRows(), {outer, inner}), op.getMeans().getType(),
                          "means")))
      return failure();
    elements *= columns.getDimSize(1);
  }
  int64_t expected = tensorType(op.getGradient()).getNumElements();
  if (elements != expected)
    return op.emitOpError() << "has the variance of " << elements << " elements, the gradient has "
                            << expected;
  return success();
}

namespace {

// Adafactor's direction u = g / sqrt(variance).
Value adafactorDirection(const Formula &f, Value g, Value variance, const APFloat &epsilon) {
  double least = epsilon.convertToFloat();
  return f.div(g, f.sqrt(f.atLeast(variance, least * least)));
}

} // namespace

LogicalResult AdafactorRatioOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                                 Adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({1}, Float32Type::get(context)));
  return success();
}
LogicalResult AdafactorRatioOp::verify() {
  if (failed(verifyCoefficients(*this, getCoefficients())) ||
      failed(verifySame(*this, getGradient().getType(), getParameter().getType(), "parameter")))
    return failure();
  return verifyVariance(*this);
}
void AdafactorRatioOp::emitSquares(OpBuilder &builder, Location loc, ValueRange tensors,
                                   ValueRange coefficients, SmallVectorImpl<Value> &squares) {
  Formula f{builder, loc, tensors[0].getType()};
  Value p = tensors[1], g = takenGradient(f, tensors[0], coefficients[1], getClipValue());
  Value u = adafactorDirection(f, g, tensors[2], getEpsilon());
  squares.append({f.mul(p, p), f.mul(u, u)});
}

SmallVector<FlatSymbolRefAttr> AdafactorOp::getVariables() { return optimizerVariables(*this, {}); }
LogicalResult AdafactorOp::verify() {
  int64_t count = tensorType(getRatio()).getDimSize(0);
  if (count != 1)
    return emitOpError() << "takes the one number of a gc.adafactor_ratio, got " << count;
  if (failed(verifyVariance(*this)))
    return failure();
  return verifyOptimizer(*this);
}
// (a, b) = (1 / sqrt(t), t^beta2_decay); the ratio and the variance follow.
void AdafactorOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                             SmallVectorImpl<Value> &results) {
  OptimizerStep step(*this, b, loc, operands, variables);
  const Formula &f = step.f;
  Value ratio = operands[1 + kCoefficients], variance = operands[2 + kCoefficients];
  Value rate = f.select(f.greater(step.lr, step.a), step.a, step.lr);
  Value u = adafactorDirection(f, step.g, variance, getEpsilon());
  step.finish(f.sub(step.decayed(), f.mul(f.mul(rate, ratio), u)), {}, results);
}

} // namespace gc
