//===- Shape.cpp - derivatives of moving and reducing ---------------------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc {

// y = x in another shape:  dx = dy in x's shape
LogicalResult ReshapeOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                      const llvm::SmallBitVector &needed,
                                      adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = adjoint::reshapeTo(builder, getLoc(), resultGradients[0], getInput().getType());
  return success();
}
SavedValues ReshapeOp::getSavedValues() { return {}; }

// y = x permuted by p:  dx = dy permuted by p's inverse
LogicalResult TransposeOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = to;
  gradients[0] = TransposeOp::create(builder, getLoc(), getInput().getType(), resultGradients[0],
                                     builder.getDenseI64ArrayAttr(inverse));
  return success();
}
SavedValues TransposeOp::getSavedValues() { return {}; }

// y = x_0, x_1, ... side by side:  dx_i = the part of dy where x_i lies
LogicalResult ConcatOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                     const llvm::SmallBitVector &needed,
                                     adjoint::Gradients &gradients) {
  int64_t offset = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(getAxis());
    if (needed[i])
      gradients[i] = adjoint::slice(builder, getLoc(), resultGradients[0], getAxis(), offset, size);
    offset += size;
  }
  return success();
}
SavedValues ConcatOp::getSavedValues() { return {}; }

// y = x[offset : offset + size]:  dx = dy with zeros around
LogicalResult SliceOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                    const llvm::SmallBitVector &needed,
                                    adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  auto input = cast<RankedTensorType>(getInput().getType());
  int64_t high = input.getDimSize(getAxis()) - getOffset() - getSize();
  gradients[0] = PadOp::create(builder, getLoc(), input, resultGradients[0], getAxisAttr(),
                               getOffsetAttr(), builder.getI64IntegerAttr(high));
  return success();
}
SavedValues SliceOp::getSavedValues() { return {}; }

// y = x with zeros around:  dx = dy without them
LogicalResult PadOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                  const llvm::SmallBitVector &needed,
                                  adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        adjoint::slice(builder, getLoc(), resultGradients[0], getAxis(), getLow(),
                       cast<RankedTensorType>(getInput().getType()).getDimSize(getAxis()));
  return success();
}
SavedValues PadOp::getSavedValues() { return {}; }

// y[(i + shift) mod n] = x[i]:  dx[i] = dy[(i + shift) mod n], a shift by n - shift
LogicalResult RollOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  int64_t size = cast<RankedTensorType>(getType()).getDimSize(getAxis());
  gradients[0] = RollOp::create(builder, getLoc(), getType(), resultGradients[0], getAxisAttr(),
                                builder.getI64IntegerAttr(size - static_cast<int64_t>(getShift())));
  return success();
}
SavedValues RollOp::getSavedValues() { return {}; }

// y[n - 1 - i] = x[i]:  dx[i] = dy[n - 1 - i]
LogicalResult FlipOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                   const llvm::SmallBitVector &needed,
                                   adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = FlipOp::create(builder, getLoc(), getType(), resultGradients[0], getAxisAttr());
  return success();
}
SavedValues FlipOp::getSavedValues() { return {}; }

// A gradient of a reduction's result repeated over what was reduced.
static Value spread(OpBuilder &builder, Location loc, Value gradient, Type inputType,
                    ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0, e = cast<RankedTensorType>(inputType).getRank(); d < e; ++d)
    if (!llvm::is_contained(reduced, d))
      kept.push_back(d);
  return BroadcastOp::create(builder, loc, inputType, gradient, builder.getDenseI64ArrayAttr(kept));
}

// y = sum of x over dimensions:  dx = dy repeated over them
LogicalResult ReduceSumOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        spread(builder, getLoc(), resultGradients[0], getInput().getType(), getDimensions());
  return success();
}
SavedValues ReduceSumOp::getSavedValues() { return {}; }

// y = sum of x over dimensions of n elements / n:  dx = dy / n repeated over them
LogicalResult ReduceMeanOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                         const llvm::SmallBitVector &needed,
                                         adjoint::Gradients &gradients) {
  if (!needed[0])
    return success();
  double count = static_cast<double>(elementCount(getInput().getType())) / elementCount(getType());
  Value scaled = adjoint::scale(builder, getLoc(), resultGradients[0], 1.0 / count);
  gradients[0] = spread(builder, getLoc(), scaled, getInput().getType(), getDimensions());
  return success();
}
SavedValues ReduceMeanOp::getSavedValues() { return {}; }

// y = max of x over dimensions:  dx = dy / k where x equals y, k such elements; else 0
LogicalResult ReduceMaxOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] = ReduceMaxGradOp::create(builder, getLoc(), getInput().getType(), getInput(),
                                           getOutput(), resultGradients[0], getDimensionsAttr());
  return success();
}
SavedValues ReduceMaxOp::getSavedValues() { return {{0}, {0}}; }

} // namespace gc
