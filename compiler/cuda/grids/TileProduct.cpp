//===- TileProduct.cpp - A block's part of a product of matrices ----------===//
#include "compiler/cuda/grids/TensorCores.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// The tiles of one operand in shared memory, [depth, rows], two of them: one is read while the
/// other is filled.
///
/// Rows are four floats longer than the tile is wide. Vectors stay aligned, and no access has bank
/// conflicts: depths are 4 banks apart, so that a warp that writes 8 depths x 4 rows meets 32
/// banks, and so do one that writes 16 rows at two depths that are 4 apart (16 banks), and 8 lanes
/// that read or write vectors side by side.
class SharedTile {
public:
  /// `begin` is where it starts in the buffer.
  SharedTile(GpuBuilder &k, const TileOperand &operand, int64_t rows, int64_t depth, Expr firstRow,
             Value buffer, int64_t begin, bool tf32 = false)
      : k(k), operand(operand), buffer(buffer), pitch(rows + 4), begin(begin), tf32(tf32) {
    int64_t threads = k.blockShape().count();
    int64_t count = rows * depth / (threads * operand.width);
    for (int64_t i = 0; i < count; ++i) {
      Expr item = k.thread() + i * threads;
      Expr row, at;
      if (!operand.alongDepth) {
        int64_t across = rows / operand.width;
        row = item % across * operand.width;
        at = item / across;
      } else {
        // A warp fetches 8 depths of some rows: whole sectors of memory.
        int64_t lanesInDepth = 8 / operand.width, warpRows = warpSize / lanesInDepth;
        int64_t warpsAcross = rows / warpRows;
        Expr lane = item % warpSize, warp = item / warpSize;
        row = warp % warpsAcross * warpRows + lane / lanesInDepth;
        at = warp / warpsAcross * 8 + lane % lanesInDepth * operand.width;
      }
      Expr wanted = k.minimum(firstRow + row, k.index(operand.rows - operandRows()));
      items.push_back({row, at, wanted});
    }
  }

  void fetch(Expr begin, SmallVectorImpl<Expr> &fetched) const {
    for (const Item &item : items)
      fetched.push_back(operand.fetch(item.wanted, begin + item.depth));
  }
  size_t count() const { return items.size(); }
  static int64_t size(int64_t rows, int64_t depth) { return 2 * depth * (rows + 4); }

  /// `first` is the first depth of one of the two halves.
  void store(ArrayRef<Expr> fetched, Expr first) const {
    for (auto [item, exact] : llvm::zip_equal(items, fetched)) {
      Expr value = tf32 ? roundToTf32(k, exact) : exact;
      Expr at = first + item.depth;
      if (operand.width == 1)
        k.store(value, buffer, {place(at, item.row)});
      else if (!operand.alongDepth)
        k.storeVector(value, buffer, {place(at, item.row)});
      else
        for (int64_t i = 0; i < operand.width; ++i)
          k.store(k.element(value, i), buffer, {place(at + i, item.row)});
    }
  }

  /// `count` elements of this thread at one depth; at(i) is where group i of four starts.
  SmallVector<Expr> fragment(Expr at, int64_t count, function_ref<Expr(int64_t)> rowOf) const {
    SmallVector<Expr> elements;
    for (int64_t i = 0; i < count; i += 4) {
      Expr vector = k.loadVector(buffer, {place(at, rowOf(i))}, 4);
      for (int64_t j = 0; j < 4; ++j)
        elements.push_back(k.element(vector, j));
    }
    return elements;
  }

  Expr element(Expr at, Expr row) const { return k.load(buffer, {place(at, row)}); }

private:
  int64_t operandRows() const { return operand.alongDepth ? 1 : operand.width; }
  Expr place(Expr depth, Expr row) const { return depth * pitch + row + begin; }

  struct Item {
    Expr row, depth; // in the tile
    Expr wanted;     // row in the operand
  };
  GpuBuilder &k;
  const TileOperand &operand;
  Value buffer;
  int64_t pitch, begin;
  bool tf32; // whether elements are rounded when they are stored
  SmallVector<Item> items;
};

void addOuterProduct(GpuBuilder &k, ArrayRef<Expr> rows, ArrayRef<Expr> columns,
                     MutableArrayRef<Expr> sums) {
  for (auto [i, row] : llvm::enumerate(rows))
    for (auto [j, column] : llvm::enumerate(columns)) {
      Expr &sum = sums[i * columns.size() + j];
      sum = k.fma(row, column, sum);
    }
}

