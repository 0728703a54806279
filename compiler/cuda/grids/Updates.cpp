//===- Updates.cpp - Ops that change variables, and what they need --------===//
#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/language/Formulas.h"

using namespace mlir;

namespace gc::cuda {

// One thread is enough where a kernel computes a number or two.
constexpr Extent one{1, 1, 1};

// Element by element over the gradient, if the op has one, and the variables; all other operands
// are a few numbers that are the same for every element. Four elements a thread where sizes allow.
LogicalResult emitUpdate(UpdateOpInterface op, GpuKernels &kernels) {
  UpdateUses update(op, kernels);
  int64_t width = vectorWidth({update.elements});
  kernels.add("", update.uses, itemGrid(update.elements / width), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, update.elements / width, [&](Expr item) {
                  Expr first = item * width;
                  SmallVector<Value> numbers = loadNumbers(k, update, buffers);
                  Elements gradient;
                  if (update.firstVariable > 0)
                    gradient = k.loadElements(buffers[0], {first}, width);
                  ArrayRef<Value> targets = buffers.drop_front(update.firstVariable);
                  SmallVector<Elements> before, after(targets.size());
                  for (Value buffer : targets)
                    before.push_back(k.loadElements(buffer, {first}, width));
                  for (int64_t i = 0; i < width; ++i) {
                    SmallVector<Value> operands, variables, results;
                    if (update.firstVariable > 0)
                      operands.push_back(gradient[i]);
                    operands.append(numbers);
                    for (const Elements &variable : before)
                      variables.push_back(variable[i]);
                    op.emitUpdate(k.builder, k.location, operands, variables, results);
                    for (auto [values, result] : llvm::zip_equal(after, results))
                      values.push_back(k.wrap(result));
                  }
                  for (auto [values, buffer] : llvm::zip_equal(after, targets))
                    k.storeElements(values, buffer, {first});
                });
              });
  return success();
}

LogicalResult emitRunningStats(RunningStatsOp op, GpuKernels &kernels) {
  int64_t channels = elementCount(op.getMean().getType());
  kernels.add("", runningStatsUses(op, kernels), itemGrid(channels), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, channels, [&](Expr c) { addRunningStats(k, op, buffers, c); });
              });
  return success();
}

LogicalResult emitAdvance(AdvanceOp op, GpuKernels &kernels) {
  kernels.add("", {advanceUse(op, kernels)}, one, one,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) { addAdvance(k, op, buffers[0]); });
  return success();
}

LogicalResult emitCoefficients(CoefficientsOp op, GpuKernels &kernels) {
  kernels.add("", {kernels.operand(0), kernels.result(0)}, one, one,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                addCoefficients(k, op, buffers[0], buffers[1]);
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
