//===- Linear.cpp - convolution and matrix products -----------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

static SmallVector<int64_t> leadingDims(Value value) {
  return SmallVector<int64_t>(tensorType(value).getShape().drop_back());
}

static LogicalResult requireRows(std::optional<Location> loc, Value value) {
  if (tensorType(value).getRank() == 0)
    return emitOptionalError(loc, "operands need a last dimension, got ", value.getType());
  // Leading dimensions become one.
  if (!boundedProduct(leadingDims(value), kLargestDimension))
    return emitOptionalError(loc, value.getType(), " has more than ", kLargestDimension, " rows");
  return success();
}

// The output shape of a convolution, or failure with a message.
static FailureOr<SmallVector<int64_t>> convShape(std::optional<Location> loc,
                                                 ArrayRef<int64_t> input, ArrayRef<int64_t> filter,
                                                 ArrayRef<int64_t> strides,
                                                 ArrayRef<int64_t> padding) {
  if (!isPair(strides, 1) || !isPair(padding, 0)) {
    (void)emitOptionalError(loc, "strides must be two positive numbers and padding two "
                                 "non-negative ones");
    return failure();
  }
  if (input[3] != filter[3]) {
    (void)emitOptionalError(loc, "the input has ", input[3], " channels, but the filter takes ",
                            filter[3]);
    return failure();
  }
  int64_t h = slidingCount(input[1], filter[1], strides[0], padding[0]);
  int64_t w = slidingCount(input[2], filter[2], strides[1], padding[1]);
  if (h < 1 || w < 1) {
    (void)emitOptionalError(loc, "a ", filter[1], "x", filter[2], " filter does not fit a ",
                            input[1], "x", input[2], " image with padding ", padding[0], ", ",
                            padding[1]);
    return failure();
  }
  return SmallVector<int64_t>{input[0], h, w, filter[0]};
}

//===----------------------------------------------------------------------===//
// conv2d
//===----------------------------------------------------------------------===//

void Conv2dOp::build(OpBuilder &builder, OperationState &state, Value input, Value filter,
                     Value bias, ArrayRef<int64_t> strides, ArrayRef<int64_t> padding) {
  build(builder, state, input, filter, bias, Value(), builder.getDenseI64ArrayAttr(strides),
        builder.getDenseI64ArrayAttr(padding),
        ActivationAttr::get(builder.getContext(), Activation::None));
}

LogicalResult Conv2dOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto shape = convShape(loc, tensorType(adaptor.getInput()).getShape(),
                         tensorType(adaptor.getFilter()).getShape(), adaptor.getStrides(),
                         adaptor.getPadding());
  if (failed(shape))
    return failure();
  types.push_back(withShape(adaptor.getInput(), *shape));
  return success();
}

LogicalResult Conv2dOp::verify() {
  if (getBias() && failed(verifyChannel(*this, getOutput(), getBias(), "bias")))
    return failure();
  if (getResidual())
    return verifySame(*this, getOutput().getType(), getResidual().getType(), "residual");
  return success();
}

// Two operations for each pair of a filter element and an output pixel.
static double convFlops(Type output, Type filter) {
  auto shape = cast<ShapedType>(filter).getShape();
  return 2.0 * elementCount(output) * shape[1] * shape[2] * shape[3];
}
double Conv2dOp::getFlops() { return convFlops(getOutput().getType(), getFilter().getType()); }
double Conv2dGradInputOp::getFlops() {
  return convFlops(getGradient().getType(), getFilter().getType());
}
double Conv2dGradFilterOp::getFlops() {
  return convFlops(getGradient().getType(), getFilterGradient().getType());
}

static LogicalResult verifyConvGradient(Operation *op, Type input, Type filter, Type gradient,
                                        ArrayRef<int64_t> strides, ArrayRef<int64_t> padding) {
  auto shape = convShape(op->getLoc(), cast<ShapedType>(input).getShape(),
                         cast<ShapedType>(filter).getShape(), strides, padding);
  if (failed(shape))
    return failure();
  return verifySame(op, RankedTensorType::get(*shape, cast<ShapedType>(input).getElementType()),
                    gradient, "gradient");
}
LogicalResult Conv2dGradInputOp::verify() {
  return verifyConvGradient(*this, getInputGradient().getType(), getFilter().getType(),
                            getGradient().getType(), getStrides(), getPadding());
}
LogicalResult Conv2dGradFilterOp::verify() {
  if (getBiasGradient() &&
      failed(verifyChannel(*this, getGradient(), getBiasGradient(), "bias gradient")))
    return failure();
  return verifyConvGradient(*this, getInput().getType(), getFilterGradient().getType(),
                            getGradient().getType(), getStrides(), getPadding());
}

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

