//===- Families.h - the interpreter's op families ---------------*- C++ -*-===//
#ifndef GC_TEST_REFERENCE_FAMILIES_H
#define GC_TEST_REFERENCE_FAMILIES_H

#include "dialects/Gc.h"
#include "test/reference/Tensor.h"

namespace gc::reference {

/// Each computes `results` (zeros of the result types) of an op of its family and returns true, or
/// returns false for an op of another family.
using Operands = llvm::ArrayRef<Tensor>;
using Results = llvm::MutableArrayRef<Tensor>;
bool evaluateElementwise(mlir::Operation *op, Operands x, Results y);
bool evaluateLinear(mlir::Operation *op, Operands x, Results y);
bool evaluateNorm(mlir::Operation *op, Operands x, Results y);
bool evaluatePool(mlir::Operation *op, Operands x, Results y);
bool evaluateAttention(mlir::Operation *op, Operands x, Results y);
bool evaluateShape(mlir::Operation *op, Operands x, Results y);
bool evaluateLoss(mlir::Operation *op, Operands x, Results y);

inline double number(const llvm::APFloat &value) { return value.convertToFloat(); }

} // namespace gc::reference

#endif
