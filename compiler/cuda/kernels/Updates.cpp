//===- Updates.cpp - Ops that change variables, and what they need --------===//
#include "compiler/cuda/kernels/GpuKernels.h"

using namespace mlir;

namespace gc::cuda {

// One thread, for what is a number or two.
constexpr Extent one{1, 1, 1};

// Element by element over the gradient, if the op has one, and the variables; all other operands
// are a few numbers that are the same for every element. Four elements a thread where sizes allow.
LogicalResult emitUpdate(UpdateOpInterface op, GpuKernels &kernels) {
  int64_t elements = elementCount(op.getVariableType());
  Type f32 = Float32Type::get(op->getContext());
  SmallVector<BufferUse> uses;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    uses.push_back(
        kernels.operand(i, {i == 0 ? elements : elementCount(op->getOperand(i).getType())}));
  unsigned firstVariable = uses.size();
  for (unsigned i = 0; i < op.getVariables().size(); ++i)
    uses.push_back(kernels.variable(i, {elements}, f32));
  int64_t width = elements % 4 == 0 ? 4 : 1;
  kernels.add("", uses, itemGrid(elements / width), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    forItems(k, elements / width, [&](Expr item) {
      Expr first = item * double(width);
      auto load = [&](Value buffer) {
        return width == 1 ? k.load(buffer, {first}) : k.loadVector(buffer, {first}, width);
      };
      auto lane = [&](Expr value, int64_t i) { return width == 1 ? value : k.element(value, i); };
      SmallVector<Value> numbers;
      for (unsigned i = 1; i < firstVariable; ++i)
        for (int64_t j = 0; j < uses[i].shape[0]; ++j)
          numbers.push_back(k.load(buffers[i], {k.index(j)}));
      Expr gradient = firstVariable > 0 ? load(buffers[0]) : Expr();
      ArrayRef<Value> targets = buffers.drop_front(firstVariable);
      SmallVector<Expr> before;
      for (Value buffer : targets)
        before.push_back(load(buffer));
      SmallVector<SmallVector<Expr>> after(targets.size());
      for (int64_t i = 0; i < width; ++i) {
        SmallVector<Value> operands, variables, results;
        if (firstVariable > 0)
          operands.push_back(lane(gradient, i));
        operands.append(numbers);
        for (Expr variable : before)
          variables.push_back(lane(variable, i));
        op.emitUpdate(k.builder, k.location, operands, variables, results);
        for (auto [values, result] : llvm::zip_equal(after, results))
          values.push_back(k.wrap(result));
      }
      for (auto [values, buffer] : llvm::zip_equal(after, targets))
        if (width == 1)
          k.store(values[0], buffer, {first});
        else
          k.storeVector(k.vectorOf(values), buffer, {first});
    });
  });
  return success();
}

// mean += m (batch mean - mean); variance likewise, with the batch's unbiased variance.
LogicalResult emitRunningStats(RunningStatsOp op, GpuKernels &kernels) {
  int64_t channels = elementCount(op.getMean().getType());
  Type f32 = Float32Type::get(op.getContext());
  double momentum = op.getMomentum().convertToFloat(), epsilon = op.getEpsilon().convertToFloat();
  auto count = double(op.getCount());
  double unbiased = count > 1 ? count / (count - 1) : 1;
  SmallVector<BufferUse> uses{kernels.operand(0), kernels.operand(1),
                              kernels.variable(0, {channels}, f32),
                              kernels.variable(1, {channels}, f32)};
  kernels.add("", uses, itemGrid(channels), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    forItems(k, channels, [&](Expr c) {
      Expr mean = k.load(buffers[2], {c}), variance = k.load(buffers[3], {c});
      Expr rstd = k.load(buffers[1], {c});
      Expr batch = (k.f32(1) / (rstd * rstd) - epsilon) * unbiased;
      k.store(mean + (k.load(buffers[0], {c}) - mean) * momentum, buffers[2], {c});
      k.store(variance + (batch - variance) * momentum, buffers[3], {c});
    });
  });
  return success();
}

LogicalResult emitAdvance(AdvanceOp op, GpuKernels &kernels) {
  std::optional<uint64_t> modulo = op.getModulo();
  int64_t last = modulo ? 0 : 1;
  kernels.add("", {kernels.variable(0, {last + 1}, IntegerType::get(op.getContext(), 64))}, one, one,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    Expr at = k.index(last);
    Expr next = k.load(buffers[0], {at}) + 1;
    if (modulo)
      next = k.select(next == k.i64(int64_t(*modulo)), k.i64(0), next);
    k.store(next, buffers[0], {at});
  });
  return success();
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
LogicalResult emitCoefficients(CoefficientsOp op, GpuKernels &kernels) {
  double lr = op.getLr().convertToFloat(), beta1 = op.getBeta1().convertToFloat();
  double beta2 = op.getBeta2().convertToFloat();
  bool isAdam = op.getMode() == "adam";
  kernels.add("", {kernels.operand(0), kernels.result(0)}, one, one,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    Expr step = k.load(buffers[0], {k.index(1)});
    Expr first, second;
    if (isAdam) {
      Expr t = step + 1;
      first = k.toSingle(k.f64(lr) / (k.f64(1) - power(k, beta1, t)));
      second = k.toSingle(k.f64(1) / k.sqrt(k.f64(1) - power(k, beta2, t)));
    } else {
      Expr isFirst = step == k.i64(0);
      first = k.select(isFirst, k.f32(0), k.f32(beta1));
      second = k.select(isFirst, k.f32(1), k.f32(1 - beta2));
    }
    k.store(first, buffers[1], {k.index(0)});
    k.store(second, buffers[1], {k.index(1)});
  });
  return success();
}

LogicalResult emitGradientSeed(GradientSeedOp op, GpuKernels &kernels) {
  double scale = op.getScale().convertToFloat();
  kernels.add("", {kernels.result(0)}, one, one, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    k.store(k.f32(scale), buffers[0], {});
  });
  return success();
}

} // namespace gc::cuda
