//===- WorkText.cpp - what an op does, as a key ---------------------------===//
#include "compiler/target/WorkText.h"
#include "dialects/Gc.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace gc {

static void printType(raw_ostream &out, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped) {
    out << type;
    return;
  }
  for (int64_t size : shaped.getShape())
    out << size << 'x';
  out << shaped.getElementType();
}

static void printTypes(raw_ostream &out, TypeRange types) {
  llvm::interleave(
      types, out, [&](Type type) { printType(out, type); }, ",");
}

// Passes leave notes of their own at ops (`gc.…`); names and constants change no time.
static bool changesTime(NamedAttribute attribute) {
  return !attribute.getName().strref().starts_with("gc.") &&
         !isa<SymbolRefAttr, StringAttr, FloatAttr>(attribute.getValue());
}

static void printDetails(raw_ostream &out, Operation *op) {
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (changesTime(attribute))
      out << attribute.getName().strref() << '=' << attribute.getValue() << ' ';
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      out << inner.getName() << ' ';
      printTypes(out, inner.getOperandTypes());
      out << ' ';
      printDetails(out, &inner);
    }
}

std::string workText(Operation *op) {
  std::string text, details;
  llvm::raw_string_ostream out(text), detailsOut(details);
  out << op->getName().stripDialect() << ' ';
  printTypes(out, op->getOperandTypes());
  out << "->";
  printTypes(out, op->getResultTypes());
  // Which variables an update changes makes no difference, how many does.
  if (auto update = dyn_cast<UpdateOpInterface>(op))
    out << ' ' << update.getVariables().size() << "v";
  printDetails(detailsOut, op);
  out << llvm::formatv(" #{0:x-8}", static_cast<uint32_t>(llvm::xxh3_64bits(details)));
  return text;
}

} // namespace gc
