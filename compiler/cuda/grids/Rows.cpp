//===- Rows.cpp - The rows of a matrix over the threads of a block --------===//
#include "compiler/cuda/grids/Rows.h"

using namespace mlir;

namespace gc::cuda {

RowLayout::RowLayout(int64_t rows, int64_t columns)
    : rows(rows), columns(columns), width(vectorWidth({columns})) {
  // A warp for a row, fewer lanes for a short one, more warps where threads would hold many
  // elements.
  constexpr int64_t mostThreads = 256, mostElements = 16, blockThreads = 128;
  int64_t vectors = columns / width;
  threads = std::min<int64_t>(warpSize, llvm::PowerOf2Ceil(vectors));
  while (threads < mostThreads && ceilDiv(vectors, threads) * width > mostElements)
    threads *= 2;
  // Several short rows share a block: whole warps, as lanes of different rows shuffle together.
  together = 1;
  if (threads <= warpSize)
    together = std::max<int64_t>(
        warpSize / threads, std::min<int64_t>(blockThreads / threads, llvm::PowerOf2Ceil(rows)));
}

RowThreads::RowThreads(GpuBuilder &k, const RowLayout &layout) : k(k), layout(layout) {
  row = k.block();
  if (layout.together > 1)
    row = row * layout.together + k.thread(GpuBuilder::Dimension::y);
  if (layout.rows % layout.together != 0) {
    exists = row < layout.rows;
    row = k.minimum(row, k.index(layout.rows - 1));
  }
}

RowValues RowThreads::rowOf(Value matrix) {
  return [this, matrix](const RowPiece &piece) {
    // What is not there may be another thread's, which has written to it.
    if (Value(piece.isThere))
      return k.loadElementsWhere(piece.isThere, matrix, {row, piece.column}, layout.width);
    return k.loadElements(matrix, {row, piece.column}, layout.width);
  };
}

RowValues RowThreads::vectorOf(Value vector) {
  return [this, vector](const RowPiece &piece) {
    return k.loadElements(vector, {piece.column}, layout.width);
  };
}

RowValues RowThreads::columns() {
  return [this](const RowPiece &piece) {
    Elements indices;
    for (int64_t i = 0; i < layout.width; ++i)
      indices.push_back(piece.column + i);
    return indices;
  };
}

RowValues RowThreads::keep(RowValues values) {
  if (!layout.isInRegisters())
    return values;
  SmallVector<Elements> kept;
  forPieces({}, [&](const RowPiece &piece, ArrayRef<Expr>) {
    kept.push_back(values(piece));
    return SmallVector<Expr>();
  });
  return [kept](const RowPiece &piece) { return kept[piece.number]; };
}

SmallVector<Expr> RowThreads::forPieces(
    ArrayRef<Expr> initial,
    llvm::function_ref<SmallVector<Expr>(const RowPiece &, ArrayRef<Expr>)> body) {
  int64_t stride = layout.threads * layout.width, whole = layout.columns / stride;
  Expr first = k.thread() * layout.width;
  SmallVector<Expr> carried(initial);
  if (layout.isInRegisters())
    for (int64_t i = 0; i < whole; ++i)
      carried = body({first + i * stride, exists, i}, carried);
  else
    carried = k.loop(k.index(0), k.index(whole * stride), stride, carried,
                     [&](Expr offset, ArrayRef<Expr> values) {
                       return body({first + offset, exists, -1}, values);
                     });
  if (whole * stride != layout.columns) {
    Expr column = first + whole * stride;
    Expr safe = k.minimum(column, k.index(layout.columns - layout.width));
    Expr isThere = column < layout.columns;
    carried = body({safe, Value(exists) ? isThere & exists : isThere, whole}, carried);
  }
  return carried;
}

Expr RowThreads::reduce(const RowValues &values, bool isMaximum) {
  Expr neutral = k.neutral(isMaximum);
  Expr total = forPieces({neutral}, [&](const RowPiece &piece, ArrayRef<Expr> carried) {
    Expr part;
    for (Expr value : values(piece))
      part = Value(part) ? k.combine(part, value, isMaximum) : value;
    if (Value(piece.isThere))
      part = k.select(piece.isThere, part, neutral);
    return SmallVector<Expr>{k.combine(carried[0], part, isMaximum)};
  })[0];
  if (layout.threads <= warpSize)
    return k.reduceLanes(total, isMaximum, layout.threads);
  return k.reduceBlock(total, isMaximum, k.shared({layout.threads / warpSize}));
}

void RowThreads::store(const RowValues &values, Value matrix) {
  forPieces({}, [&](const RowPiece &piece, ArrayRef<Expr>) {
    Elements elements = values(piece);
    auto write = [&] { k.storeElements(elements, matrix, {row, piece.column}); };
    if (Value(piece.isThere))
      k.when(piece.isThere, write);
    else
      write();
    return SmallVector<Expr>();
  });
}

void RowThreads::once(llvm::function_ref<void()> body) {
  Expr isFirst = k.thread() == 0;
  k.when(Value(exists) ? isFirst & exists : isFirst, body);
}

} // namespace gc::cuda