/// What `compute` gives where the condition, which is the same for the block, holds; else zeros.
SmallVector<Expr> computeWhen(GpuBuilder &k, Expr condition,
                              function_ref<SmallVector<Expr>()> compute) {
  auto values = [](ArrayRef<Expr> all) { return SmallVector<Value>(all.begin(), all.end()); };
  auto yield = [&](OpBuilder &builder, ArrayRef<Expr> results) {
    scf::YieldOp::create(builder, k.location, values(results));
  };
  // The types are known once it is computed.
  Block *block = new Block;
  SmallVector<Expr> computed;
  SmallVector<Type> types;
  {
    OpBuilder::InsertionGuard guard(k.builder);
    k.builder.setInsertionPointToStart(block);
    computed = compute();
    yield(k.builder, computed);
  }
  for (Expr value : computed)
    types.push_back(value.type());
  auto op = scf::IfOp::create(k.builder, k.location, types, Value(condition),
                              /*addThenBlock=*/false, /*addElseBlock=*/true);
  op.getThenRegion().push_back(block);
  OpBuilder::InsertionGuard guard(k.builder);
  k.builder.setInsertionPointToStart(&op.getElseRegion().front());
  SmallVector<Expr> zeros;
  for (Type type : types)
    zeros.push_back(k.constant(type, 0));
  yield(k.builder, zeros);
  SmallVector<Expr> results;
  for (Value result : op.getResults())
    results.push_back(k.wrap(result));
  return results;
}

} // namespace

Expr fetchOrZero(GpuBuilder &k, Value buffer, Expr index, Expr isThere, int64_t width) {
  if (Value(isThere))
    index = k.select(isThere, index, k.index(0)); // which is always there
  Expr value = width == 1 ? k.load(buffer, {index}) : k.loadVector(buffer, {index}, width);
  return Value(isThere) ? k.select(isThere, value, value.like(0)) : value;
}

TileOperand matrixOperand(GpuBuilder &k, const TileShape &tile, Value buffer, Expr offset,
                          int64_t offsetAlign, int64_t rows, int64_t depth, int64_t rowStride,
                          int64_t depthStride) {
  TileOperand operand;
  operand.rows = rows;
  operand.alongDepth = depthStride == 1 || rowStride != 1;
  int64_t inner = operand.alongDepth ? depth : rows;
  int64_t innerStride = operand.alongDepth ? depthStride : rowStride;
  int64_t outerStride = operand.alongDepth ? rowStride : depthStride;
  bool isAligned =
      innerStride == 1 && inner % 4 == 0 && outerStride % 4 == 0 && offsetAlign % 4 == 0;
  operand.width = isAligned ? 4 : 1;
  operand.fetch = [&k, buffer, offset, rowStride, depthStride, depth, width = operand.width,
                   isWhole = depth % tile.depth == 0](Expr row, Expr at) {
    Expr index = offset + row * rowStride + at * depthStride;
    return fetchOrZero(k, buffer, index, isWhole ? Expr() : at < depth, width);
  };
  return operand;
}

ThreadTile::ThreadTile(GpuBuilder &k, const TileShape &tile) {
  Expr lane = k.thread() % warpSize, warp = k.thread() / warpSize;
  int64_t across = tile.warpsAcross();
  firstRow = warp / across * (4 * tile.threadRows) + lane / 8 * 4;
  firstColumn = warp % across * (8 * tile.threadColumns) + lane % 8 * 4;
}

/// Goes through the depth: brings the operands' tiles of a step to shared memory while `multiply`
/// adds up what the step before brought. It gets the step's first depth, and where that is in the
/// shared tiles.
static SmallVector<Expr>
forSteps(GpuBuilder &k, const TileShape &tile, ArrayRef<const SharedTile *> operands, Expr begin,
         Expr end, ArrayRef<Expr> initial,
         function_ref<void(Expr at, Expr half, MutableArrayRef<Expr> sums)> multiply) {
  // Steps take turns in the two halves of shared memory.
  auto halfOf = [&](Expr at) { return at / tile.depth % 2 * tile.depth; };
  auto fetch = [&](Expr at) {
    return computeWhen(k, at < end, [&] {
      SmallVector<Expr> fetched;
      for (const SharedTile *operand : operands)
        operand->fetch(at, fetched);
      return fetched;
    });
  };
  auto store = [&](ArrayRef<Expr> fetched, Expr at) {
    for (const SharedTile *operand : operands) {
      operand->store(fetched.take_front(operand->count()), halfOf(at));
      fetched = fetched.drop_front(operand->count());
    }
    k.barrier();
  };
  store(fetch(begin), begin);
  return k.loop(begin, end, tile.depth, initial, [&](Expr at, ArrayRef<Expr> carried) {
    Expr next = at + tile.depth;
    SmallVector<Expr> fetched = fetch(next);
    SmallVector<Expr> sums(carried);
    multiply(at, halfOf(at), sums);
    store(fetched, next);
    return sums;
  });
}

