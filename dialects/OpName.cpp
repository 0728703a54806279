//===- OpName.cpp - what people call an op --------------------------------===//
#include "dialects/OpName.h"
#include "dialects/Gc.h"

using namespace mlir;

std::string gc::displayName(Operation *op) {
  if (auto wrapper = dyn_cast<AccumulateProductOp>(op))
    op = wrapper.getProduct();
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str() + ":";
    return WalkResult::interrupt();
  });
  return name + op->getName().stripDialect().str();
}
