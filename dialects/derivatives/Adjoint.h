//===- Adjoint.h - what the derivative rules share --------------*- C++ -*-===//
#ifndef GC_DIALECTS_DERIVATIVES_ADJOINT_H
#define GC_DIALECTS_DERIVATIVES_ADJOINT_H

#include "dialects/Gc.h"

namespace gc::adjoint {

/// The caller of a rule hands over `operandGradients` with one null entry per operand; a rule sets
/// the entries it has.
using Gradients = llvm::SmallVectorImpl<mlir::Value>;

/// Fails, with an error at `op`, when a gradient reaches any result but the first: means, inverse
/// deviations, log-sum-exps and indices are kept for adjoints and have none themselves.
llvm::LogicalResult onlyFirstResult(mlir::Operation *op, mlir::ValueRange resultGradients);

/// `value * factor`.
mlir::Value scale(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, double factor);

/// The sum of `value` over all dimensions but the last: the gradient of what was added to each row.
mlir::Value sumRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// `value` in another type of elements; itself where it has it.
mlir::Value castTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                   mlir::Type type);

/// The sum in f32 over `dimensions` (ascending), which disappear; `value` itself if there are none.
mlir::Value sumOver(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<int64_t> dimensions);

/// `value` in the shape of `type`; `value` itself if it has it.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                      mlir::Type type);

/// Elements [offset, offset + size) of `axis`.
mlir::Value slice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t axis,
                  int64_t offset, int64_t size);

} // namespace gc::adjoint

#endif
