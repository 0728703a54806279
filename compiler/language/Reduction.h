//===- Reduction.h - Reductions over dimensions, brought to a simple form -===//
//
// The simple form of a reduction: neighbouring dimensions of one kind (kept or reduced) are merged,
// and dimensions of size 1 are left out. Kept and reduced dimensions then alternate.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_LANGUAGE_REDUCTION_H
#define GC_COMPILER_LANGUAGE_REDUCTION_H

#include "compiler/language/KernelBuilder.h"

namespace gc::kernels {

struct Reduction {
  Reduction(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dimensions);

  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<bool> isReduced;
  bool isMaximum = false;
  bool ofSquares = false; // of the elements
  double scale = 1;

  int64_t rank() const { return sizes.size(); }
  bool innerIsReduced() const { return isReduced.back(); }
  /// Makes the innermost dimension a kept one: where it is reduced, a single column is put behind.
  void endWithColumns();
  /// Columns of the result: its innermost dimension, where that is the input's.
  int64_t columns() const { return innerIsReduced() ? 1 : sizes.back(); }
  /// Elements of the result apart from columns.
  int64_t kept() const;
  /// Elements that become one.
  int64_t reduced() const;
  unsigned reducedDimensions() const { return llvm::count(isReduced, true); }

  /// What is reduced where the input has `element`.
  Expr taken(Expr element) const { return ofSquares ? element * element : element; }
  Expr combine(KernelBuilder &k, Expr total, Expr part) const;
  /// The value that a reduction starts from: 0 for sums, minus infinity for maxima.
  double neutral() const;
};

/// All dimensions but the first and the last.
llvm::SmallVector<int64_t> middleDimensions(mlir::Value tensor);

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_REDUCTION_H
