//===- GroupShape.h - What group normalization runs over ------------------===//
#ifndef GC_COMPILER_LANGUAGE_GROUPSHAPE_H
#define GC_COMPILER_LANGUAGE_GROUPSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace gc::kernels {

/// [batch, rows, channels]; neighbouring channels are groups.
struct GroupShape {
  GroupShape(mlir::Value input, int64_t groups)
      : batch(sizesOf(input)[0]), rows(sizesOf(input)[1] * sizesOf(input)[2]),
        channels(sizesOf(input)[3]), groups(groups), groupSize(channels / groups) {}

  int64_t batch, rows, channels, groups; // rows of a sample
  int64_t groupSize;                     // channels
  double groupElements() const { return double(rows) * double(groupSize); }
  llvm::SmallVector<int64_t> matrix() const { return {batch * rows, channels}; }

private:
  static llvm::ArrayRef<int64_t> sizesOf(mlir::Value input) {
    return mlir::cast<mlir::RankedTensorType>(input.getType()).getShape();
  }
};

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_GROUPSHAPE_H
