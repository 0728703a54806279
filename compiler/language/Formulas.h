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

/// Writes the optimizer's coefficients of a step, given (seed, step).
void addCoefficients(KernelBuilder &k, CoefficientsOp op, mlir::Value step, mlir::Value result);

/// Whether a label names a class: padding has a negative label.
Expr isSample(KernelBuilder &k, Expr label, int64_t classes);
/// The class of a sample, a safe index even for padding.
Expr classOf(KernelBuilder &k, Expr label, int64_t classes);

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_FORMULAS_H
