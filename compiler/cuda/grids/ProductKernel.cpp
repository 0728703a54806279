//===- ProductKernel.cpp - Products of matrices and what follows them -----===//
#include "compiler/cuda/grids/ProductKernel.h"
#include "compiler/cuda/grids/TensorCores.h"

#include "dialects/ops/Formula.h"

using namespace mlir;

namespace gc::cuda {

//===----------------------------------------------------------------------===//
// How a product is cut
//===----------------------------------------------------------------------===//

namespace {

struct RatedTile {
  TileShape shape;
  /// Part of the peak that the inner loop reaches: what it reads of shared memory for a
  /// multiplication, and of the operands for a tile.
  double rate;
};
constexpr RatedTile ratedTiles[] = {
    {{128, 128, 8, 8, 8}, 0.9}, {{128, 64, 8, 8, 8}, 0.85}, {{64, 128, 8, 8, 8}, 0.85},
    {{64, 64, 16, 8, 4}, 0.65}, {{128, 32, 16, 8, 4}, 0.6}, {{32, 128, 16, 4, 8}, 0.6},
    {{32, 32, 16, 4, 4}, 0.4},
};
constexpr TileShape shapes[] = {ratedTiles[0].shape, ratedTiles[1].shape, ratedTiles[2].shape,
                                ratedTiles[3].shape, ratedTiles[4].shape, ratedTiles[5].shape,
                                ratedTiles[6].shape};

/// How many splits are tried: every number at first, then steps of about an eighth.
SmallVector<int64_t> splitNumbers() {
  SmallVector<int64_t> numbers;
  for (int64_t splits = 1; splits <= 256; splits += std::max<int64_t>(1, splits / 8))
    numbers.push_back(splits);
  return numbers;
}

double rateOf(const TileShape &tile) {
  for (const RatedTile &rated : ratedTiles)
    if (rated.shape == tile)
      return rated.rate;
  llvm_unreachable("every tile has a rate");
}

/// How many times as fast as in f32 a product is. Tensor cores may want more than shared memory
/// gives: 128 bytes a cycle, of which a warp reads a row and a column of its part of the tile.
double speedupOf(const TileShape &tile, const GridDevice &device) {
  if (!device.tf32)
    return 1;
  double rows = 4. * double(tile.threadRows), columns = 8. * double(tile.threadColumns);
  double flopsPerCycle = 128 * (2 * rows * columns) / (4 * (rows + columns));
  return std::max(1.0, std::min(device.tf32Speedup, flopsPerCycle / (2. * double(device.lanes))));
}

} // namespace

bool hasRegistersFor(const ProductCut &cut, const ProductShape &shape) {
  bool hasShortSplit = cut.splits > 1 && cut.splits * cut.chunk != shape.depth;
  return cut.tile.threads() < 256 || !(shape.hasPhases || hasShortSplit);
}

double productFlops(const ProductShape &shape, const ProductCut &cut, const GridDevice &device) {
  constexpr double blockCycles = 2000;          // first fetch and last store
  double fullWarps = double(device.lanes) / 16; // that make full use of a multiprocessor
  const TileShape &tile = cut.tile;
  auto tiles =
      double(shape.batch * ceilDiv(shape.rows, tile.rows) * ceilDiv(shape.columns, tile.columns));
  double sizes = 2. * double(shape.batch * shape.rows * shape.columns) * double(shape.depth);
  double perProcessor = std::ceil(tiles * double(cut.splits) / double(device.multiprocessors));
  double warps = perProcessor * double(tile.warps());
  double use = std::min(1.0, warps / fullWarps);
  double blockFlops =
      2. * double(tile.rows * tile.columns) * double(cut.chunk) * (shape.flops / sizes);
  double fullRate = device.flopsPerSecond * speedupOf(tile, device);
  double seconds =
      perProcessor * blockFlops /
      (fullRate / double(device.multiprocessors) * rateOf(tile) / ratedTiles[0].rate * use);
  seconds += std::ceil(warps / (2 * fullWarps)) * blockCycles / device.clock;
  return seconds * device.flopsPerSecond;
}

double secondsOf(const ProductShape &shape, const ProductCut &cut, const GridDevice &device) {
  double seconds = productFlops(shape, cut, device) / device.flopsPerSecond;
  if (cut.splits > 1) // partial sums are written and read: twice four bytes
    seconds += device.launchSeconds + 8. * double(cut.splits) *
                                          double(shape.batch * shape.rows * shape.columns) /
                                          device.bytesPerSecond;
  return seconds;
}

ArrayRef<TileShape> tileShapes() { return shapes; }

ProductCut cutDepth(const TileShape &tile, int64_t depth, int64_t splits) {
  int64_t chunk = ceilDiv(ceilDiv(depth, splits), tile.depth) * tile.depth;
  return {tile, ceilDiv(depth, chunk), chunk};
}

ProductCut cutProduct(const ProductShape &shape, const GridDevice &device) {
  ProductCut best;
  double least = std::numeric_limits<double>::infinity();
  for (const TileShape &tile : shapes)
    for (int64_t splits : splitNumbers()) {
      ProductCut cut = cutDepth(tile, shape.depth, splits);
      if (!hasRegistersFor(cut, shape))
        continue;
      double seconds = secondsOf(shape, cut, device);
      if (seconds < least) {
        least = seconds;
        best = cut;
      }
    }
  return best;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

/// The buffers of what follows a product, as a kernel sees them.
class Epilogue {
public:
  Epilogue(const ProductKernel &product, ArrayRef<Value> buffers) : product(product) {
    size_t next = 0;
    c = buffers[next++];
    if (product.bias)
      bias = buffers[next++];
    if (product.residual)
      residual = buffers[next++];
  }
  static SmallVector<BufferUse> uses(const ProductKernel &product) {
    SmallVector<BufferUse> uses{product.c};
    if (product.bias)
      uses.push_back(*product.bias);
    if (product.residual)
      uses.push_back(*product.residual);
    return uses;
  }

  /// Finishes one sum, or four neighbours, from `column` on.
  void finish(GpuBuilder &k, ArrayRef<Expr> sums, Expr batch, Expr row, Expr column) const {
    ProductKernel::Place place = product.place(k, batch, row, column);
    if (Value(place.isThere))
      k.when(place.isThere, [&] { store(k, sums, place.index, column); });
    else
      store(k, sums, place.index, column);
  }

private:
  void store(GpuBuilder &k, ArrayRef<Expr> sums, Expr index, Expr column) const {
    auto width = int64_t(sums.size());
    auto load = [&](Value buffer, Expr at) {
      return width == 1 ? k.load(buffer, {at}) : k.loadVector(buffer, {at}, width);
    };
    Expr biases, residuals, before;
    if (bias)
      biases = load(bias, column);
    if (residual)
      residuals = load(residual, index);
    if (product.offset != 0)
      index = index + product.offset;
    if (product.accumulate)
      before = load(c, index);
    SmallVector<Expr> values;
    for (int64_t i = 0; i < width; ++i) {
      auto element = [&](Expr loaded) { return width == 1 ? loaded : k.element(loaded, i); };
      Expr value = sums[i];
      if (product.scale != 1)
        value = value * k.f32(product.scale);
      if (bias)
        value = value + element(biases);
      if (residual)
        value = value + element(residuals);
      value = activate(k, value);
      if (product.accumulate)
        value = element(before) + value;
      values.push_back(value);
    }
    if (width == 1)
      k.store(values[0], c, {index});
    else
      k.storeVector(k.vectorOf(values), c, {index});
  }

  Expr activate(GpuBuilder &k, Expr x) const {
    switch (product.activation) {
    case plan::Activation_None:
      return x;
    case plan::Activation_Relu:
      return k.larger(x, k.f32(0));
    case plan::Activation_Gelu:
      return x * k.wrap(Formula(k.builder, k.location, Value(x).getType()).normalCdf(x));
    }
    llvm_unreachable("all activations are handled");
  }

  const ProductKernel &product;
  Value c, bias, residual;
};

/// Blocks that should fit a multiprocessor, where it gets so many: as many as leave a thread the
/// registers that it needs (so that nothing is spilled), which are more where elements are fetched
/// one by one.
int64_t blocksOf(const TileShape &tile, bool inVectors) {
  if (tile.threads() == 256)
    return inVectors ? 2 : 1;
  return 384 / tile.threads();
}

/// Runs `body` where the condition holds; always, if it is known to.
void whenNeeded(GpuBuilder &k, bool isNeeded, Expr condition, function_ref<void()> body) {
  if (isNeeded)
    k.when(condition, body);
  else
    body();
}

/// Sums over the splits, then what follows.
void addCombine(GpuKernels &kernels, const ProductKernel &product, const ProductCut &cut) {
  int64_t all = product.batch * product.rows * product.columns;
  int64_t width = product.inVectors ? 4 : 1, items = all / width;
  SmallVector<BufferUse> uses{kernels.scratch({cut.splits, all})};
  uses.append(Epilogue::uses(product));
  kernels.add(
      "combine", uses, itemGrid(items), itemBlock, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        Epilogue epilogue(product, buffers.drop_front());
        forItems(k, items, [&](Expr item) {
          Expr first = item * width;
          SmallVector<Expr> sums(width, k.f32(0));
          sums =
              k.loop(k.index(0), k.index(cut.splits), 1, sums, [&](Expr split, ArrayRef<Expr> sum) {
                SmallVector<Expr> next(sum);
                if (width == 1) {
                  next[0] = sum[0] + k.load(buffers[0], {split, first});
                  return next;
                }
                Expr part = k.loadVector(buffers[0], {split, first}, width);
                for (int64_t i = 0; i < width; ++i)
                  next[i] = sum[i] + k.element(part, i);
                return next;
              });
          Expr row = first / product.columns;
          epilogue.finish(k, sums, row / product.rows, row % product.rows, first % product.columns);
        });
      });
}

} // namespace

