//===- ShapeClass.h - products that are alike -------------------*- C++ -*-===//
#ifndef GC_COMPILER_TARGET_SHAPECLASS_H
#define GC_COMPILER_TARGET_SHAPECLASS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace gc {

/// "3x3 convolution, data": products of one class reach about the same share of a machine's peak,
/// so that a rate measured for some of them says something of the others. Empty where the op is no
/// product.
std::string shapeClassOf(mlir::Operation *op);

} // namespace gc

#endif // GC_COMPILER_TARGET_SHAPECLASS_H
