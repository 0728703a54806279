//===- LayerNorm.cpp - Normalization of rows ------------------------------===//
//
// An item is a row; it stays in the first-level cache while it is read two or three times.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/loops/OpKernels.h"

using namespace mlir;

namespace gc::cpu {

// y = (x - mean) * rstd * weight + bias, mean and rstd of the row.
LogicalResult emitLayerNorm(LayerNormOp op, OpKernels &kernels) {
  int64_t columns = elementCount(op.getWeight().getType());
  int64_t rows = elementCount(op.getInput().getType()) / columns;
  double epsilon = op.getEpsilon().convertToFloat();
  SmallVector<BufferUse> uses{
      kernels.operand(0, {rows, columns}), kernels.operand(1),        kernels.operand(2),
      kernels.result(0, {rows, columns}),  kernels.result(1, {rows}), kernels.result(2, {rows})};
  kernels.add(
      "", uses, rows, grainOf(columns),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr row) {
          auto input = [&](const Columns &columns) { return k.load(buffers[0], {row}, columns); };
          Expr mean = k.sumColumns(columns, input) / columns;
          Expr means = k.splat(mean);
          Expr squares = k.sumColumns(columns, [&](const Columns &columns) {
            Expr deviation = input(columns) - means;
            return deviation * deviation;
          });
          Expr rstd = k.f32(1) / k.sqrt(squares / columns + epsilon);
          k.store(mean, buffers[4], {row});
          k.store(rstd, buffers[5], {row});
          Expr rstds = k.splat(rstd);
          k.forColumns(columns, [&](const Columns &columns) {
            Expr hat = (input(columns) - means) * rstds;
            Expr y = hat * k.load(buffers[1], {}, columns) + k.load(buffers[2], {}, columns);
            k.store(y, buffers[3], {row}, columns);
          });
        });
      });
  return success();
}

// With h = (x - mean) * rstd and g = dy * weight: dx = rstd * (g - avg g - h * avg(g h));
// dw = sum dy h and db = sum dy over rows, in partial sums for each chunk of rows.
LogicalResult emitLayerNormGrad(LayerNormGradOp op, OpKernels &kernels) {
  int64_t columns = elementCount(op.getWeight().getType());
  int64_t rows = elementCount(op.getInput().getType()) / columns;
  RowChunks chunks = chunkRows(rows, columns);
  SmallVector<BufferUse> uses{kernels.operand(0, {rows, columns}),
                              kernels.operand(1, {rows, columns}),
                              kernels.operand(2, {rows}),
                              kernels.operand(3, {rows}),
                              kernels.operand(4),
                              kernels.result(0, {rows, columns}),
                              kernels.scratch({2, chunks.count, columns})};
  kernels.add("rows", uses, chunks.count, grainOf(chunks.rows * columns),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Expr weightSums = k.index(0), biasSums = k.index(1);
                Value partials = buffers[6];
                k.loop(begin, end, [&](Expr chunk) {
                  k.forColumns(columns, [&](const Columns &columns) {
                    Expr zero = k.splat(k.f32(0));
                    k.store(zero, partials, {weightSums, chunk}, columns);
                    k.store(zero, partials, {biasSums, chunk}, columns);
                  });
                  Range range = itemRange(k, chunk, chunk + 1, chunks.rows, rows);
                  k.loop(range.begin, range.end, [&](Expr row) {
                    Expr mean = k.splat(k.load(buffers[2], {row}));
                    Expr rstd = k.splat(k.load(buffers[3], {row}));
                    auto gradient = [&](const Columns &columns) {
                      return k.load(buffers[0], {row}, columns);
                    };
                    auto hat = [&](const Columns &columns) {
                      return (k.load(buffers[1], {row}, columns) - mean) * rstd;
                    };
                    SmallVector<Expr> sums =
                        k.reduceColumns(columns, 2, false, [&](const Columns &columns) {
                          Expr g = gradient(columns) * k.load(buffers[4], {}, columns);
                          return SmallVector<Expr>{g, g * hat(columns)};
                        });
                    Expr average = k.splat(sums[0] / columns);
                    Expr product = k.splat(sums[1] / columns);
                    k.forColumns(columns, [&](const Columns &columns) {
                      Expr dy = gradient(columns), h = hat(columns);
                      Expr g = dy * k.load(buffers[4], {}, columns);
                      k.store(rstd * (g - average - h * product), buffers[5], {row}, columns);
                      Expr dw = k.load(partials, {weightSums, chunk}, columns) + dy * h;
                      k.store(dw, partials, {weightSums, chunk}, columns);
                      Expr db = k.load(partials, {biasSums, chunk}, columns) + dy;
                      k.store(db, partials, {biasSums, chunk}, columns);
                    });
                  });
                });
              });
  addCombineSums(kernels, {kernels.result(1), kernels.result(2)}, chunks.count, columns);
  return success();
}

} // namespace gc::cpu
