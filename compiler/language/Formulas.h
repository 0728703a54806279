//===- Formulas.h - Formulas of ops that every target computes alike ------===//
#ifndef GC_COMPILER_LANGUAGE_FORMULAS_H
#define GC_COMPILER_LANGUAGE_FORMULAS_H

#include "compiler/language/KernelBuilder.h"
#include "compiler/language/OpUses.h"
#include "dialects/Gc.h"

namespace gc::kernels {

/// The buffers of an update: the gradient if there is one, numbers, then the variables.
struct UpdateUses {
  UpdateUses(UpdateOpInterface op, const OpUses &buffers);
  int64_t elements; // of the gradient and of each variable
  llvm::SmallVector<BufferUse> uses;
  unsigned firstVariable; // index of the first variable in `uses`
};
/// The operands that are the same for every element.
llvm::SmallVector<mlir::Value> loadNumbers(KernelBuilder &k, const UpdateUses &update,
                                           llvm::ArrayRef<mlir::Value> buffers);

/// The buffers of running statistics: the batch's mean and deviation, then the variables.
llvm::SmallVector<BufferUse> runningStatsUses(RunningStatsOp op, const OpUses &buffers);
/// Updates the variables of channel `c` in these buffers.
void addRunningStats(KernelBuilder &k, RunningStatsOp op, llvm::ArrayRef<mlir::Value> buffers,
                     Expr c);

/// The variable that gc.advance changes; and the code that adds one to it.
BufferUse advanceUse(AdvanceOp op, const OpUses &buffers);
void addAdvance(KernelBuilder &k, AdvanceOp op, mlir::Value variable);

/// The buffers of gc.optimizer_coefficients: its operands, then its result; and the code that
/// writes it.
llvm::SmallVector<BufferUse> coefficientsUses(CoefficientsOp op, const OpUses &buffers);
void addCoefficients(KernelBuilder &k, CoefficientsOp op, llvm::ArrayRef<mlir::Value> buffers);

/// The buffers that finish a sum of squares: the result, and what it is added to if there is that;
/// and the code, given the sum of the op's own squares in f64.
llvm::SmallVector<BufferUse> squareSumUses(SquareSumOp op, const OpUses &buffers);
void finishSquareSum(KernelBuilder &k, Expr squares, llvm::ArrayRef<mlir::Value> buffers);

/// The trust ratio, given the sums of the squares of p and u in f64.
Expr lambRatio(KernelBuilder &k, Expr parameter, Expr direction);

/// An element of a tensor that is outer x rows x columns x inner.
struct FactoredPlace {
  Expr outer, row, column, inner;
};
/// The variances of Adafactor: the op's rows, and of a factored tensor its columns and means. One
/// that is not factored is a single row.
struct VarianceUses {
  /// `first` is the operand that holds the rows.
  template <typename Op>
  VarianceUses(Op op, unsigned first, const OpUses &buffers)
      : VarianceUses(op.getRows(), op.getColumns(), op.getEpsilon(), first, buffers) {}

  int64_t elements() const { return outer * rows * columns * inner; }
  FactoredPlace placeOf(KernelBuilder &k, Expr element) const;
  /// The variance of an element; `views` are those of `uses`.
  Expr at(KernelBuilder &k, llvm::ArrayRef<mlir::Value> views, const FactoredPlace &place) const;
  /// Elements that lie side by side along one dimension; and the variances of some of them.
  int64_t lineLength() const { return inner > 1 ? inner : columns; }
  Expr along(KernelBuilder &k, llvm::ArrayRef<mlir::Value> views, Expr line,
             const Columns &part) const;

  int64_t outer, rows, columns, inner;
  bool isFactored;
  double epsilon;
  llvm::SmallVector<BufferUse> uses; // as one row each

private:
  VarianceUses(mlir::Value rows, mlir::Value columns, const llvm::APFloat &epsilon, unsigned first,
               const OpUses &buffers);
  Expr variance(KernelBuilder &k, Expr row, Expr column, Expr mean) const;
};
/// What gc.adafactor has of other updates: gradient, coefficients, ratio and variables.
struct AdafactorUses {
  AdafactorUses(AdafactorOp op, int64_t elements, const OpUses &buffers);
  /// Updates the element, whose variance this is. `views` begin with those of `uses`.
  void add(KernelBuilder &k, AdafactorOp op, llvm::ArrayRef<mlir::Value> views, Expr element,
           Expr variance) const;
  llvm::SmallVector<BufferUse> uses;
};
/// The ratio, given the sums of the squares of p and u in f64.
Expr adafactorRatio(KernelBuilder &k, AdafactorRatioOp op, Expr parameter, Expr direction);

/// Whether a label names a class: padding has a negative label.
Expr isSample(KernelBuilder &k, Expr label, int64_t classes);
/// The class of a sample, a safe index even for padding.
Expr classOf(KernelBuilder &k, Expr label, int64_t classes);

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_FORMULAS_H
