//===- PoolWindows.cpp - The windows of a pooling op ----------------------===//
#include "compiler/language/PoolWindows.h"

using namespace mlir;

namespace gc::kernels {
namespace {

struct Along {
  Expr output, exists, offset;
};

/// The windows along one dimension that reach `position`: the last that starts at or before it, and
/// those before.
SmallVector<Along> windowsAlong(KernelBuilder &k, Expr position, int64_t stride, int64_t kernel,
                                int64_t outputs) {
  SmallVector<Along> windows;
  for (int64_t i = 0; i < (kernel + stride - 1) / stride; ++i) {
    Expr output = position / stride - i;
    Expr offset = position - output * stride;
    Expr exists = (output >= 0) & (output < outputs) & (offset < kernel);
    Expr safe = k.minimum(k.maximum(output, k.index(0)), k.index(outputs - 1));
    windows.push_back({safe, exists, offset});
  }
  return windows;
}

/// Elements that count in window `output` along one dimension.
Expr countAlong(KernelBuilder &k, Expr output, int64_t size, int64_t stride, int64_t kernel,
                int64_t padding, bool countPadding) {
  Expr begin = output * stride - padding;
  Expr end = k.minimum(begin + kernel, k.index(countPadding ? size + padding : size));
  return end - (countPadding ? begin : k.maximum(begin, k.index(0)));
}

} // namespace

Expr averageCount(KernelBuilder &k, const PoolWindows &w, bool countPadding, Expr row,
                  Expr column) {
  auto hangsOver = [](int64_t size, int64_t outputs, int64_t stride, int64_t kernel, int64_t pad) {
    return (outputs - 1) * stride + kernel > size + 2 * pad;
  };
  bool allCount =
      countPadding
          ? !hangsOver(w.height, w.outHeight, w.strideHeight, w.kernelHeight, w.padHeight) &&
                !hangsOver(w.width, w.outWidth, w.strideWidth, w.kernelWidth, w.padWidth)
          : w.areInsideDown() && w.areInsideAcross();
  if (allCount)
    return {};
  Expr down =
      countAlong(k, row, w.height, w.strideHeight, w.kernelHeight, w.padHeight, countPadding);
  Expr across =
      countAlong(k, column, w.width, w.strideWidth, w.kernelWidth, w.padWidth, countPadding);
  return k.toFloat(k.fromIndex(down * across, k.builder.getI32Type()));
}

SmallVector<Covering> windowsOver(KernelBuilder &k, const PoolWindows &w, Expr y, Expr x) {
  SmallVector<Along> rows =
      windowsAlong(k, y + w.padHeight, w.strideHeight, w.kernelHeight, w.outHeight);
  SmallVector<Along> columns =
      windowsAlong(k, x + w.padWidth, w.strideWidth, w.kernelWidth, w.outWidth);
  SmallVector<Covering> windows;
  for (const Along &row : rows)
    for (const Along &column : columns)
      windows.push_back({row.output, column.output, row.exists & column.exists,
                         row.offset * w.kernelWidth + column.offset});
  return windows;
}

} // namespace gc::kernels
