//===- Rows.h - The rows of a matrix over the threads of a block ----------===//
//
// A row belongs to a power of two of neighbouring threads: some lanes of a warp, a warp, or a
// block. A thread has a few pieces of it, `width` neighbouring elements each, which stay in
// registers where rows are not longer than 8192. So softmax reads
//   RowThreads t(k, layout);
//   RowValues x = t.keep(t.rowOf(buffers[0]));
//   Expr largest = t.maximum(x);
//   RowValues powers = t.keep(t.map([&](Expr x) { return k.exp(x - largest); }, x));
//   ...
// and reads memory once.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_GRIDS_ROWS_H
#define GC_COMPILER_CUDA_GRIDS_ROWS_H

#include "compiler/cuda/grids/GpuKernels.h"
#include <functional>

namespace gc::cuda {

/// How a matrix is dealt to threads.
struct RowLayout {
  RowLayout(int64_t rows, int64_t columns);

  int64_t rows, columns;
  int64_t width;    // elements of a piece
  int64_t threads;  // of a row
  int64_t together; // rows of a block
  Extent grid() const { return {ceilDiv(rows, together), 1, 1}; }
  Extent block() const { return {threads, together, 1}; }
  llvm::SmallVector<int64_t> shape() const { return {rows, columns}; }
  int64_t pieces() const { return ceilDiv(columns, threads * width); } // of a thread
  bool isInRegisters() const { return pieces() * width <= 32; }
};

/// Neighbouring elements of a thread's row.
struct RowPiece {
  Expr column;    // of the first; always inside the row
  Expr isThere;   // whether the piece and its row are; null: certainly
  int64_t number; // of the piece, where they are in registers
};

/// The elements of a piece: loaded, computed, or kept.
using RowValues = std::function<Elements(const RowPiece &)>;

class RowThreads {
public:
  RowThreads(GpuBuilder &k, const RowLayout &layout);

  /// The row of this thread. Threads behind the last row have its number, but neither read it nor
  /// store anything.
  Expr row;

  RowValues rowOf(mlir::Value matrix);    // matrix[row]; 0 for what is not there
  RowValues vectorOf(mlir::Value vector); // the same for all rows
  RowValues columns();                    // their indices
  /// Computes `values` now, where they fit into registers, else wherever they are used.
  RowValues keep(RowValues values);
  /// A formula of elements at the same place. It is copied, what it refers to must live on.
  template <typename Formula, typename... Rows>
  static RowValues map(Formula formula, Rows... rows) {
    return [=](const RowPiece &piece) {
      std::array<Elements, sizeof...(Rows)> operands{rows(piece)...};
      Elements result;
      for (size_t i = 0; i < operands[0].size(); ++i)
        result.push_back(
            std::apply([&](const auto &...values) { return formula(values[i]...); }, operands));
      return result;
    };
  }

  /// Over the row; every thread gets it. All threads must get here.
  Expr sum(const RowValues &values) { return reduce(values, false); }
  Expr maximum(const RowValues &values) { return reduce(values, true); }
  Expr reduce(const RowValues &values, bool isMaximum);

  void store(const RowValues &values, mlir::Value matrix); // to matrix[row]
  /// Runs `body` in one thread of each row.
  void once(llvm::function_ref<void()> body);

private:
  /// Runs `body` for all pieces, carrying values from one to the next.
  llvm::SmallVector<Expr> forPieces(
      llvm::ArrayRef<Expr> initial,
      llvm::function_ref<llvm::SmallVector<Expr>(const RowPiece &, llvm::ArrayRef<Expr>)> body);

  GpuBuilder &k;
  RowLayout layout;
  Expr exists; // null: certainly
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_ROWS_H
