//===- BatchStats.cpp - Mean and deviation of channels --------------------===//
//
// One pass over memory: each chunk of rows is read twice while it is in the cache, first for its
// mean, then for the sum of squares around that mean. Chunks are combined exactly (Chan et al.):
//   mean = sum n_k mean_k / n,   M2 = sum M2_k + sum n_k (mean_k - mean)^2.
// Unlike E[x^2] - E[x]^2 nothing cancels.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/loops/Moments.h"

using namespace mlir;

namespace gc::cpu {

void addMomentsOfRows(KernelBuilder &k, Value input, Value partials, Value block, Expr chunk,
                      Range rows, int64_t channels) {
  Expr zero = k.index(0), one = k.index(1), width = k.index(channels);
  Expr count = k.toFloat(k.fromIndex(rows.end - rows.begin, k.builder.getI64Type()));
  // partials[0] gets the mean, partials[1] the sum of squares around it.
  auto sumBlocks = [&](Expr into, llvm::function_ref<Expr(Expr row, Expr channel)> summand) {
    k.loop(zero, width, [&](Expr c) { k.store(k.f32(0), partials, {into, chunk, c}); });
    k.loop(rows.begin, rows.end, momentsBlockRows, [&](Expr first) {
      k.loop(zero, width, [&](Expr c) { k.store(k.f32(0), block, {c}); });
      Expr last = k.minimum(first + momentsBlockRows, rows.end);
      k.loop(first, last, [&](Expr row) {
        k.loop(zero, width,
               [&](Expr c) { k.store(k.load(block, {c}) + summand(row, c), block, {c}); });
      });
      k.loop(zero, width, [&](Expr c) {
        k.store(k.load(partials, {into, chunk, c}) + k.load(block, {c}), partials,
                {into, chunk, c});
      });
    });
  };
  sumBlocks(zero, [&](Expr row, Expr c) { return k.load(input, {row, c}); });
  k.loop(zero, width, [&](Expr c) {
    k.store(k.load(partials, {zero, chunk, c}) / count, partials, {zero, chunk, c});
  });
  sumBlocks(one, [&](Expr row, Expr c) {
    Expr deviation = k.load(input, {row, c}) - k.load(partials, {zero, chunk, c});
    return deviation * deviation;
  });
}

LogicalResult emitBatchStats(BatchStatsOp op, OpKernels &kernels) {
  int64_t channels = elementCount(op.getMean().getType());
  int64_t rows = elementCount(op.getInput().getType()) / channels;
  double epsilon = op.getEpsilon().convertToFloat();
  RowChunks chunks = chunkRows(rows, channels);
  BufferUse partials = kernels.scratch({2, chunks.count, channels});
  kernels.add("chunks", {kernels.operand(0, {rows, channels}), partials}, chunks.count,
              grainOf(chunks.rows * channels),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Value block = k.stackArray({channels});
                k.loop(begin, end, [&](Expr chunk) {
                  addMomentsOfRows(k, buffers[0], buffers[1], block, chunk,
                                   itemRange(k, chunk, chunk + 1, chunks.rows, rows), channels);
                });
              });
  // All chunks have the same weight but the last.
  int64_t lastRows = rows - (chunks.count - 1) * chunks.rows;
  kernels.add("combine", {partials, kernels.result(0), kernels.result(1)},
              (channels + lanes - 1) / lanes, grainOf(2 * chunks.count * lanes),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Range range = itemRange(k, begin, end, lanes, channels);
                Value mean = buffers[1], rstd = buffers[2];
                Expr zero = k.index(0), one = k.index(1), last = k.index(chunks.count - 1);
                auto partial = [&](Expr which, Expr chunk, Expr c) {
                  return k.load(buffers[0], {which, chunk, c});
                };
                auto forEach = [&](llvm::function_ref<void(Expr)> each) {
                  k.loop(range.begin, range.end, each);
                };
                double weight = double(chunks.rows) / rows, lastWeight = double(lastRows) / rows;
                forEach([&](Expr c) { k.store(partial(zero, last, c) * lastWeight, mean, {c}); });
                k.loop(zero, last, [&](Expr chunk) {
                  forEach([&](Expr c) {
                    k.store(k.load(mean, {c}) + partial(zero, chunk, c) * weight, mean, {c});
                  });
                });
                auto squares = [&](Expr chunk, Expr c, int64_t count) {
                  Expr shift = partial(zero, chunk, c) - k.load(mean, {c});
                  return partial(one, chunk, c) + shift * shift * count;
                };
                forEach([&](Expr c) { k.store(squares(last, c, lastRows), rstd, {c}); });
                k.loop(zero, last, [&](Expr chunk) {
                  forEach([&](Expr c) {
                    k.store(k.load(rstd, {c}) + squares(chunk, c, chunks.rows), rstd, {c});
                  });
                });
                forEach([&](Expr c) {
                  Expr variance = k.load(rstd, {c}) / rows;
                  k.store(k.f32(1) / k.sqrt(variance + epsilon), rstd, {c});
                });
              });
  return success();
}

} // namespace gc::cpu
