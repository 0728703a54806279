//===- Shape.cpp - moving and reducing ------------------------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

LogicalResult ReshapeOp::verify() {
  if (elementCount(getInput().getType()) != elementCount(getOutput().getType()))
    return emitOpError() << getInput().getType() << " and " << getOutput().getType()
                         << " differ in elements";
  if (tensorType(getInput()).getElementType() != tensorType(getOutput()).getElementType())
    return emitOpError() << getInput().getType() << " and " << getOutput().getType()
                         << " are the same bytes and must have the same type of elements";
  return success();
}
bool ReshapeOp::canWriteOver(unsigned, unsigned) { return true; }
bool ReshapeOp::isView() { return true; }

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  auto shape = tensorType(a.getInput()).getShape();
  auto permutation = a.getPermutation();
  if (permutation.size() != shape.size())
    return emitOptionalError(loc, "permutation must name each of ", shape.size(), " dimensions");
  SmallVector<int64_t> result;
  for (int64_t d : permutation) {
    if (d < 0 || d >= static_cast<int64_t>(shape.size()))
      return emitOptionalError(loc, "dimension ", d, " is out of range");
    result.push_back(shape[d]);
  }
  types.push_back(withShape(a.getInput(), result));
  return success();
}
LogicalResult TransposeOp::verify() {
  return verifyDimensions(*this, getPermutation(), tensorType(getInput()).getRank());
}

static LogicalResult checkAxis(std::optional<Location> loc, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return emitOptionalError(loc, "axis ", axis, " is out of range for rank ", rank);
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                         SmallVectorImpl<Type> &types) {
  if (a.getInputs().empty())
    return emitOptionalError(loc, "needs at least one operand");
  SmallVector<int64_t> shape(tensorType(a.getInputs()[0]).getShape());
  int64_t axis = a.getAxis();
  if (failed(checkAxis(loc, axis, shape.size())))
    return failure();
  shape[axis] = 0;
  for (Value input : a.getInputs()) {
    if (tensorType(input).getRank() != static_cast<int64_t>(shape.size()))
      return emitOptionalError(loc, "operands must have the same rank");
    shape[axis] += tensorType(input).getDimSize(axis);
  }
  types.push_back(withShape(a.getInputs()[0], shape));
  return success();
}
LogicalResult ConcatOp::verify() {
  auto output = tensorType(getOutput()).getShape();
  for (Value input : getInputs()) {
    if (tensorType(input).getRank() != static_cast<int64_t>(output.size()))
      return emitOpError("operands and result must have the same rank");
    for (auto [d, size] : llvm::enumerate(tensorType(input).getShape()))
      if (static_cast<int64_t>(d) != static_cast<int64_t>(getAxis()) && size != output[d])
        return emitOpError() << "operand " << input.getType() << " does not fit "
                             << getOutput().getType() << " outside axis " << getAxis();
  }
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                        SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(tensorType(a.getInput()).getShape());
  int64_t axis = a.getAxis();
  if (failed(checkAxis(loc, axis, shape.size())))
    return failure();
  shape[axis] = a.getSize();
  types.push_back(withShape(a.getInput(), shape));
  return success();
}
LogicalResult SliceOp::verify() {
  if (failed(checkAxis(getLoc(), getAxis(), tensorType(getInput()).getRank())))
    return failure();
  int64_t extent = tensorType(getInput()).getDimSize(getAxis());
  int64_t offset = getOffset(), size = getSize();
  if (offset < 0 || size < 1 || size > extent || offset > extent - size)
    return emitOpError() << size << " elements from " << offset << " on are outside axis "
                         << getAxis() << " of " << getInput().getType();
  return success();
}

bool SliceOp::canWriteOver(unsigned, unsigned) { return isView(); }
// An input has several buffers in turn, and a variable is one for others to change: their rows are
// copied.
bool SliceOp::isView() {
  if (getAxis() != 0 || getViewOffset() % kBufferAlignment != 0 ||
      byteSize(getOutput().getType()) % kBufferAlignment != 0)
    return false;
  Operation *op = getInput().getDefiningOp();
  while (auto inPlace = dyn_cast_or_null<InPlaceOpInterface>(op)) {
    if (!inPlace.isView())
      break;
    op = op->getOperand(0).getDefiningOp();
  }
  return op && !isa<ReadOp>(op);
}
int64_t SliceOp::getViewOffset() {
  return byteSize(getInput().getType()) / tensorType(getInput()).getDimSize(0) *
         static_cast<int64_t>(getOffset());
}

