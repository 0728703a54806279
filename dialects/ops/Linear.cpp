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

namespace {
/// How a filter slides: what a convolution shares with its gradients.
struct Sliding {
  ArrayRef<int64_t> strides, padding, dilation;
  int64_t groups;
  template <typename Op> static Sliding of(Op op) {
    return {op.getStrides(), op.getPadding(), op.getDilation(),
            static_cast<int64_t>(op.getGroups())};
  }
};
} // namespace

// The output shape of a convolution, or failure with a message.
static FailureOr<SmallVector<int64_t>> convShape(std::optional<Location> loc,
                                                 ArrayRef<int64_t> input, ArrayRef<int64_t> filter,
                                                 const Sliding &s) {
  if (!isPair(s.strides, 1) || !isPair(s.padding, 0) || !isPair(s.dilation, 1)) {
    (void)emitOptionalError(loc,
                            "strides and dilation must be two positive numbers each and padding "
                            "two non-negative ones");
    return failure();
  }
  if (s.groups < 1 || input[3] % s.groups != 0 || filter[0] % s.groups != 0) {
    (void)emitOptionalError(loc, s.groups, " groups do not divide ", input[3], " input and ",
                            filter[0], " output channels");
    return failure();
  }
  if (input[3] / s.groups != filter[3]) {
    if (s.groups == 1)
      (void)emitOptionalError(loc, "the input has ", input[3], " channels, but the filter takes ",
                              filter[3]);
    else
      (void)emitOptionalError(loc, "the input has ", input[3], " channels in ", s.groups,
                              " groups, but the filter takes ", filter[3], " for each");
    return failure();
  }
  // Pixels from the first to the last tap.
  int64_t height = (filter[1] - 1) * s.dilation[0] + 1, width = (filter[2] - 1) * s.dilation[1] + 1;
  int64_t h = slidingCount(input[1], height, s.strides[0], s.padding[0]);
  int64_t w = slidingCount(input[2], width, s.strides[1], s.padding[1]);
  if (h < 1 || w < 1) {
    (void)emitOptionalError(loc, "a ", height, "x", width, " filter does not fit a ", input[1], "x",
                            input[2], " image with padding ", s.padding[0], ", ", s.padding[1]);
    return failure();
  }
  return SmallVector<int64_t>{input[0], h, w, filter[0]};
}

//===----------------------------------------------------------------------===//
// conv2d
//===----------------------------------------------------------------------===//

void Conv2dOp::build(OpBuilder &builder, OperationState &state, Value input, Value filter,
                     Value bias, ArrayRef<int64_t> strides, ArrayRef<int64_t> padding,
                     ArrayRef<int64_t> dilation, int64_t groups) {
  build(builder, state, input, filter, bias, Value(), builder.getDenseI64ArrayAttr(strides),
        builder.getDenseI64ArrayAttr(padding), builder.getDenseI64ArrayAttr(dilation),
        builder.getI64IntegerAttr(groups),
        ActivationAttr::get(builder.getContext(), Activation::None));
}

LogicalResult Conv2dOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto shape = convShape(loc, tensorType(adaptor.getInput()).getShape(),
                         tensorType(adaptor.getFilter()).getShape(), Sliding::of(adaptor));
  if (failed(shape))
    return failure();
  types.push_back(withShape(adaptor.getInput(), *shape));
  return success();
}

LogicalResult Conv2dOp::verify() {
  if (failed(verifyFactors(*this, getInput(), getFilter())))
    return failure();
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
  auto filter = cast<ShapedType>(op.getFilterGradient().getType()).getShape();
  bool oneTap = filter[1] == 1 && filter[2] == 1;
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

static LogicalResult verifyConvGradient(Operation *op, Value input, Value filter, Value gradient,
                                        const Sliding &sliding) {
  auto shape =
      convShape(op->getLoc(), tensorType(input).getShape(), tensorType(filter).getShape(), sliding);
  if (failed(shape) || failed(verifyFactors(op, op->getOperand(0), op->getOperand(1))))
    return failure();
  return verifyShape(op, *shape, gradient, "gradient");
}
LogicalResult Conv2dGradInputOp::verify() {
  return verifyConvGradient(*this, getInputGradient(), getFilter(), getGradient(),
                            Sliding::of(*this));
}
LogicalResult Conv2dGradFilterOp::verify() {
  if (getBiasGradient() &&
      failed(verifyChannel(*this, getGradient(), getBiasGradient(), "bias gradient")))
    return failure();
  return verifyConvGradient(*this, getInput(), getFilterGradient(), getGradient(),
                            Sliding::of(*this));
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
  if (failed(verifyFactors(*this, getInput(), getWeight())))
    return failure();
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
  return verifyFactors(*this, getGradient(), getWeight());
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
  return verifyFactors(*this, getInput(), getGradient());
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
LogicalResult MatmulOp::verify() { return verifyFactors(*this, getLhs(), getRhs()); }
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
