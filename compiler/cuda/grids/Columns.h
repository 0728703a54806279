//===- Columns.h - Reductions over rows, column by column -----------------===//
//
// Blocks of `ColumnTile` over matrices [rows, channels]: neighbouring threads have neighbouring
// channels, the threads above each other share the rows of a chunk. With one channel all threads of
// a block stand above each other and read a row of memory side by side.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_GRIDS_COLUMNS_H
#define GC_COMPILER_CUDA_GRIDS_COLUMNS_H

#include "compiler/cuda/grids/GpuKernels.h"

namespace gc::cuda {

/// What is cut into blocks: each has a tile of channels and a chunk of rows of one matrix.
struct ColumnBlocks {
  int64_t matrices, rows, channels;
  RowChunks chunks; // of a matrix
  ColumnTile tile;

  /// Chunks for partial results that are combined later.
  static ColumnBlocks inChunks(int64_t matrices, int64_t rows, int64_t channels);
  /// All rows of a matrix in one block.
  static ColumnBlocks whole(int64_t matrices, int64_t rows, int64_t channels);
  /// Chunks of all matrices: chunk j of matrix i is chunk i * chunks.count + j.
  int64_t allChunks() const { return matrices * chunks.count; }
  Extent grid() const { return {tile.tiles * allChunks(), 1, 1}; }
  Extent block() const { return tile.block(); }
};

/// Where a thread is among them.
struct ColumnThread {
  ColumnThread(GpuBuilder &k, const ColumnBlocks &blocks);
  Expr matrix, chunk; // the chunk among all chunks
  Expr channel, isChannel;
  Expr first, end; // its rows in the matrix, every tile.height; none beyond the last channel
};

/// Reduces `count` values at a time over the rows of each chunk. `values` gives them for a row;
/// `store` gets the results, once a channel and chunk.
struct ColumnReduction {
  unsigned count = 1;
  bool isMaximum = false;
  using Values = llvm::function_ref<llvm::SmallVector<Expr>(
      GpuBuilder &k, llvm::ArrayRef<mlir::Value> buffers, const ColumnThread &at, Expr row)>;
  using Store = llvm::function_ref<void(GpuBuilder &k, llvm::ArrayRef<mlir::Value> buffers,
                                        const ColumnThread &at, llvm::ArrayRef<Expr> totals)>;
};
void addColumnReduction(GpuKernels &kernels, llvm::StringRef suffix, llvm::ArrayRef<BufferUse> uses,
                        const ColumnBlocks &blocks, ColumnReduction reduction,
                        ColumnReduction::Values values, ColumnReduction::Store store);

/// Adds result[c] = sum of input[row][c] over the rows, or adds it to what is there: in chunks
/// first.
void addSumOverRows(GpuKernels &kernels, llvm::StringRef suffix, const BufferUse &input,
                    const BufferUse &result, bool accumulate);

/// Count, mean and sum of squared deviations from it of some values.
struct Moments {
  Expr count, mean, squares;
};
/// Of the values of both (Chan et al.): nothing cancels, unlike in E[x^2] - E[x]^2.
Moments combine(GpuBuilder &k, const Moments &a, const Moments &b);

/// Adds a kernel that writes the mean and the sum of squares of each channel over each chunk of
/// `input` to partials[0] and partials[1] [all chunks, channels]. Memory is read once.
void addMomentsOfChunks(GpuKernels &kernels, BufferUse input, BufferUse partials,
                        const ColumnBlocks &blocks);

/// Adds a kernel that combines moments: those of row r of each matrix are what `part` gives;
/// `store` gets mean and squares over all rows.
using MomentsPart = llvm::function_ref<Moments(GpuBuilder &k, llvm::ArrayRef<mlir::Value> buffers,
                                               const ColumnThread &at, Expr row)>;
using MomentsStore = llvm::function_ref<void(GpuBuilder &k, llvm::ArrayRef<mlir::Value> buffers,
                                             const ColumnThread &at, const Moments &total)>;
void addCombineMoments(GpuKernels &kernels, llvm::ArrayRef<BufferUse> uses,
                       const ColumnBlocks &blocks, MomentsPart part, MomentsStore store);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_COLUMNS_H
