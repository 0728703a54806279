//===- ModelBuilderShapes.cpp - layers that change shapes -----------------===//
#include "models/ModelBuilder.h"

using namespace mlir;

namespace gc::models {

Value ModelBuilder::maxPool(StringRef name, Value x, PoolShape shape) {
  return create<MaxPoolOp>(name, x, builder.getDenseI64ArrayAttr({shape.kernel, shape.kernel}),
                           builder.getDenseI64ArrayAttr({shape.stride, shape.stride}),
                           builder.getDenseI64ArrayAttr({shape.padding, shape.padding}),
                           builder.getBoolAttr(false))
      .getOutput();
}

Value ModelBuilder::globalAvgPool(StringRef name, Value x) {
  return create<GlobalAvgPoolOp>(name, x);
}

// Output i of `size` is the mean of inputs floor(i * n / size) to ceil((i + 1) * n / size):
// PyTorch's windows, which overlap or repeat where `size` does not divide n.
Value ModelBuilder::averageAxis(StringRef name, Value x, int64_t axis, int64_t size) {
  int64_t n = dimension(x, axis);
  if (n == size)
    return x;
  SmallVector<Value> parts;
  for (int64_t i = 0; i < size; ++i) {
    int64_t begin = i * n / size, end = ((i + 1) * n + size - 1) / size;
    Value part = slice(name, x, axis, begin, end - begin);
    if (end - begin > 1) {
      int64_t height = axis == 1 ? end - begin : 1, width = axis == 2 ? end - begin : 1;
      auto window = builder.getDenseI64ArrayAttr({height, width});
      part = create<AvgPoolOp>(name, part, window, window, builder.getDenseI64ArrayAttr({0, 0}),
                               builder.getBoolAttr(false), builder.getBoolAttr(true));
    }
    parts.push_back(part);
  }
  return create<ConcatOp>(name, parts, builder.getI64IntegerAttr(axis));
}

Value ModelBuilder::adaptiveAvgPool(StringRef name, Value x, int64_t side) {
  int64_t n = dimension(x, 1);
  if (n == side)
    return x;
  if (n == 1) { // every output is the one pixel
    auto type =
        RankedTensorType::get({dimension(x, 0), side, side, channels(x)}, builder.getF32Type());
    return create<BroadcastOp>(name, type, x, builder.getDenseI64ArrayAttr({0, 1, 2, 3}));
  }
  if (n % side == 0) {
    auto window = builder.getDenseI64ArrayAttr({n / side, n / side});
    return create<AvgPoolOp>(name, x, window, window, builder.getDenseI64ArrayAttr({0, 0}),
                             builder.getBoolAttr(false), builder.getBoolAttr(true));
  }
  // A window's rows all have the same length, so the mean of row means is its mean.
  return averageAxis(name, averageAxis(name, x, 1, side), 2, side);
}

Value ModelBuilder::reshape(StringRef name, Value x, ArrayRef<int64_t> shape) {
  return create<ReshapeOp>(name, RankedTensorType::get(shape, builder.getF32Type()), x);
}

Value ModelBuilder::flatten(StringRef name, Value x) {
  int64_t batch = dimension(x, 0);
  return reshape(name, x, {batch, elementCount(x.getType()) / batch});
}

Value ModelBuilder::slice(StringRef name, Value x, int64_t axis, int64_t offset, int64_t size) {
  if (offset == 0 && size == dimension(x, axis))
    return x;
  return create<SliceOp>(name, x, builder.getI64IntegerAttr(axis),
                         builder.getI64IntegerAttr(offset), builder.getI64IntegerAttr(size));
}

} // namespace gc::models