void LinearOp::build(OpBuilder &builder, OperationState &state, Value input, Value weight,
                     Value bias) {
  build(builder, state, input, weight, bias, Value(),
        ActivationAttr::get(builder.getContext(), Activation::None));
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput()), weight = tensorType(adaptor.getWeight());
  if (failed(requireRows(loc, adaptor.getInput())))
    return failure();
  if (input.getShape().back() != weight.getDimSize(1))
    return emitOptionalError(loc, "the rows of ", input, " do not fit the weight ", weight);
  auto shape = leadingDims(adaptor.getInput());
  shape.push_back(weight.getDimSize(0));
  types.push_back(withShape(adaptor.getInput(), shape));
  return success();
}
LogicalResult LinearOp::verify() {
  if (getBias() && failed(verifyChannel(*this, getOutput(), getBias(), "bias")))
    return failure();
  if (getResidual())
    return verifySame(*this, getOutput().getType(), getResidual().getType(), "residual");
  return success();
}
double LinearOp::getFlops() {
  return 2.0 * elementCount(getInput().getType()) * tensorType(getWeight()).getDimSize(0);
}

LogicalResult LinearGradInputOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(requireRows(loc, adaptor.getGradient())))
    return failure();
  auto shape = leadingDims(adaptor.getGradient());
  shape.push_back(tensorType(adaptor.getWeight()).getDimSize(1));
  types.push_back(withShape(adaptor.getGradient(), shape));
  return success();
}
LogicalResult LinearGradInputOp::verify() {
  if (failed(requireRows(getLoc(), getGradient())))
    return failure();
  if (lastDim(getGradient()) != tensorType(getWeight()).getDimSize(0))
    return emitOpError() << "the rows of " << getGradient().getType() << " do not fit the weight "
                         << getWeight().getType();
  return success();
}
double LinearGradInputOp::getFlops() {
  return 2.0 * elementCount(getGradient().getType()) * tensorType(getWeight()).getDimSize(1);
}

LogicalResult LinearGradWeightOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(requireRows(loc, adaptor.getGradient())) ||
      failed(requireRows(loc, adaptor.getInput())))
    return failure();
  types.push_back(withShape(adaptor.getGradient(),
                            {lastDim(adaptor.getGradient()), lastDim(adaptor.getInput())}));
  return success();
}
LogicalResult LinearGradWeightOp::verify() {
  if (failed(requireRows(getLoc(), getInput())) || failed(requireRows(getLoc(), getGradient())))
    return failure();
  if (leadingDims(getInput()) != leadingDims(getGradient()))
    return emitOpError() << "input " << getInput().getType() << " and gradient "
                         << getGradient().getType() << " must have the same rows";
  return success();
}
double LinearGradWeightOp::getFlops() {
  return 2.0 * elementCount(getInput().getType()) * lastDim(getGradient());
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto lhs = tensorType(adaptor.getLhs()).getShape(), rhs = tensorType(adaptor.getRhs()).getShape();
  if (lhs.size() < 2 || lhs.size() != rhs.size() || lhs.drop_back(2) != rhs.drop_back(2))
    return emitOptionalError(loc, "operands must have rank 2 or more and equal leading dimensions");
  if (failed(requireRows(loc, adaptor.getLhs())))
    return failure();
  size_t rank = lhs.size();
  bool ta = adaptor.getTransposeLhs(), tb = adaptor.getTransposeRhs();
  int64_t m = lhs[rank - (ta ? 1 : 2)], k = lhs[rank - (ta ? 2 : 1)];
  int64_t k2 = rhs[rank - (tb ? 1 : 2)], n = rhs[rank - (tb ? 2 : 1)];
  if (k != k2)
    return emitOptionalError(loc, "inner dimensions differ: ", k, " and ", k2);
  SmallVector<int64_t> shape(lhs.drop_back(2));
  shape.append({m, n});
  types.push_back(withShape(adaptor.getLhs(), shape));
  return success();
}
double MatmulOp::getFlops() {
  auto lhs = tensorType(getLhs()).getShape();
  int64_t k = lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)];
  return 2.0 * elementCount(getOutput().getType()) * k;
}

} // namespace gc
