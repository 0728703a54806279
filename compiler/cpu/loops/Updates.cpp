//===- Updates.cpp - Ops that change variables, and what they need --------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/language/Formulas.h"

using namespace mlir;

namespace gc::cpu {

namespace {
constexpr int64_t itemElements = 1024;
int64_t itemsOf(int64_t elements) { return (elements + itemElements - 1) / itemElements; }
} // namespace

// The kernel goes element by element over the variables and the gradient, if the op has one. All
// other operands are a few numbers that are the same for every element.
LogicalResult emitUpdate(UpdateOpInterface op, OpKernels &kernels) {
  UpdateUses update(op, kernels);
  kernels.add("", update.uses, itemsOf(update.elements), grainOf(itemElements),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                SmallVector<Value> numbers = loadNumbers(k, update, buffers);
                ArrayRef<Value> targets = buffers.drop_front(update.firstVariable);
                Range range = itemRange(k, begin, end, itemElements, update.elements);
                k.loop(range.begin, range.end, [&](Expr i) {
                  SmallVector<Value> operands;
                  if (update.firstVariable > 0)
                    operands.push_back(k.load(buffers[0], {i}));
                  operands.append(numbers);
                  SmallVector<Value> variables, results;
                  for (Value buffer : targets)
                    variables.push_back(k.load(buffer, {i}));
                  op.emitUpdate(k.builder, k.location, operands, variables, results);
                  for (auto [result, buffer] : llvm::zip_equal(results, targets))
                    k.store(k.wrap(result), buffer, {i});
                });
              });
  return success();
}

LogicalResult emitRunningStats(RunningStatsOp op, OpKernels &kernels) {
  int64_t channels = elementCount(op.getMean().getType());
  kernels.add("", runningStatsUses(op, kernels), itemsOf(channels), grainOf(itemElements),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Range range = itemRange(k, begin, end, itemElements, channels);
                k.loop(range.begin, range.end, [&](Expr c) { addRunningStats(k, op, buffers, c); });
              });
  return success();
}

LogicalResult emitAdvance(AdvanceOp op, OpKernels &kernels) {
  kernels.add("", {advanceUse(op, kernels)}, 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) { addAdvance(k, op, buffers[0]); });
              });
  return success();
}

LogicalResult emitCoefficients(CoefficientsOp op, OpKernels &kernels) {
  kernels.add("", {kernels.operand(0), kernels.result(0)}, 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) { addCoefficients(k, op, buffers[0], buffers[1]); });
              });
  return success();
}

LogicalResult emitGradientSeed(GradientSeedOp op, OpKernels &kernels) {
  double scale = op.getScale().convertToFloat();
  kernels.add("", {kernels.result(0)}, 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) { k.store(k.f32(scale), buffers[0], {}); });
              });
  return success();
}

} // namespace gc::cpu
