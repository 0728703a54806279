//===- LayerNorm.cpp - Normalization of rows ------------------------------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/cuda/grids/Rows.h"

using namespace mlir;

namespace gc::cuda {

// y = (x - mean) * rstd * weight + bias, mean and rstd of the row.
LogicalResult emitLayerNorm(LayerNormOp op, GpuKernels &kernels) {
  int64_t columns = elementCount(op.getWeight().getType());
  int64_t rows = elementCount(op.getInput().getType()) / columns;
  double epsilon = op.getEpsilon().convertToFloat();
  RowLayout layout(rows, columns);
  SmallVector<BufferUse> uses{
      kernels.operand(0, layout.shape()), kernels.operand(1),        kernels.operand(2),
      kernels.result(0, layout.shape()),  kernels.result(1, {rows}), kernels.result(2, {rows})};
  kernels.add("", uses, layout.grid(), layout.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    RowThreads t(k, layout);
    RowValues x = t.keep(t.rowOf(buffers[0]));
    Expr mean = t.sum(x) / columns;
    Expr squares = t.sum(t.map([&](Expr x) { return (x - mean) * (x - mean); }, x));
    Expr rstd = k.f32(1) / k.sqrt(squares / columns + epsilon);
    auto normalize = [&](Expr x, Expr weight, Expr bias) {
      return (x - mean) * rstd * weight + bias;
    };
    t.store(t.map(normalize, x, t.vectorOf(buffers[1]), t.vectorOf(buffers[2])), buffers[3]);
    t.once([&] {
      k.store(mean, buffers[4], {t.row});
      k.store(rstd, buffers[5], {t.row});
    });
  });
  return success();
}

// With h = (x - mean) * rstd and g = dy * weight: dx = rstd * (g - avg g - h * avg(g h));
// dw = sum dy h and db = sum dy over rows, in partial sums for each chunk of rows.
LogicalResult emitLayerNormGrad(LayerNormGradOp op, GpuKernels &kernels) {
  int64_t columns = elementCount(op.getWeight().getType());
  int64_t rows = elementCount(op.getInput().getType()) / columns;
  RowLayout layout(rows, columns);
  SmallVector<BufferUse> inputs{kernels.operand(0, layout.shape()),
                                kernels.operand(1, layout.shape()), kernels.operand(2, {rows}),
                                kernels.operand(3, {rows})};
  SmallVector<BufferUse> uses = inputs;
  uses.append({kernels.operand(4), kernels.result(0, layout.shape())});
  kernels.add(
      "rows", uses, layout.grid(), layout.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        RowThreads t(k, layout);
        Expr mean = k.load(buffers[2], {t.row}), rstd = k.load(buffers[3], {t.row});
        RowValues g = t.keep(t.map([](Expr dy, Expr weight) { return dy * weight; },
                                   t.rowOf(buffers[0]), t.vectorOf(buffers[4])));
        RowValues h = t.keep(t.map([&](Expr x) { return (x - mean) * rstd; }, t.rowOf(buffers[1])));
        Expr average = t.sum(g) / columns;
        Expr product = t.sum(t.map([](Expr g, Expr h) { return g * h; }, g, h)) / columns;
        t.store(t.map([&](Expr g, Expr h) { return rstd * (g - average - h * product); }, g, h),
                buffers[5]);
      });

  ColumnBlocks blocks = ColumnBlocks::inChunks(1, rows, columns);
  uses = inputs;
  uses.push_back(kernels.scratch({2, blocks.chunks.count, columns}));
  addColumnReduction(
      kernels, "parameters", uses, blocks, {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr row) {
        Expr dy = k.load(buffers[0], {row, at.channel});
        Expr centred = k.load(buffers[1], {row, at.channel}) - k.load(buffers[2], {row});
        return SmallVector<Expr>{dy * (centred * k.load(buffers[3], {row})), dy};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        for (auto [sum, total] : llvm::enumerate(totals))
          k.store(total, buffers[4], {k.index(sum), at.chunk, at.channel});
      });
  addCombineSums(kernels, {kernels.result(1), kernels.result(2)}, blocks.chunks.count, columns);
  return success();
}

} // namespace gc::cuda
