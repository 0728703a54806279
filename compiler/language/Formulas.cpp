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

// adam: (lr / (1 - beta1^t), 1 / sqrt(1 - beta2^t)) with t = step + 1;
// momentum: (beta1, 1 - dampening), and (0, 1) in the first step.
void addCoefficients(KernelBuilder &k, CoefficientsOp op, Value seedAndStep, Value result) {
  double lr = op.getLr().convertToFloat(), beta1 = op.getBeta1().convertToFloat();
  double beta2 = op.getBeta2().convertToFloat();
  Expr step = k.load(seedAndStep, {k.index(1)});
  Expr first, second;
  if (op.getMode() == CoefficientsMode::Adam) {
    Expr t = step + 1;
    first = k.toSingle(k.f64(lr) / (k.f64(1) - power(k, beta1, t)));
    second = k.toSingle(k.f64(1) / k.sqrt(k.f64(1) - power(k, beta2, t)));
  } else {
    Expr isFirst = step == k.i64(0);
    first = k.select(isFirst, k.f32(0), k.f32(beta1));
    second = k.select(isFirst, k.f32(1), k.f32(1 - beta2));
  }
  k.store(first, result, {k.index(0)});
  k.store(second, result, {k.index(1)});
}

Expr isSample(KernelBuilder &k, Expr label, int64_t classes) {
  return (label >= 0) & (label < classes);
}

Expr classOf(KernelBuilder &k, Expr label, int64_t classes) {
  return k.toIndex(k.minimum(k.maximum(label, k.i32(0)), k.i32(classes - 1)));
}

} // namespace gc::kernels
