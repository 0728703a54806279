//===- Pool.cpp - pooling -------------------------------------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

// Windows along one dimension. With `ceilMode` there is one more where those that fit leave a rest,
// if it begins within the image or the padding before it.
static int64_t pooledSize(int64_t size, int64_t kernel, int64_t stride, int64_t padding,
                          bool ceilMode) {
  int64_t count = slidingCount(size, kernel, stride, padding);
  if (!ceilMode || count < 1)
    return count;
  bool leavesRest = (size + 2 * padding - kernel) % stride != 0;
  return leavesRest && count * stride < size + padding ? count + 1 : count;
}

static FailureOr<SmallVector<int64_t>>
pooledShape(std::optional<Location> loc, ArrayRef<int64_t> input, ArrayRef<int64_t> kernel,
            ArrayRef<int64_t> strides, ArrayRef<int64_t> padding, bool ceilMode) {
  if (!isPair(kernel, 1) || !isPair(strides, 1) || !isPair(padding, 0)) {
    (void)emitOptionalError(loc, "kernel and strides must be two positive numbers each and "
                                 "padding two non-negative ones");
    return failure();
  }
  int64_t h = pooledSize(input[1], kernel[0], strides[0], padding[0], ceilMode);
  int64_t w = pooledSize(input[2], kernel[1], strides[1], padding[1], ceilMode);
  if (h < 1 || w < 1) {
    (void)emitOptionalError(loc, "a ", kernel[0], "x", kernel[1], " window does not fit a ",
                            input[1], "x", input[2], " image");
    return failure();
  }
  return SmallVector<int64_t>{input[0], h, w, input[3]};
}

template <typename Adaptor>
static FailureOr<SmallVector<int64_t>> pooledShape(std::optional<Location> loc, Adaptor a) {
  return pooledShape(loc, tensorType(a.getInput()).getShape(), a.getKernel(), a.getStrides(),
                     a.getPadding(), a.getCeilMode());
}

// A window of padding alone would have no largest element; an index must fit a byte.
template <typename Op> static LogicalResult verifyWindow(Op op) {
  auto kernel = op.getKernel(), padding = op.getPadding();
  if (failed(verifyPair(op, kernel, "kernel", 1)) ||
      failed(verifyPair(op, op.getStrides(), "strides", 1)) ||
      failed(verifyPair(op, padding, "padding", 0)))
    return failure();
  if (padding[0] * 2 > kernel[0] || padding[1] * 2 > kernel[1])
    return op.emitOpError("padding must be at most half the kernel");
  return success();
}
template <typename Op> static LogicalResult verifyPoolGradient(Op op) {
  auto shape = pooledShape(op.getLoc(), tensorType(op.getInputGradient()).getShape(),
                           op.getKernel(), op.getStrides(), op.getPadding(), op.getCeilMode());
  if (failed(shape) || failed(verifyWindow(op)))
    return failure();
  return verifySame(op, withShape(op.getGradient(), *shape), op.getGradient().getType(),
                    "gradient");
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                          Adaptor a, SmallVectorImpl<Type> &types) {
  auto shape = pooledShape(loc, a);
  if (failed(shape))
    return failure();
  types.push_back(withShape(a.getInput(), *shape));
  types.push_back(RankedTensorType::get(*shape, IntegerType::get(context, 8)));
  return success();
}
LogicalResult MaxPoolOp::verify() {
  if (failed(verifyWindow(*this)))
    return failure();
  if (getKernel()[0] > 127 || getKernel()[1] > 127 || getKernel()[0] * getKernel()[1] > 127)
    return emitOpError("a window has at most 127 elements, so that an index fits a byte");
  return success();
}
LogicalResult MaxPoolGradOp::verify() {
  if (tensorType(getIndex()).getShape() != tensorType(getGradient()).getShape())
    return emitOpError() << "index " << getIndex().getType() << " must have the gradient's shape "
                         << getGradient().getType();
  return verifyPoolGradient(*this);
}
LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  auto shape = pooledShape(loc, a);
  if (failed(shape))
    return failure();
  types.push_back(withShape(a.getInput(), *shape));
  return success();
}
LogicalResult AvgPoolOp::verify() { return verifyWindow(*this); }
LogicalResult AvgPoolGradOp::verify() { return verifyPoolGradient(*this); }

LogicalResult GlobalAvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                Adaptor a, SmallVectorImpl<Type> &types) {
  auto input = tensorType(a.getInput());
  if (input.getRank() < 3)
    return emitOptionalError(loc, "the input needs dimensions between batch and channels, got ",
                             input);
  types.push_back(sumsOf(a.getInput(), {input.getDimSize(0), input.getShape().back()}));
  return success();
}
LogicalResult GlobalAvgPoolGradOp::verify() {
  auto input = tensorType(getInputGradient()), gradient = tensorType(getGradient());
  if (input.getRank() < 3 || input.getDimSize(0) != gradient.getDimSize(0) ||
      input.getShape().back() != gradient.getDimSize(1))
    return emitOpError() << "a gradient " << gradient << " does not spread over " << input;
  return success();
}

} // namespace gc
