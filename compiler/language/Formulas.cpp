//===- Formulas.cpp - Formulas of ops that every target computes alike ----===//
#include "compiler/language/Formulas.h"

#include "mlir/IR/TypeUtilities.h"

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
// first step; plain: (0, 1).
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

Expr isSample(KernelBuilder &k, Expr label, int64_t classes) {
  return (label >= 0) & (label < classes);
}

Expr classOf(KernelBuilder &k, Expr label, int64_t classes) {
  return k.toIndex(k.minimum(k.maximum(label, k.i32(0)), k.i32(classes - 1)));
}

} // namespace gc::kernels
