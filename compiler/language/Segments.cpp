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

} // namespace gc::kernels
