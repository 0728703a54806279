//===- Softmax.cpp - Softmax of rows --------------------------------------===//
#include "compiler/cuda/grids/Rows.h"

using namespace mlir;

namespace gc::cuda {

LogicalResult emitSoftmax(SoftmaxOp op, GpuKernels &kernels) {
  int64_t columns = cast<RankedTensorType>(op.getInput().getType()).getShape().back();
  RowLayout layout(elementCount(op.getInput().getType()) / columns, columns);
  kernels.add("", {kernels.operand(0, layout.shape()), kernels.result(0, layout.shape())},
              layout.grid(), layout.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                RowThreads t(k, layout);
                RowValues x = t.keep(t.rowOf(buffers[0]));
                Expr largest = t.maximum(x);
                RowValues powers = t.keep(t.map([&](Expr x) { return k.exp(x - largest); }, x));
                Expr scale = k.f32(1) / t.sum(powers);
                t.store(t.map([&](Expr power) { return power * scale; }, powers), buffers[1]);
              });
  return success();
}

// dx = y * (dy - sum(y * dy))
LogicalResult emitSoftmaxGrad(SoftmaxGradOp op, GpuKernels &kernels) {
  int64_t columns = cast<RankedTensorType>(op.getOutput().getType()).getShape().back();
  RowLayout layout(elementCount(op.getOutput().getType()) / columns, columns);
  kernels.add("",
              {kernels.operand(0, layout.shape()), kernels.operand(1, layout.shape()),
               kernels.result(0, layout.shape())},
              layout.grid(), layout.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                RowThreads t(k, layout);
                RowValues y = t.keep(t.rowOf(buffers[0])), dy = t.keep(t.rowOf(buffers[1]));
                Expr sum = t.sum(t.map([](Expr y, Expr dy) { return y * dy; }, y, dy));
                t.store(t.map([&](Expr y, Expr dy) { return y * (dy - sum); }, y, dy), buffers[2]);
              });
  return success();
}

} // namespace gc::cuda
