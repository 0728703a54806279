//===- FactoredVariance.h - what Adafactor keeps of squares -----*- C++ -*-===//
#ifndef GC_PASSES_FACTOREDVARIANCE_H
#define GC_PASSES_FACTOREDVARIANCE_H

#include "passes/StateVariables.h"

namespace gc {

/// A parameter in memory, where Adafactor factors `rows` and `columns`: the last two axes of its
/// shape in the weight file, in the order in which they lie inside.
struct FactoredShape {
  int64_t outer = 1, rows = 1, columns = 1, inner = 1;
  bool isFactored = true; // vectors are not: all their elements are rows
};
/// Fails, with an error at the parameter, where other axes lie between these two.
llvm::FailureOr<FactoredShape> factoredShapeOf(ParameterOp parameter);

/// Adds the averages of squares of the rows and columns of `gradient` as states, moves them at
/// `builder` and returns the variance as gc.adafactor takes it: rows, columns and means, or, of a
/// vector, rows alone.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
addFactoredVariance(mlir::OpBuilder &builder, StateVariables &variables, ParameterOp parameter,
                    mlir::Value gradient, mlir::Value coefficients,
                    std::optional<double> clipValue);

} // namespace gc

#endif
