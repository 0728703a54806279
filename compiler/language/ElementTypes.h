//===- ElementTypes.h - What buffers hold and what kernels compute in -----===//
//
// Buffers say which elements they hold. Loads bring them to the type that kernels compute in,
// stores bring results back to the buffer's (KernelBuilder), so that formulas never ask. Partial
// sums, kept on the stack, in shared memory or in a workspace, are of the accumulator's type.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_LANGUAGE_ELEMENTTYPES_H
#define GC_COMPILER_LANGUAGE_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace gc::kernels {

/// What sums and maxima are carried in.
inline mlir::Type accumulatorType(mlir::MLIRContext *context) {
  return mlir::Float32Type::get(context);
}

/// What an element is computed in: a float narrower than the accumulator in the accumulator's type,
/// everything else in its own.
inline mlir::Type computeType(mlir::Type element) {
  mlir::Type accumulator = accumulatorType(element.getContext());
  bool isNarrow = mlir::isa<mlir::FloatType>(element) &&
                  element.getIntOrFloatBitWidth() < accumulator.getIntOrFloatBitWidth();
  return isNarrow ? accumulator : element;
}

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_ELEMENTTYPES_H
