//===- PoolWindows.h - The windows of a pooling op ------------------------===//
#ifndef GC_COMPILER_LANGUAGE_POOLWINDOWS_H
#define GC_COMPILER_LANGUAGE_POOLWINDOWS_H

#include "compiler/language/KernelBuilder.h"
#include "mlir/IR/BuiltinTypes.h"

namespace gc::kernels {

struct PoolWindows {
  int64_t batch, height, width, channels; // of the input
  int64_t outHeight, outWidth;
  int64_t kernelHeight, kernelWidth, strideHeight, strideWidth, padHeight, padWidth;
  int64_t size() const { return kernelHeight * kernelWidth; }
  /// Whether all windows lie inside the image along a dimension.
  bool areInsideDown() const {
    return padHeight == 0 && (outHeight - 1) * strideHeight + kernelHeight <= height;
  }
  bool areInsideAcross() const {
    return padWidth == 0 && (outWidth - 1) * strideWidth + kernelWidth <= width;
  }

  template <typename Op> static PoolWindows of(Op op, mlir::Value input, mlir::Value output) {
    auto in = mlir::cast<mlir::RankedTensorType>(input.getType()).getShape();
    auto out = mlir::cast<mlir::RankedTensorType>(output.getType()).getShape();
    auto kernel = op.getKernel(), strides = op.getStrides(), padding = op.getPadding();
    return {in[0],     in[1],     in[2],      in[3],      out[1],     out[2],
            kernel[0], kernel[1], strides[0], strides[1], padding[0], padding[1]};
  }
};

/// A window that may cover an input element.
struct Covering {
  Expr row, column; // of the output, always inside the image
  Expr exists;
  Expr position; // of the input element in the window
};

/// All windows that may cover the input elements at (y, x). A window that does not exist is
/// replaced by one that does.
llvm::SmallVector<Covering> windowsOver(KernelBuilder &k, const PoolWindows &windows, Expr y,
                                        Expr x);

/// By how much the sum of the window at (row, column) of the output is divided: by the elements of
/// image and padding in it, or of the image alone. Null: by its size, as all windows' sums are.
Expr averageCount(KernelBuilder &k, const PoolWindows &windows, bool countPadding, Expr row,
                  Expr column);

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_POOLWINDOWS_H
