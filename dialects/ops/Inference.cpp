//===- Inference.cpp - pieces of shape inference --------------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

LogicalResult verifyChannel(Operation *op, Value full, Value channel, StringRef name) {
  auto fullType = tensorType(full), channelType = tensorType(channel);
  if (fullType.getRank() == 0 || channelType.getRank() != 1 ||
      channelType.getDimSize(0) != fullType.getShape().back())
    return op->emitOpError() << name << " must have one element per channel of " << fullType
                             << ", got " << channelType;
  return success();
}

LogicalResult verifySame(Operation *op, Type expected, Type actual, StringRef name) {
  if (expected != actual)
    return op->emitOpError() << name << " must be " << expected << ", got " << actual;
  return success();
}

LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> expected, Value actual, StringRef name) {
  return verifySame(op, withShape(actual, expected), actual.getType(), name);
}

LogicalResult verifyFactors(Operation *op, Value a, Value b) {
  Type first = tensorType(a).getElementType(), second = tensorType(b).getElementType();
  if (first != second)
    return op->emitOpError() << "multiplies " << first << " by " << second
                             << "; bring both to one type with gc.cast";
  return success();
}

bool haveSameShapes(TypeRange a, TypeRange b) {
  return llvm::equal(a, b, [](Type one, Type other) {
    return cast<ShapedType>(one).getShape() == cast<ShapedType>(other).getShape();
  });
}

LogicalResult verifyPair(Operation *op, ArrayRef<int64_t> pair, StringRef name, int64_t least) {
  if (!isPair(pair, least))
    return op->emitOpError() << name << " must be two numbers of at least " << least
                             << " and at most " << kLargestDimension;
  return success();
}

LogicalResult verifyDimensions(Operation *op, ArrayRef<int64_t> dimensions, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank)
      return op->emitOpError() << "dimension " << dimension << " is out of range for rank " << rank;
    if (seen.test(dimension))
      return op->emitOpError() << "dimension " << dimension << " is named twice";
    seen.set(dimension);
  }
  return success();
}

} // namespace gc