LogicalResult RollOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(a.getInput().getType());
  return success();
}
LogicalResult RollOp::verify() {
  if (failed(checkAxis(getLoc(), getAxis(), tensorType(getInput()).getRank())))
    return failure();
  int64_t size = tensorType(getInput()).getDimSize(getAxis()), shift = getShift();
  if (shift < 1 || shift >= size)
    return emitOpError() << "shift must be between 1 and " << size - 1 << " along axis "
                         << getAxis() << " of " << getInput().getType() << ", got " << shift;
  return success();
}
LogicalResult FlipOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(a.getInput().getType());
  return success();
}
LogicalResult FlipOp::verify() {
  return checkAxis(getLoc(), getAxis(), tensorType(getInput()).getRank());
}
// Samples change places where they lie along the axis.
Mixing RollOp::getMixing(BatchDimensions isBatch) {
  return isBatch(0, getAxis()) ? Mixing::Mixed : Mixing::None;
}
Mixing FlipOp::getMixing(BatchDimensions isBatch) {
  return isBatch(0, getAxis()) ? Mixing::Mixed : Mixing::None;
}

LogicalResult PutRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(a.getWhole().getType());
  return success();
}
LogicalResult PutRowsOp::verify() {
  auto whole = tensorType(getWhole()).getShape(), part = tensorType(getPart()).getShape();
  if (whole.empty() || part.empty() || whole.drop_front() != part.drop_front())
    return emitOpError() << "rows of " << getPart().getType() << " do not fit "
                         << getWhole().getType();
  int64_t from = getFrom();
  if (from < 0 || part[0] > whole[0] || from > whole[0] - part[0])
    return emitOpError() << part[0] << " rows from " << from << " on are outside of "
                         << getWhole().getType();
  return success();
}
bool PutRowsOp::canWriteOver(unsigned operand, unsigned) { return operand == 0; }
// As it is where the whole dies.
WorkKind PutRowsOp::getWorkKind() { return WorkKind::Rows; }
double PutRowsOp::getFlops() { return elementCount(getPart().getType()); }
double PutRowsOp::getBytesMoved() { return 2.0 * byteSize(getPart().getType()); }

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                      SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(tensorType(a.getInput()).getShape());
  int64_t axis = a.getAxis();
  if (failed(checkAxis(loc, axis, shape.size())))
    return failure();
  int64_t low = a.getLow(), high = a.getHigh();
  if (std::min(low, high) < 0 || std::max(low, high) > kLargestDimension)
    return emitOptionalError(loc, "low and high must be between 0 and ", kLargestDimension);
  shape[axis] += low + high;
  types.push_back(withShape(a.getInput(), shape));
  return success();
}

template <typename Adaptor>
static LogicalResult inferReduced(std::optional<Location> loc, Adaptor a,
                                  SmallVectorImpl<Type> &types) {
  auto shape = tensorType(a.getInput()).getShape();
  llvm::SmallBitVector reduced(shape.size());
  for (int64_t d : a.getDimensions()) {
    if (failed(checkAxis(loc, d, shape.size())))
      return failure();
    reduced.set(d);
  }
  SmallVector<int64_t> result;
  for (auto [d, size] : llvm::enumerate(shape))
    if (!reduced.test(d))
      result.push_back(size);
  types.push_back(sumsOf(a.getInput(), result));
  return success();
}
#define GC_REDUCE(Op)                                                                              \
  LogicalResult Op::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,        \
                                     SmallVectorImpl<Type> &types) {                               \
    return inferReduced(loc, a, types);                                                            \
  }                                                                                                \
  LogicalResult Op::verify() {                                                                     \
    return verifyDimensions(*this, getDimensions(), tensorType(getInput()).getRank());             \
  }
GC_REDUCE(ReduceSumOp)
GC_REDUCE(ReduceMeanOp)
GC_REDUCE(ReduceMaxOp)
GC_REDUCE(MeanSquareOp)

// What a reduction makes of samples: `joined` where they lie along a dimension that disappears.
static Mixing mixingOfReduction(ArrayRef<int64_t> dimensions, Mixing joined,
                                BatchDimensions isBatch) {
  bool joins = llvm::any_of(dimensions, [&](int64_t d) { return isBatch(0, d); });
  return joins ? joined : Mixing::None;
}
Mixing ReduceSumOp::getMixing(BatchDimensions isBatch) {
  return mixingOfReduction(getDimensions(), Mixing::Mixed, isBatch);
}
Mixing ReduceMeanOp::getMixing(BatchDimensions isBatch) {
  return mixingOfReduction(getDimensions(), Mixing::Mean, isBatch);
}
Mixing ReduceMaxOp::getMixing(BatchDimensions isBatch) {
  return mixingOfReduction(getDimensions(), Mixing::Mixed, isBatch);
}
Mixing ReduceMaxGradOp::getMixing(BatchDimensions isBatch) {
  return mixingOfReduction(getDimensions(), Mixing::Mixed, isBatch);
}

LogicalResult ReduceMaxGradOp::verify() {
  SmallVector<Type> types;
  if (failed(verifyDimensions(*this, getDimensions(), tensorType(getInput()).getRank())) ||
      failed(inferReduced(getLoc(), *this, types)) ||
      failed(verifySame(*this, types[0], getOutput().getType(), "output")) ||
      failed(verifySame(*this, types[0], getGradient().getType(), "gradient")))
    return failure();
  return verifySame(*this, getInput().getType(), getInputGradient().getType(), "result");
}

} // namespace gc
