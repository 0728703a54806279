//===- TileProduct.h - A block's part of a product of matrices ------------===//
//
//   c[row, column] = sum over k of a[row, k] * b[column, k]
//
// A block of threads computes a tile of c. It goes through the depth in steps; in each, tiles of
// both operands are brought to shared memory, while the threads multiply those of the step before.
// What an operand is, its fetch function says: a matrix of any strides, or the pixels under a
// filter.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_GRIDS_TILEPRODUCT_H
#define GC_COMPILER_CUDA_GRIDS_TILEPRODUCT_H

#include "compiler/cuda/grids/GpuBuilder.h"
#include <functional>

namespace gc::cuda {

/// The tile of a block, and what of it a thread has: rows and columns in groups of four. The lanes
/// of a warp are 4 rows of 8.
struct TileShape {
  int64_t rows, columns;
  int64_t depth; // of a step: 8 or 16
  int64_t threadRows, threadColumns;

  int64_t warpsAcross() const { return columns / (8 * threadColumns); }
  int64_t warps() const { return rows / (4 * threadRows) * warpsAcross(); }
  int64_t threads() const { return warpSize * warps(); }
  bool operator==(const TileShape &other) const = default;
};

/// A factor, seen as [rows, depth]; b's rows are the columns of the product.
struct TileOperand {
  int64_t rows; // beyond them the last one is fetched again
  /// Elements that are fetched at once, 1 or 4. They, and those of the neighbouring threads, are
  /// neighbours in depth, or else in rows.
  int64_t width;
  bool alongDepth;
  /// The element (or the vector of them) from here on; zero where the depth has ended.
  std::function<Expr(Expr row, Expr depth)> fetch;
};

/// `width` elements at a flat index; zero where `isThere` (which may be null) does not hold.
Expr fetchOrZero(GpuBuilder &k, mlir::Value buffer, Expr index, Expr isThere, int64_t width);

/// A matrix of any strides that starts at `offset`. `offsetAlign` divides the offset.
TileOperand matrixOperand(GpuBuilder &k, const TileShape &tile, mlir::Value buffer, Expr offset,
                          int64_t offsetAlign, int64_t rows, int64_t depth, int64_t rowStride,
                          int64_t depthStride);

/// Rows and columns of this thread within the tile.
class ThreadTile {
public:
  ThreadTile(GpuBuilder &k, const TileShape &tile);
  Expr row(int64_t i) const { return firstRow + (i / 4 * 16 + i % 4); }
  Expr column(int64_t j) const { return firstColumn + (j / 4 * 32 + j % 4); }

private:
  Expr firstRow, firstColumn;
};

/// Floats of shared memory in which the operands of a step meet; or the right one alone.
int64_t stagingSize(const TileShape &tile, bool rightOnly = false);

/// The sums of this thread, by row and then column, over depths [begin, end) in ascending order.
/// `begin` must be a multiple of the tile's depth. All threads of the block must get here; in a
/// loop they may do so again and again. `staging` is shared memory of at least stagingSize, free to
/// be used for something else afterwards.
llvm::SmallVector<Expr> sumProducts(GpuBuilder &k, const TileShape &tile, const TileOperand &a,
                                    Expr firstRow, const TileOperand &b, Expr firstColumn,
                                    Expr begin, Expr end, mlir::Value staging);

/// The same with operands rounded to TF32, by tensor cores. The thread's sums are those of
/// WarpPieces (TensorCores.h).
llvm::SmallVector<Expr> sumTf32Products(GpuBuilder &k, const TileShape &tile, const TileOperand &a,
                                        Expr firstRow, const TileOperand &b, Expr firstColumn,
                                        Expr begin, Expr end, mlir::Value staging);

/// Goes on adding to `sums` with a left operand that is in shared memory already, [rows, depth],
/// its first depth being `begin`. A warp reads the rows of its own threads only. There is a barrier
/// before it is read, and one after.
llvm::SmallVector<Expr> addProducts(GpuBuilder &k, const TileShape &tile, mlir::Value left,
                                    const TileOperand &b, Expr firstColumn, Expr begin, Expr end,
                                    llvm::ArrayRef<Expr> sums, mlir::Value staging);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_TILEPRODUCT_H
