//===- PlanType.cpp - element types as plans call them --------------------===//
#include "compiler/target/PlanType.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/plan/ElementType.h"

using namespace mlir;

namespace gc {

std::optional<plan::DType> planType(Type tensor) {
  std::string name;
  llvm::raw_string_ostream(name) << cast<ShapedType>(tensor).getElementType();
  const runtime::ElementType *element = runtime::elementTypeInIr(name);
  return element ? element->dtype : std::nullopt;
}

} // namespace gc
