//===- Segments.cpp - Parts of a tensor along an axis ---------------------===//
#include "compiler/language/Segments.h"

using namespace mlir;

namespace gc::kernels {

SegmentCopy copyOf(SliceOp op) {
  auto from = shapeOf(op.getInput()), to = shapeOf(op.getOutput());
  int64_t axis = op.getAxis();
  return {0, Segments::of(from, axis, op.getOffset(), to[axis]),
          Segments::of(to, axis, 0, to[axis])};
}

SmallVector<SegmentCopy> copiesOf(ConcatOp op) {
  auto to = shapeOf(op.getOutput());
  int64_t axis = op.getAxis(), first = 0;
  SmallVector<SegmentCopy> copies;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    auto from = shapeOf(input);
    copies.push_back({unsigned(index), Segments::of(from, axis, 0, from[axis]),
                      Segments::of(to, axis, first, from[axis])});
    first += from[axis];
  }
  return copies;
}

SmallVector<SegmentCopy> copiesOf(RollOp op) {
  auto shape = shapeOf(op.getInput());
  int64_t axis = op.getAxis(), shift = op.getShift(), rest = shape[axis] - shift;
  return {{0, Segments::of(shape, axis, 0, rest), Segments::of(shape, axis, shift, rest)},
          {0, Segments::of(shape, axis, rest, shift), Segments::of(shape, axis, 0, shift)}};
}

SmallVector<SegmentCopy> copiesOf(PutRowsOp op, bool isOverWhole) {
  auto whole = shapeOf(op.getWhole());
  int64_t from = op.getFrom(), count = shapeOf(op.getPart())[0], end = from + count;
  SmallVector<SegmentCopy> copies{
      {1, Segments::of(shapeOf(op.getPart()), 0, 0, count), Segments::of(whole, 0, from, count)}};
  auto keep = [&](int64_t first, int64_t rows) {
    Segments kept = Segments::of(whole, 0, first, rows);
    if (rows > 0 && !isOverWhole)
      copies.push_back({0, kept, kept});
  };
  keep(0, from);
  keep(end, whole[0] - end);
  return copies;
}

} // namespace gc::kernels