void addElements(GpuKernels &kernels, const ProductKernel &product, ElementSum sum) {
  ProductKernel dense = product;
  dense.place = [columns = product.columns](GpuBuilder &, Expr, Expr row, Expr column) {
    return ProductKernel::Place{row * columns + column, {}};
  };
  SmallVector<BufferUse> uses{product.a, product.b};
  uses.append(Epilogue::uses(product));
  int64_t items = product.rows * product.columns;
  kernels.add(
      "elements", uses, itemGrid(items), itemBlock,
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        Epilogue epilogue(dense, buffers.drop_front(2));
        forItems(k, items, [&](Expr item) {
          Expr row = item / product.columns, column = item % product.columns;
          Expr value = sum(k, buffers[0], buffers[1], row, column);
          epilogue.finish(k, {value}, k.index(0), row, column);
        });
      },
      elementSlowdown * product.flops);
  kernels.costs.productFlops += elementSlowdown * product.flops;
}

void addProduct(GpuKernels &kernels, const ProductKernel &product) {
  addProduct(kernels, product, cutProduct(product.shape(), kernels.device()));
}

void addProduct(GpuKernels &kernels, const ProductKernel &product, const ProductCut &cut) {
  const TileShape &tile = cut.tile;
  int64_t across = ceilDiv(product.columns, tile.columns), down = ceilDiv(product.rows, tile.rows);
  bool isSplit = cut.splits > 1;
  int64_t blocks = across * down * product.batch * cut.splits;
  int64_t processors = kernels.device().multiprocessors;
  int64_t matrix = product.rows * product.columns;
  SmallVector<BufferUse> uses{product.a, product.b};
  if (isSplit)
    uses.push_back(kernels.scratch({cut.splits * product.batch * matrix}));
  else
    uses.append(Epilogue::uses(product));

  kernels.add(
      "tiles", uses, {blocks, 1, 1}, {tile.threads(), 1, 1},
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        // Neighbouring blocks have the same rows.
        Expr number = k.block();
        Expr firstColumn = number % across * tile.columns;
        number = number / across;
        Expr firstRow = number % down * tile.rows;
        number = number / down;
        Expr batch = number % product.batch, split = number / product.batch;

        Expr end = product.depthOf ? product.depthOf(k, batch) : k.index(product.depth);
        Expr begin = k.index(0);
        if (isSplit) {
          begin = split * cut.chunk;
          end = k.minimum(begin + cut.chunk, end);
        }
        TileOperand a = product.left(k, tile, buffers[0], batch);
        TileOperand b = product.right(k, tile, buffers[1], batch);
        k.atLeastBlocks(
            std::min(blocksOf(tile, a.width == 4 && b.width == 4), ceilDiv(blocks, processors)));
        bool tf32 = kernels.allowsTf32();
        SmallVector<Expr> sums = (tf32 ? sumTf32Products : sumProducts)(
            k, tile, a, firstRow, b, firstColumn, begin, end, k.shared({stagingSize(tile)}));

        // Partial sums are stored as they are, one dense matrix after the other.
        ProductKernel partial;
        partial.place = [&](GpuBuilder &k, Expr, Expr row, Expr column) {
          Expr index = (split * product.batch + batch) * matrix + row * product.columns + column;
          return ProductKernel::Place{index, {}};
        };
        Epilogue epilogue(isSplit ? partial : product, buffers.drop_front(2));
        auto finish = [&](const auto &mine, int64_t rows, int64_t columns, int64_t neighbours) {
          int64_t width = product.inVectors ? neighbours : 1;
          for (int64_t i = 0; i < rows; ++i) {
            Expr row = firstRow + mine.row(i);
            whenNeeded(k, product.rows % tile.rows != 0, row < product.rows, [&] {
              for (int64_t j = 0; j < columns; j += width) {
                Expr column = firstColumn + mine.column(j);
                whenNeeded(k, product.columns % tile.columns != 0, column < product.columns, [&] {
                  ArrayRef<Expr> some = ArrayRef(sums).slice(i * columns + j, width);
                  epilogue.finish(k, some, batch, row, column);
                });
              }
            });
          }
        };
        if (tf32) {
          WarpPieces mine(k, tile);
          finish(mine, mine.rows(), mine.columns(), 2);
        } else {
          finish(ThreadTile(k, tile), tile.threadRows, tile.threadColumns, 4);
        }
      },
      product.flops / speedupOf(tile, kernels.device()));
  kernels.costs.productFlops += productFlops(product.shape(), cut, kernels.device());
  if (isSplit)
    addCombine(kernels, product, cut);
}

} // namespace gc::cuda
