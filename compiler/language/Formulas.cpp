//===- Formulas.cpp - Formulas of ops that every target computes alike ----===//
#include "compiler/language/Formulas.h"

#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

namespace gc::kernels {

UpdateUses::UpdateUses(UpdateOpInterface op, const OpUses &buffers)
    : elements(elementCount(op.getVariableType())), firstVariable(op->getNumOperands()) {
  Type element = getElementTypeOrSelf(op.getVariableType());
  for (unsigned i = 0; i < firstVariable; ++i)
    uses.push_back(
        buffers.operand(i, {i == 0 ? elements : elementCount(op->getOperand(i).getType())}));
  for (unsigned i = 0; i < op.getVariables().size(); ++i)
    uses.push_back(buffers.variable(i, {elements}, element));
}

SmallVector<Value> loadNumbers(KernelBuilder &k, const UpdateUses &update,
                               ArrayRef<Value> buffers) {
  SmallVector<Value> numbers;
  for (unsigned i = 1; i < update.firstVariable; ++i)
    for (int64_t j = 0; j < update.uses[i].shape[0]; ++j)
      numbers.push_back(k.load(buffers[i], {k.index(j)}));
  return numbers;
}

SmallVector<BufferUse> runningStatsUses(RunningStatsOp op, const OpUses &buffers) {
  int64_t channels = elementCount(op.getMean().getType());
  Type element = getElementTypeOrSelf(op.getMean());
  return {buffers.operand(0), buffers.operand(1), buffers.variable(0, {channels}, element),
          buffers.variable(1, {channels}, element)};
}

// mean += m (batch mean - mean); variance likewise, with the batch's unbiased variance.
void addRunningStats(KernelBuilder &k, RunningStatsOp op, ArrayRef<Value> buffers, Expr c) {
  double momentum = op.getMomentum().convertToFloat(), epsilon = op.getEpsilon().convertToFloat();
  auto count = double(op.getCount());
  double unbiased = count > 1 ? count / (count - 1) : 1;
  Expr mean = k.load(buffers[2], {c}), variance = k.load(buffers[3], {c});
  Expr rstd = k.load(buffers[1], {c});
  Expr batch = (k.f32(1) / (rstd * rstd) - epsilon) * unbiased;
  k.store(mean + (k.load(buffers[0], {c}) - mean) * momentum, buffers[2], {c});
  k.store(variance + (batch - variance) * momentum, buffers[3], {c});
}

// A counter with a modulo is a single number. Without one it is the second element of the generator
// (seed, step).
BufferUse advanceUse(AdvanceOp op, const OpUses &buffers) {
  return buffers.variable(0, {op.getModulo() ? 1 : 2}, IntegerType::get(op.getContext(), 64));
}

void addAdvance(KernelBuilder &k, AdvanceOp op, Value variable) {
  std::optional<uint64_t> modulo = op.getModulo();
  Expr at = k.index(modulo ? 0 : 1);
  Expr next = k.load(variable, {at}) + 1;
  if (modulo)
    next = k.select(next == k.i64(int64_t(*modulo)), k.i64(0), next);
  k.store(next, variable, {at});
}

// base^exponent by squaring; exponent >= 0. The loop runs over the 63 bits of an i64.
static Expr power(KernelBuilder &k, double base, Expr exponent) {
  SmallVector<Expr> last =
      k.loop(k.index(0), k.index(63), 1, {k.f64(1), k.f64(base), exponent},
             [&](Expr, ArrayRef<Expr> carried) {
               Expr result = carried[0], square = carried[1], bits = carried[2];
               Expr isOdd = (bits & k.i64(1)) == k.i64(1);
               return SmallVector<Expr>{k.select(isOdd, result * square, result), square * square,
                                        bits >> 1};
             });
  return last[0];
}

// base^exponent for an f64 base from 1 on and an exponent up to 0: exp(exponent * log(base)). base
// is 2^n m with m in [1, 2), and log(m) = 2 (z + z^3 / 3 + z^5 / 5 + ...) with z = (m - 1) / (m +
// 1); exp is that of a 2^10th part, squared ten times.
static Expr realPower(KernelBuilder &k, Expr base, double exponent) {
  SmallVector<Expr> halved = k.loopWhile(
      {base, k.f64(0)}, [&](ArrayRef<Expr> carried) { return carried[0] >= 2.0; },
      [&](ArrayRef<Expr> carried) {
        return SmallVector<Expr>{carried[0] * 0.5, carried[1] + 1.0};
      });
  Expr z = (halved[0] - 1.0) / (halved[0] + 1.0), square = z * z, series = k.f64(0);
  for (int odd = 33; odd > 0; odd -= 2)
    series = series * square + 1.0 / odd;
  Expr x = (halved[1] * std::log(2.0) + z * series * 2.0) * (exponent / 1024);
  Expr result = k.f64(1);
  for (int i = 6; i > 0; --i)
    result = result * x * (1.0 / i) + 1.0;
  for (int i = 0; i < 10; ++i)
    result = result * result;
  return result;
}

SmallVector<BufferUse> coefficientsUses(CoefficientsOp op, const OpUses &buffers) {
  SmallVector<BufferUse> uses;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    uses.push_back(buffers.operand(i));
  uses.push_back(buffers.result(0));
  return uses;
}

// The sum of the two numbers of a sum of squares, in f64.
static Expr loadSquareSum(KernelBuilder &k, Value squares) {
  return k.toDouble(k.load(squares, {k.index(0)})) + k.toDouble(k.load(squares, {k.index(1)}));
}

// min(1, most / (norm + 1e-6)); NaN where the norm is one.
static Expr clipScale(KernelBuilder &k, double most, Value squares) {
  Expr norm = k.sqrt(loadSquareSum(k, squares));
  Expr scale = k.f64(most) / (norm + k.f64(1e-6));
  return k.toSingle(k.select(scale > k.f64(1), k.f64(1), scale));
}

// adam: (lr / (1 - beta1^t), 1 / sqrt(1 - beta2^t)) with t = step + 1;
// corrected: the same with 1 in place of lr; momentum: (beta1, 1 - dampening), and (0, 1) in the
// first step; adafactor: (1 / sqrt(t), t^beta2); plain: (0, 1).
void addCoefficients(KernelBuilder &k, CoefficientsOp op, ArrayRef<Value> buffers) {
  double beta1 = op.getBeta1().convertToFloat(), beta2 = op.getBeta2().convertToFloat();
  Expr step = k.load(buffers[0], {k.index(1)});
  Expr lr = k.load(buffers[1], {k.toIndex(step % elementCount(op.getSchedule().getType()))});
  Expr scale = k.f32(1), first = k.f32(0), second = k.f32(1);
  if (op.getSquares())
    scale = clipScale(k, op.getClipNorm()->convertToFloat(), buffers[2]);
  if (op.getMode() == CoefficientsMode::Adam || op.getMode() == CoefficientsMode::Corrected) {
    Expr t = step + 1;
    Expr rate = op.getMode() == CoefficientsMode::Adam ? k.toDouble(lr) : k.f64(1);
    first = k.toSingle(rate / (k.f64(1) - power(k, beta1, t)));
    second = k.toSingle(k.f64(1) / k.sqrt(k.f64(1) - power(k, beta2, t)));
  } else if (op.getMode() == CoefficientsMode::Momentum) {
    Expr isFirst = step == k.i64(0);
    first = k.select(isFirst, k.f32(0), k.f32(beta1));
    second = k.select(isFirst, k.f32(1), k.f32(1 - beta2));
  } else if (op.getMode() == CoefficientsMode::Adafactor) {
    Expr t = k.wholeToDouble(step + 1);
    first = k.toSingle(k.f64(1) / k.sqrt(t));
    second = k.toSingle(realPower(k, t, beta2));
  }
  const Expr numbers[kCoefficients] = {lr, scale, first, second};
  for (int64_t i = 0; i < kCoefficients; ++i)
    k.store(numbers[i], buffers.back(), {k.index(i)});
}

SmallVector<BufferUse> squareSumUses(SquareSumOp op, const OpUses &buffers) {
  SmallVector<BufferUse> uses{buffers.result(0)};
  if (op.getBefore())
    uses.push_back(buffers.operand(1));
  return uses;
}

void finishSquareSum(KernelBuilder &k, Expr squares, ArrayRef<Value> buffers) {
  Expr sum = buffers.size() > 1 ? loadSquareSum(k, buffers[1]) + squares : squares;
  Expr nearest = k.toSingle(sum), missing = k.toSingle(sum - k.toDouble(nearest));
  Expr isFinite = nearest - nearest == k.f32(0);
  k.store(nearest, buffers[0], {k.index(0)});
  k.store(k.select(isFinite, missing, k.f32(0)), buffers[0], {k.index(1)});
}

// |p| / |u|, 1 where there is nothing to compare.
Expr lambRatio(KernelBuilder &k, Expr parameter, Expr direction) {
  Expr none = k.f64(0);
  Expr ratio = k.sqrt(parameter) / k.sqrt(direction);
  return k.toSingle(k.select((parameter > none) & (direction > none), ratio, k.f64(1)));
}

VarianceUses::VarianceUses(Value rowValues, Value columnValues, const APFloat &least,
                           unsigned first, const OpUses &buffers)
    : isFactored(columnValues != nullptr), epsilon(least.convertToFloat()) {
  auto shape = cast<RankedTensorType>(rowValues.getType()).getShape();
  outer = shape[0];
  rows = isFactored ? shape[1] : 1;
  columns = isFactored ? cast<RankedTensorType>(columnValues.getType()).getDimSize(1) : shape[1];
  inner = shape[2];
  uses.push_back(buffers.operand(first, {elementCount(rowValues.getType())}));
  if (!isFactored)
    return;
  uses.push_back(buffers.operand(first + 1, {outer * columns * inner}));
  uses.push_back(buffers.operand(first + 2, {outer * inner}));
}

FactoredPlace VarianceUses::placeOf(KernelBuilder &, Expr element) const {
  Expr line = element / inner, row = line / columns;
  return {row / rows, row % rows, line % columns, element % inner};
}

Expr VarianceUses::variance(KernelBuilder &k, Expr row, Expr column, Expr mean) const {
  Expr least = mean.like(epsilon);
  return row * (column / k.select(mean < least, least, mean));
}

Expr VarianceUses::at(KernelBuilder &k, ArrayRef<Value> views, const FactoredPlace &place) const {
  Expr column = (place.outer * columns + place.column) * inner + place.inner;
  if (!isFactored)
    return k.load(views[0], {column});
  return variance(k, k.load(views[0], {(place.outer * rows + place.row) * inner + place.inner}),
                  k.load(views[1], {column}),
                  k.load(views[2], {place.outer * inner + place.inner}));
}

Expr VarianceUses::along(KernelBuilder &k, ArrayRef<Value> views, Expr line,
                         const Columns &part) const {
  auto load = [&](Value view, Expr first) {
    return k.load(view, {}, {first + part.first, part.count, part.mask});
  };
  if (!isFactored)
    return load(views[0], line * lineLength());
  if (inner == 1) {
    Expr outerIndex = line / rows;
    return variance(k, k.splat(k.load(views[0], {line})), load(views[1], outerIndex * columns),
                    k.splat(k.load(views[2], {outerIndex})));
  }
  Expr row = line / columns, outerIndex = row / rows, column = line % columns;
  return variance(k, load(views[0], row * inner),
                  load(views[1], (outerIndex * columns + column) * inner),
                  load(views[2], outerIndex * inner));
}

AdafactorUses::AdafactorUses(AdafactorOp op, int64_t elements, const OpUses &buffers) {
  uses = {buffers.operand(0, {elements}), buffers.operand(1), buffers.operand(2)};
  Type element = getElementTypeOrSelf(op.getVariableType());
  for (unsigned i = 0; i < op.getVariables().size(); ++i)
    uses.push_back(buffers.variable(i, {elements}, element));
}

void AdafactorUses::add(KernelBuilder &k, AdafactorOp op, ArrayRef<Value> views, Expr element,
                        Expr variance) const {
  SmallVector<Value> operands{k.load(views[0], {element})}, variables, results;
  for (int64_t i = 0; i < kCoefficients; ++i)
    operands.push_back(k.load(views[1], {k.index(i)}));
  operands.append({Value(k.load(views[2], {k.index(0)})), Value(variance)});
  ArrayRef<Value> targets = views.slice(3, uses.size() - 3);
  for (Value target : targets)
    variables.push_back(k.load(target, {element}));
  op.emitUpdate(k.builder, k.location, operands, variables, results);
  for (auto [result, target] : llvm::zip_equal(results, targets))
    k.store(k.wrap(result), target, {element});
}

// max(epsilon2, rms(p)) / max(1, rms(u) / clip_update); NaN where a norm is one.
Expr adafactorRatio(KernelBuilder &k, AdafactorRatioOp op, Expr parameter, Expr direction) {
  double elements = double(elementCount(op.getGradient().getType()));
  auto atLeast = [&](Expr x, double least) { return k.select(x < k.f64(least), k.f64(least), x); };
  Expr size = atLeast(k.sqrt(parameter * (1 / elements)), op.getEpsilon2().convertToFloat());
  Expr most = k.sqrt(direction * (1 / elements)) / double(op.getClipUpdate().convertToFloat());
  return k.toSingle(size / atLeast(most, 1));
}

Expr isSample(KernelBuilder &k, Expr label, int64_t classes) {
  return (label >= 0) & (label < classes);
}

Expr classOf(KernelBuilder &k, Expr label, int64_t classes) {
  return k.toIndex(k.minimum(k.maximum(label, k.i32(0)), k.i32(classes - 1)));
}

} // namespace gc::kernels
