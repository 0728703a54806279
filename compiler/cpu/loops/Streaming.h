//===- Streaming.h - Results that are written past the cache --------------===//
//
// A result larger than the cache will not be found there by whoever reads it next. Storing it the
// usual way first reads every line that is about to be overwritten; a non-temporal store does not,
// which makes out-of-place elementwise kernels 1.3 to 1.6 times faster. Such stores must be whole
// and aligned: rows are computed into a small array on the stack, then copied out in one go.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CPU_LOOPS_STREAMING_H
#define GC_COMPILER_CPU_LOOPS_STREAMING_H

#include "compiler/cpu/loops/OpKernels.h"

namespace gc::cpu {

/// Full results of a kernel over [rows, channels], each written directly or streamed.
class RowWriter {
public:
  /// Stores a value of a result at (row, channel).
  using Store = llvm::function_ref<void(unsigned result, Expr row, Expr channel, Expr value)>;

  /// `rowsOfRange`: ranges of rows start at multiples of it. `uses` and `targets` are the results
  /// as [rows, channels], or as [rows] when `channels` is 1 and there is no second index. Call it
  /// outside of loops.
  RowWriter(KernelBuilder &k, const OpKernels &kernels, llvm::ArrayRef<BufferUse> uses,
            llvm::ArrayRef<mlir::Value> targets, int64_t channels, int64_t rowsOfRange);

  /// Runs `body` for the rows; it gets all stores done through its second argument.
  void forRows(Range rows, llvm::function_ref<void(Expr row, Store store)> body);

  /// Call it at the end of the kernel: other threads then see what was streamed.
  void finish();

private:
  void copyOut(unsigned result, Expr firstRow, Expr endRow);

  KernelBuilder &k;
  llvm::SmallVector<BufferUse> uses;
  llvm::SmallVector<mlir::Value> targets;
  llvm::SmallVector<mlir::Value> staging; // null where written directly
  int64_t channels, tileRows;
  bool streamsAny = false;
};

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_LOOPS_STREAMING_H