int64_t stagingSize(const TileShape &tile, bool rightOnly) {
  return SharedTile::size(tile.columns, tile.depth) +
         (rightOnly ? 0 : SharedTile::size(tile.rows, tile.depth));
}

SmallVector<Expr> sumProducts(GpuBuilder &k, const TileShape &tile, const TileOperand &a,
                              Expr firstRow, const TileOperand &b, Expr firstColumn, Expr begin,
                              Expr end, Value staging) {
  SharedTile left(k, a, tile.rows, tile.depth, firstRow, staging, 0);
  SharedTile right(k, b, tile.columns, tile.depth, firstColumn, staging,
                   SharedTile::size(tile.rows, tile.depth));
  ThreadTile mine(k, tile);
  SmallVector<Expr> zeros(tile.threadRows * tile.threadColumns, k.f32(0));
  return forSteps(
      k, tile, {&left, &right}, begin, end, zeros,
      [&](Expr, Expr half, MutableArrayRef<Expr> sums) {
        for (int64_t step = 0; step < tile.depth; ++step) {
          Expr now = half + step;
          auto rows = left.fragment(now, tile.threadRows, [&](int64_t i) { return mine.row(i); });
          auto columns =
              right.fragment(now, tile.threadColumns, [&](int64_t j) { return mine.column(j); });
          addOuterProduct(k, rows, columns, sums);
        }
      });
}

SmallVector<Expr> sumTf32Products(GpuBuilder &k, const TileShape &tile, const TileOperand &a,
                                  Expr firstRow, const TileOperand &b, Expr firstColumn, Expr begin,
                                  Expr end, Value staging) {
  SharedTile left(k, a, tile.rows, tile.depth, firstRow, staging, 0, /*tf32=*/true);
  SharedTile right(k, b, tile.columns, tile.depth, firstColumn, staging,
                   SharedTile::size(tile.rows, tile.depth), /*tf32=*/true);
  WarpPieces mine(k, tile);
  SmallVector<Expr> zeros(mine.rows() * mine.columns(), k.f32(0));
  return forSteps(
      k, tile, {&left, &right}, begin, end, zeros,
      [&](Expr, Expr half, MutableArrayRef<Expr> sums) {
        for (int64_t step = 0; step < tile.depth; step += 8) {
          Expr first = half + step + mine.depth, second = first + 1;
          SmallVector<SmallVector<Expr>> columns;
          for (int64_t j = 0; j < mine.across; ++j) {
            Expr column = mine.operandColumn(j);
            columns.push_back({right.element(first, column), right.element(second, column)});
          }
          for (int64_t i = 0; i < mine.down; ++i) {
            Expr upper = mine.row(2 * i), lower = mine.row(2 * i + 1);
            Expr rows[] = {left.element(first, upper), left.element(first, lower),
                           left.element(second, upper), left.element(second, lower)};
            for (int64_t j = 0; j < mine.across; ++j) {
              Expr *up = &sums[2 * i * mine.columns() + 2 * j], *low = up + mine.columns();
              SmallVector<Expr> next =
                  multiplyPiece(k, rows, columns[j], {up[0], up[1], low[0], low[1]});
              up[0] = next[0], up[1] = next[1], low[0] = next[2], low[1] = next[3];
            }
          }
        }
      });
}

SmallVector<Expr> addProducts(GpuBuilder &k, const TileShape &tile, Value left,
                              const TileOperand &b, Expr firstColumn, Expr begin, Expr end,
                              ArrayRef<Expr> sums, Value staging) {
  SharedTile right(k, b, tile.columns, tile.depth, firstColumn, staging, 0);
  ThreadTile mine(k, tile);
  return forSteps(k, tile, {&right}, begin, end, sums,
                  [&](Expr at, Expr half, MutableArrayRef<Expr> sums) {
                    // Four depths of a row at once.
                    for (int64_t group = 0; group < tile.depth; group += 4) {
                      SmallVector<Expr> vectors;
                      for (int64_t i = 0; i < tile.threadRows; ++i)
                        vectors.push_back(k.loadVector(left, {mine.row(i), at - begin + group}, 4));
                      for (int64_t step = 0; step < 4; ++step) {
                        SmallVector<Expr> rows;
                        for (Expr vector : vectors)
                          rows.push_back(k.element(vector, step));
                        auto columns = right.fragment(half + (group + step), tile.threadColumns,
                                                      [&](int64_t j) { return mine.column(j); });
                        addOuterProduct(k, rows, columns, sums);
                      }
                    }
                  });
}

} // namespace gc::cuda
