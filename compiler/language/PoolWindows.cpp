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

} // namespace

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
