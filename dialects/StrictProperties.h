//===- StrictProperties.h - no property is ignored --------------*- C++ -*-===//
//
// In generic form an op's own attributes stand in `<{...}>`. What MLIR generates to read them takes
// those that it knows and says nothing of the others, so ops are registered with a look at the
// names before.
//
//===----------------------------------------------------------------------===//
#ifndef GC_DIALECTS_STRICTPROPERTIES_H
#define GC_DIALECTS_STRICTPROPERTIES_H

#include "mlir/IR/OpDefinition.h"

namespace gc {

/// An error that names the first entry of the dictionary `properties` that is not in `known`.
llvm::LogicalResult verifyPropertyNames(mlir::Attribute properties,
                                        llvm::ArrayRef<llvm::StringRef> known,
                                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// `Op` for registration: the same type to MLIR, with a reader of properties that ignores none.
template <typename Op> struct Strict : Op {
  using Op::Op;
  template <typename Properties>
  static llvm::LogicalResult
  setPropertiesFromAttr(Properties &properties, mlir::Attribute attribute,
                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
    if (failed(verifyPropertyNames(attribute, Op::getAttributeNames(), emitError)))
      return mlir::failure();
    return Op::setPropertiesFromAttr(properties, attribute, emitError);
  }
};

} // namespace gc

namespace mlir::detail {
template <typename Op> class TypeIDResolver<gc::Strict<Op>> {
public:
  static TypeID resolveTypeID() { return TypeID::get<Op>(); }
};
} // namespace mlir::detail

#endif
