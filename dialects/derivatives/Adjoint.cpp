//===- Adjoint.cpp - what the derivative rules share ----------------------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc::adjoint {

LogicalResult onlyFirstResult(Operation *op, ValueRange resultGradients) {
  for (unsigned i = 1, e = resultGradients.size(); i < e; ++i)
    if (resultGradients[i])
      return op->emitOpError("result #")
             << i << " is kept for the adjoint and has no derivative, but the loss depends on it; "
             << "compute it with differentiable ops instead";
  return success();
}

Value scale(OpBuilder &builder, Location loc, Value value, double factor) {
  return ScaleOp::create(builder, loc, value.getType(), value,
                         builder.getF32FloatAttr(static_cast<float>(factor)));
}

Value sumOver(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> dimensions) {
  if (dimensions.empty())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(dimensions, d))
      shape.push_back(type.getDimSize(d));
  return ReduceSumOp::create(builder, loc, RankedTensorType::get(shape, builder.getF32Type()),
                             value, builder.getDenseI64ArrayAttr(dimensions));
}

Value castTo(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type ? value : Value(CastOp::create(builder, loc, type, value));
}

Value sumRows(OpBuilder &builder, Location loc, Value value) {
  SmallVector<int64_t> leading;
  for (int64_t d = 0, e = cast<RankedTensorType>(value.getType()).getRank(); d + 1 < e; ++d)
    leading.push_back(d);
  return sumOver(builder, loc, value, leading);
}

Value reshapeTo(OpBuilder &builder, Location loc, Value value, Type type) {
  Type seen = cast<RankedTensorType>(value.getType()).clone(cast<ShapedType>(type).getShape());
  if (value.getType() != seen)
    value = ReshapeOp::create(builder, loc, seen, value);
  return castTo(builder, loc, value, type);
}

Value slice(OpBuilder &builder, Location loc, Value value, int64_t axis, int64_t offset,
            int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return SliceOp::create(builder, loc, type.clone(shape), value, builder.getI64IntegerAttr(axis),
                         builder.getI64IntegerAttr(offset), builder.getI64IntegerAttr(size));
}

} // namespace gc::adjoint
