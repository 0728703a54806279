//===- BatchStats.cpp - Mean and deviation of channels --------------------===//
#include "compiler/cuda/grids/Columns.h"

using namespace mlir;

namespace gc::cuda {

LogicalResult emitBatchStats(BatchStatsOp op, GpuKernels &kernels) {
  int64_t channels = elementCount(op.getMean().getType());
  int64_t rows = elementCount(op.getInput().getType()) / channels;
  double epsilon = op.getEpsilon().convertToFloat();
  ColumnBlocks blocks = ColumnBlocks::inChunks(1, rows, channels);
  int64_t chunks = blocks.chunks.count;
  BufferUse partials = kernels.scratch({2, chunks, channels});
  addMomentsOfChunks(kernels, kernels.operand(0), partials, blocks);
  // All chunks have the same weight but the last.
  int64_t lastRows = rows - (chunks - 1) * blocks.chunks.rows;
  addCombineMoments(
      kernels, {partials, kernels.result(0), kernels.result(1)},
      ColumnBlocks::whole(1, chunks, channels),
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr chunk) {
        Expr count = k.select(chunk == chunks - 1, k.f32(lastRows), k.f32(blocks.chunks.rows));
        return Moments{count, k.load(buffers[0], {k.index(0), chunk, at.channel}),
                       k.load(buffers[0], {k.index(1), chunk, at.channel})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, const Moments &total) {
        k.store(total.mean, buffers[1], {at.channel});
        Expr variance = total.squares / rows;
        k.store(k.f32(1) / k.sqrt(variance + epsilon), buffers[2], {at.channel});
      });
  return success();
}

} // namespace gc::cuda
