//===- OpName.cpp - what people call an op --------------------------------===//
#include "dialects/OpName.h"
#include "dialects/Gc.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

std::string gc::displayName(Operation *op) {
  if (auto wrapper = dyn_cast<AccumulateProductOp>(op))
    op = wrapper.getProduct();
  std::string kind = op->getName().stripDialect().str(), layer, line;
  op->getLoc()->walk([&](Location loc) {
    if (auto named = dyn_cast<NameLoc>(loc); named && layer.empty())
      layer = named.getName().str();
    if (auto file = dyn_cast<FileLineColLoc>(loc);
        file && !file.getFilename().empty() && line.empty())
      line = (llvm::sys::path::filename(file.getFilename()) + ":" + Twine(file.getLine())).str();
    return layer.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (!layer.empty())
    return layer + ":" + kind;
  return line.empty() ? kind : kind + "@" + line;
}

std::string gc::nameWithoutPlace(StringRef displayName) {
  StringRef line = displayName.rsplit(':').second;
  bool hasPlace = !line.empty() && llvm::all_of(line, llvm::isDigit); // no op is called so
  return (hasPlace ? displayName.split('@').first : displayName).str();
}
