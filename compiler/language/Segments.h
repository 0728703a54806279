//===- Segments.h - Parts of a tensor along an axis -----------------------===//
#ifndef GC_COMPILER_LANGUAGE_SEGMENTS_H
#define GC_COMPILER_LANGUAGE_SEGMENTS_H

#include "dialects/Gc.h"

namespace gc::kernels {

/// A tensor cut along an axis: `outer` segments of `length` contiguous elements, every `stride`,
/// the first at `offset`.
struct Segments {
  int64_t outer, length, stride, offset;

  /// The part [first, first + size) of `axis` of a tensor.
  static Segments of(llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t first, int64_t size) {
    int64_t inner = 1, outer = 1;
    for (int64_t extent : shape.drop_front(axis + 1))
      inner *= extent;
    for (int64_t extent : shape.take_front(axis))
      outer *= extent;
    return {outer, size * inner, shape[axis] * inner, first * inner};
  }
};

/// A part of an operand that becomes a part of the result.
struct SegmentCopy {
  unsigned operand;
  Segments source, target;
};
SegmentCopy copyOf(SliceOp op);
llvm::SmallVector<SegmentCopy> copiesOf(ConcatOp op); // one for each operand
llvm::SmallVector<SegmentCopy> copiesOf(RollOp op);   // what stays in place, what comes in again
/// The part, and the rows before and behind it where the result is not written over the whole.
llvm::SmallVector<SegmentCopy> copiesOf(PutRowsOp op, bool isOverWhole);

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_SEGMENTS_H
