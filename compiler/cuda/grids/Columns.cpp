//===- Columns.cpp - Reductions over rows, column by column ---------------===//
#include "compiler/cuda/grids/Columns.h"

using namespace mlir;

namespace gc::cuda {

ColumnBlocks ColumnBlocks::inChunks(int64_t matrices, int64_t rows, int64_t channels) {
  RowChunks chunks = chunkRows(rows, channels, matrices);
  return {matrices, rows, channels, chunks, columnTile(channels, chunks.rows)};
}

ColumnBlocks ColumnBlocks::whole(int64_t matrices, int64_t rows, int64_t channels) {
  // One block has to do it all: the more threads, the fewer waits for memory one after the other.
  constexpr int64_t threads = 1024;
  return {matrices, rows, channels, {rows, 1}, columnTile(channels, ceilDiv(rows, 2), threads)};
}

ColumnThread::ColumnThread(GpuBuilder &k, const ColumnBlocks &blocks) {
  const ColumnTile &tile = blocks.tile;
  Expr number = k.block();
  chunk = number / tile.tiles;
  channel = number % tile.tiles * tile.width + k.thread();
  isChannel = channel < blocks.channels;
  matrix = chunk / blocks.chunks.count;
  Expr begin = chunk % blocks.chunks.count * blocks.chunks.rows;
  first = begin + k.thread(GpuBuilder::Dimension::y);
  Expr last = k.minimum(begin + blocks.chunks.rows, k.index(blocks.rows));
  end = blocks.channels % tile.width == 0 ? last : k.select(isChannel, last, begin);
}

void addColumnReduction(GpuKernels &kernels, StringRef suffix, ArrayRef<BufferUse> uses,
                        const ColumnBlocks &blocks, ColumnReduction reduction,
                        ColumnReduction::Values values, ColumnReduction::Store store) {
  kernels.add(
      suffix, uses, blocks.grid(), blocks.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        ColumnThread at(k, blocks);
        SmallVector<Expr> totals = k.reduceStrided(
            at.first, at.end, blocks.tile.height, reduction.count, reduction.isMaximum,
            [&](Expr row) { return values(k, buffers, at, row); });
        reduceOverHeight(k, blocks.tile, totals, reduction.isMaximum, [&](ArrayRef<Expr> totals) {
          k.when(at.isChannel, [&] { store(k, buffers, at, totals); });
        });
      });
}

Moments combine(GpuBuilder &k, const Moments &a, const Moments &b) {
  Expr count = a.count + b.count, delta = b.mean - a.mean;
  // Threads may have nothing yet.
  Expr share = k.select(count > k.f32(0), b.count / count, k.f32(0));
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * (a.count * share)};
}

/// The moments of a thread's values and those of `values`: two passes around the mean so far.
static Moments extend(GpuBuilder &k, const Moments &moments, ArrayRef<Expr> values) {
  auto size = double(values.size());
  SmallVector<Expr> deviations;
  for (Expr value : values)
    deviations.push_back(value - moments.mean);
  Expr shift = k.f32(0);
  for (Expr deviation : deviations)
    shift = shift + deviation;
  shift = shift / size;
  Expr squares = moments.squares;
  for (Expr deviation : deviations)
    squares = squares + (deviation - shift) * (deviation - shift);
  Expr count = moments.count + size;
  Expr share = k.f32(size) / count;
  return {count, moments.mean + shift * share, squares + shift * shift * (moments.count * share)};
}

