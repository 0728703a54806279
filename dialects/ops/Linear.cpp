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

// Filters that have a stride and more than one tap take longer.
static WorkKind filterGradientKind(Conv2dGradFilterOp op) {
  bool oneTap = elementCount(op.getFilterGradient().getType()) ==
                lastDim(op.getInput()) * lastDim(op.getGradient());
  bool strided = llvm::any_of(op.getStrides(), [](int64_t stride) { return stride > 1; });
  return strided && !oneTap ? WorkKind::ConvWeightsStrided : WorkKind::ConvWeights;
}
WorkKind Conv2dOp::getWorkKind() { return WorkKind::ConvForward; }
WorkKind Conv2dGradInputOp::getWorkKind() { return WorkKind::ConvData; }
WorkKind Conv2dGradFilterOp::getWorkKind() { return filterGradientKind(*this); }

// Images are apart; a filter or bias made of the batch meets all of them.
Mixing Conv2dOp::getMixing(BatchDimensions isBatch) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    bool isImage = operand.get() == getInput() || operand.get() == getResidual();
    for (int64_t d = isImage ? 1 : 0; d < tensorType(operand.get()).getRank(); ++d)
      if (isBatch(operand.getOperandNumber(), d))
        return Mixing::Mixed;
  }
  return Mixing::None;
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

WorkKind LinearOp::getWorkKind() { return WorkKind::MatMul; }

// Rows are apart; what is summed over, and a weight or bias made of the batch, mixes them.
static Mixing mixingOfRows(Operation *op, ValueRange rows, BatchDimensions isBatch) {
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t rank = tensorType(operand.get()).getRank();
    bool isRows = llvm::is_contained(rows, operand.get());
    for (int64_t d = isRows ? rank - 1 : 0; d < rank; ++d)
      if (isBatch(operand.getOperandNumber(), d))
        return Mixing::Mixed;
  }
  return Mixing::None;
}
Mixing LinearOp::getMixing(BatchDimensions isBatch) {
  SmallVector<Value> rows{getInput()};
  if (getResidual())
    rows.push_back(getResidual());
  return mixingOfRows(*this, rows, isBatch);
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

WorkKind LinearGradInputOp::getWorkKind() { return WorkKind::MatMul; }
Mixing LinearGradInputOp::getMixing(BatchDimensions isBatch) {
  return mixingOfRows(*this, getGradient(), isBatch);
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

WorkKind LinearGradWeightOp::getWorkKind() { return WorkKind::MatMul; }

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

WorkKind MatmulOp::getWorkKind() { return WorkKind::MatMul; }

// Leading dimensions are apart, and so are rows or columns of the result, but where both are the
// batch's every sample meets all others.
Mixing MatmulOp::getMixing(BatchDimensions isBatch) {
  int64_t rank = tensorType(getLhs()).getRank();
  auto is = [&](unsigned operand, int64_t fromEnd) { return isBatch(operand, rank - fromEnd); };
  bool ta = getTransposeLhs(), tb = getTransposeRhs();
  bool summed = is(0, ta ? 2 : 1) || is(1, tb ? 1 : 2);
  bool rows = is(0, ta ? 1 : 2), columns = is(1, tb ? 2 : 1);
  return summed || (rows && columns) ? Mixing::Mixed : Mixing::None;
}

} // namespace gc
