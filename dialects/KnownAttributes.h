//===- KnownAttributes.h - no attribute is ignored --------------*- C++ -*-===//
#ifndef GC_DIALECTS_KNOWNATTRIBUTES_H
#define GC_DIALECTS_KNOWNATTRIBUTES_H

#include "mlir/IR/OpDefinition.h"

namespace gc {

/// An error where `op` carries an attribute without a dialect's prefix that it does not have.
llvm::LogicalResult verifyKnownAttributes(mlir::Operation *op);

/// Trait of all ops of the dialect: a misspelt attribute, or one of another framework, is an error.
template <typename ConcreteOp>
struct KnownAttributes : mlir::OpTrait::TraitBase<ConcreteOp, KnownAttributes> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyKnownAttributes(op); }
};

} // namespace gc

#endif