/// Combines the moments of the threads of one column and calls `store` in one of them.
static void combineOverHeight(GpuBuilder &k, const ColumnTile &tile, Moments moments,
                              llvm::function_ref<void(const Moments &)> store) {
  if (tile.height == 1)
    return store(moments);
  Value parts = k.shared({3, tile.height, tile.width});
  Expr x = k.thread(), y = k.thread(GpuBuilder::Dimension::y);
  auto write = [&](const Moments &value) {
    k.store(value.count, parts, {k.index(0), y, x});
    k.store(value.mean, parts, {k.index(1), y, x});
    k.store(value.squares, parts, {k.index(2), y, x});
  };
  auto read = [&](Expr row) {
    return Moments{k.load(parts, {k.index(0), row, x}), k.load(parts, {k.index(1), row, x}),
                   k.load(parts, {k.index(2), row, x})};
  };
  write(moments);
  for (int64_t half = tile.height / 2; half > 0; half /= 2) {
    k.barrier();
    k.when(y < half, [&] {
      Moments total = combine(k, read(y), read(y + half));
      if (half == 1)
        store(total);
      else
        write(total);
    });
  }
}

void addMomentsOfChunks(GpuKernels &kernels, BufferUse input, BufferUse partials,
                        const ColumnBlocks &blocks) {
  constexpr int64_t together = 8; // values in registers
  input.shape = {blocks.matrices, blocks.rows, blocks.channels};
  kernels.add(
      "chunks", {input, partials}, blocks.grid(), blocks.block(),
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        ColumnThread at(k, blocks);
        Expr zero = k.f32(0);
        SmallVector<Expr> last =
            k.strided(at.first, at.end, blocks.tile.height, together, {zero, zero, zero},
                      [&](ArrayRef<Expr> rows, ArrayRef<Expr> carried) {
                        SmallVector<Expr> values;
                        for (Expr row : rows)
                          values.push_back(k.load(buffers[0], {at.matrix, row, at.channel}));
                        Moments next = extend(k, {carried[0], carried[1], carried[2]}, values);
                        return SmallVector<Expr>{next.count, next.mean, next.squares};
                      });
        combineOverHeight(k, blocks.tile, {last[0], last[1], last[2]}, [&](const Moments &total) {
          k.when(at.isChannel, [&] {
            k.store(total.mean, buffers[1], {k.index(0), at.chunk, at.channel});
            k.store(total.squares, buffers[1], {k.index(1), at.chunk, at.channel});
          });
        });
      });
}

void addCombineMoments(GpuKernels &kernels, ArrayRef<BufferUse> uses, const ColumnBlocks &blocks,
                       MomentsPart part, MomentsStore store) {
  kernels.add(
      "combine", uses, blocks.grid(), blocks.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        ColumnThread at(k, blocks);
        Expr zero = k.f32(0);
        SmallVector<Expr> last =
            k.strided(at.first, at.end, blocks.tile.height, 4, {zero, zero, zero},
                      [&](ArrayRef<Expr> rows, ArrayRef<Expr> carried) {
                        SmallVector<Moments> parts;
                        for (Expr row : rows)
                          parts.push_back(part(k, buffers, at, row));
                        Moments total{carried[0], carried[1], carried[2]};
                        for (const Moments &next : parts)
                          total = combine(k, total, next);
                        return SmallVector<Expr>{total.count, total.mean, total.squares};
                      });
        combineOverHeight(k, blocks.tile, {last[0], last[1], last[2]}, [&](const Moments &total) {
          k.when(at.isChannel, [&] { store(k, buffers, at, total); });
        });
      });
}

void addSumOverRows(GpuKernels &kernels, StringRef suffix, const BufferUse &input,
                    const BufferUse &result, bool accumulate) {
  ColumnBlocks blocks = ColumnBlocks::inChunks(1, input.shape[0], input.shape[1]);
  addColumnReduction(
      kernels, suffix, {input, kernels.scratch({1, blocks.chunks.count, blocks.channels})}, blocks,
      {},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr row) {
        return SmallVector<Expr>{k.load(buffers[0], {row, at.channel})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        k.store(totals[0], buffers[1], {k.index(0), at.chunk, at.channel});
      });
  addCombineSums(kernels, {result}, blocks.chunks.count, blocks.channels, 1, accumulate);
}

} // namespace gc::cuda
