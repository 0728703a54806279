//===- Pool.cpp - pooling in double ---------------------------------------===//
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace gc::reference {
namespace {

// Calls f(position of the output, position in the window, position of the image) for every element
// of every window that lies inside the image.
template <typename Pool, typename F>
void forEachElement(Pool op, const Tensor &image, const Tensor &output, F f) {
  ArrayRef<int64_t> kernel = op.getKernel(), strides = op.getStrides(), padding = op.getPadding();
  for (int64_t o = 0; o < output.size(); ++o) {
    std::vector<int64_t> at = output.index(o);
    for (int64_t kh = 0; kh < kernel[0]; ++kh)
      for (int64_t kw = 0; kw < kernel[1]; ++kw) {
        int64_t h = at[1] * strides[0] + kh - padding[0];
        int64_t w = at[2] * strides[1] + kw - padding[1];
        if (h >= 0 && w >= 0 && h < image.shape[1] && w < image.shape[2])
          f(o, kh * kernel[1] + kw, image.offset({at[0], h, w, at[3]}));
      }
  }
}

// By how much the sum of each window is divided.
template <typename Pool> Tensor countsOf(Pool op, const Tensor &image, const Tensor &output) {
  Tensor counts(output.shape);
  for (int64_t o = 0; o < output.size(); ++o) {
    std::vector<int64_t> at = output.index(o);
    counts[o] = 1;
    for (int64_t d : {0, 1}) {
      int64_t padding = op.getPadding()[d], size = image.shape[d + 1], count = 0;
      for (int64_t tap = 0; tap < op.getKernel()[d]; ++tap) {
        int64_t place = at[d + 1] * op.getStrides()[d] + tap - padding;
        bool isInside = place >= 0 && place < size;
        count += isInside || (op.getCountPadding() && place < size + padding);
      }
      counts[o] *= static_cast<double>(count);
    }
  }
  return counts;
}

// [N, ..., C]: the element of [N, C] that element i belongs to.
int64_t sampleChannel(const Tensor &x, int64_t i) {
  int64_t sample = x.size() / x.shape[0];
  return i / sample * x.channels() + i % x.channels();
}

} // namespace

bool evaluatePool(Operation *op, Operands x, Results y) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](MaxPoolOp o) {
        std::vector<bool> seen(y[0].size());
        forEachElement(o, x[0], y[0], [&](int64_t out, int64_t window, int64_t in) {
          if (seen[out] && x[0][in] <= y[0][out])
            return;
          seen[out] = true;
          y[0][out] = x[0][in];
          y[1][out] = static_cast<double>(window);
        });
        return true;
      })
      .Case([&](MaxPoolGradOp o) {
        forEachElement(o, y[0], x[1], [&](int64_t out, int64_t window, int64_t in) {
          if (x[0][out] == static_cast<double>(window))
            y[0][in] += x[1][out];
        });
        return true;
      })
      .Case([&](AvgPoolOp o) {
        Tensor count = countsOf(o, x[0], y[0]);
        forEachElement(o, x[0], y[0], [&](int64_t out, int64_t, int64_t in) {
          y[0][out] += x[0][in] / count[out];
        });
        return true;
      })
      .Case([&](AvgPoolGradOp o) {
        Tensor count = countsOf(o, y[0], x[0]);
        forEachElement(o, y[0], x[0], [&](int64_t out, int64_t, int64_t in) {
          y[0][in] += x[0][out] / count[out];
        });
        return true;
      })
      .Case([&](GlobalAvgPoolOp) {
        double count = static_cast<double>(x[0].size()) / y[0].size();
        for (int64_t i = 0; i < x[0].size(); ++i)
          y[0][sampleChannel(x[0], i)] += x[0][i] / count;
        return true;
      })
      .Case([&](GlobalAvgPoolGradOp) {
        double count = static_cast<double>(y[0].size()) / x[0].size();
        for (int64_t i = 0; i < y[0].size(); ++i)
          y[0][i] = x[0][sampleChannel(y[0], i)] / count;
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace gc::reference
