//===- TensorCores.h - Products of f32 rounded to TF32 --------------------===//
//
// A warp multiplies 16 x 8 by 8 x 8 elements in one instruction (mma.m16n8k8, from sm_80 on).
// Operands have f32's exponent and 10 bits of its mantissa, sums are f32.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_GRIDS_TENSORCORES_H
#define GC_COMPILER_CUDA_GRIDS_TENSORCORES_H

#include "compiler/cuda/grids/TileProduct.h"

namespace gc::cuda {

/// Those of the instructions below. They are loaded here as their headers are the longest of all,
/// and no other file here needs them.
void loadTensorCoreDialects(mlir::MLIRContext &context);

/// An f32, or a vector of them, rounded to TF32: to the nearest, halves away from zero.
Expr roundToTf32(GpuBuilder &k, Expr value);

/// Where the elements of a warp's instructions lie in the tile. A warp has the rows and columns
/// that it has by ThreadTile, cut into pieces of 16 x 8.
class WarpPieces {
public:
  WarpPieces(GpuBuilder &k, const TileShape &tile);

  int64_t down, across; // pieces

  /// The sums of this thread, rows() x columns() of them: neighbouring columns in pairs.
  int64_t rows() const { return 2 * down; }
  int64_t columns() const { return 2 * across; }
  Expr row(int64_t i) const { return firstRow + (i / 2 * 16 + i % 2 * 8); }
  Expr column(int64_t j) const { return firstColumn + pairs + (j / 2 * 8 + j % 2); }

  /// What this thread gives to an instruction: of the left operand elements in the rows above, of
  /// the right one in this column of piece j; of either at depths `depth` and the next of eight.
  /// Which of the eight they are is the same on both sides, so that the sum has each of them once.
  /// These two are next to each other, and shared memory has no bank conflicts.
  Expr operandColumn(int64_t j) const { return firstColumn + group + j * 8; }
  Expr depth;

private:
  Expr group;                 // lane / 4
  Expr pairs;                 // first column of this thread's pair
  Expr firstRow, firstColumn; // of this thread; of the warp
};

/// Adds the product of a piece: four elements of the left operand (two rows at the first depth, the
/// same two at the second), two of the right, to four sums (a pair in each row). All lanes of the
/// warp must get here.
llvm::SmallVector<Expr> multiplyPiece(GpuBuilder &k, llvm::ArrayRef<Expr> left,
                                      llvm::ArrayRef<Expr> right, llvm::ArrayRef<Expr> sums);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_TENSORCORES_H
