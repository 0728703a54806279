//===- Limits.cpp - which sizes, numbers and names gc handles -------------===//
#include "dialects/Limits.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace gc {

std::optional<int64_t> boundedProduct(ArrayRef<int64_t> factors, int64_t most) {
  int64_t product = 1;
  for (int64_t factor : factors) {
    if (factor < 1 || product > most / factor)
      return std::nullopt;
    product *= factor;
  }
  return product;
}

bool isWithinLimits(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getRank() > kLargestRank || tensor.getEncoding() ||
      !tensor.getElementType().isIntOrFloat() ||
      llvm::any_of(tensor.getShape(), [](int64_t size) { return size > kLargestDimension; }))
    return false;
  int64_t bytes = std::max<int64_t>(1, tensor.getElementTypeBitWidth() / 8);
  return boundedProduct(tensor.getShape(), kLargestBytes / bytes).has_value();
}

bool isNumber(Attribute attribute, llvm::function_ref<bool(double)> condition) {
  APFloat value = cast<FloatAttr>(attribute).getValue();
  return value.isFinite() && condition(cast<FloatAttr>(attribute).getValueAsDouble());
}

std::string faultOfName(StringRef name) {
  if (name.empty())
    return "the name is empty";
  if (!llvm::all_of(name, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; }))
    return "the name has a control character";
  // A key of that name holds other things in a weight file.
  if (name == "__metadata__")
    return "the name '__metadata__' is reserved in weight files";
  return "";
}

} // namespace gc
