//===- Linear.cpp - convolution and matrix products in double -------------===//
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace gc::reference {
namespace {

double activate(Activation activation, double x) {
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::Relu:
    return x > 0 ? x : 0;
  case Activation::Gelu:
    return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
  }
  llvm_unreachable("unknown activation");
}

// Adds bias and residual and applies the activation, in place.
template <typename Product> void epilogue(Product op, Operands x, Tensor &y) {
  unsigned next = 2;
  const Tensor *bias = op.getBias() ? &x[next++] : nullptr;
  const Tensor *residual = op.getResidual() ? &x[next++] : nullptr;
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] = activate(op.getActivation(), y[i] + (bias ? (*bias)[i % bias->size()] : 0) +
                                            (residual ? (*residual)[i] : 0));
}

// How a filter slides.
struct Sliding {
  ArrayRef<int64_t> strides, padding, dilation;
  int64_t groups;
  template <typename Op> static Sliding of(Op op) {
    return {op.getStrides(), op.getPadding(), op.getDilation(), int64_t(op.getGroups())};
  }
};

// Calls f(n, ho, wo, o, hi, wi, i, kh, kw, k) for every product of a convolution of `image` (NHWC)
// by `filter` (OHWI) to `output` (NHWO): i is the image's channel, k the filter's.
template <typename F>
void forEachProduct(ArrayRef<int64_t> image, ArrayRef<int64_t> filter, ArrayRef<int64_t> output,
                    const Sliding &s, F f) {
  for (int64_t n = 0; n < output[0]; ++n)
    for (int64_t ho = 0; ho < output[1]; ++ho)
      for (int64_t wo = 0; wo < output[2]; ++wo)
        for (int64_t o = 0; o < output[3]; ++o)
          for (int64_t kh = 0; kh < filter[1]; ++kh)
            for (int64_t kw = 0; kw < filter[2]; ++kw) {
              int64_t hi = ho * s.strides[0] + kh * s.dilation[0] - s.padding[0];
              int64_t wi = wo * s.strides[1] + kw * s.dilation[1] - s.padding[1];
              if (hi < 0 || wi < 0 || hi >= image[1] || wi >= image[2])
                continue;
              int64_t group = o * s.groups / output[3];
              for (int64_t k = 0; k < filter[3]; ++k)
                f(n, ho, wo, o, hi, wi, group * filter[3] + k, kh, kw, k);
            }
}

using Index = int64_t;

void matmul(MatmulOp op, const Tensor &a, const Tensor &b, Tensor &y) {
  int64_t rank = y.rank(), m = y.shape[rank - 2], n = y.shape[rank - 1];
  int64_t k = a.shape[rank - (op.getTransposeLhs() ? 2 : 1)];
  int64_t batch = y.size() / (m * n);
  for (int64_t s = 0; s < batch; ++s)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          y[(s * m + i) * n + j] += a[s * m * k + (op.getTransposeLhs() ? l * m + i : i * k + l)] *
                                    b[s * k * n + (op.getTransposeRhs() ? j * k + l : l * n + j)];
}

void patchEmbed(const Tensor &x, const Tensor &w, const Tensor &b, Tensor &y) {
  int64_t kernel[] = {w.shape[1], w.shape[2]}, none[] = {0, 0}, ones[] = {1, 1};
  int64_t width = x.shape[2] / kernel[1];
  int64_t output[] = {x.shape[0], x.shape[1] / kernel[0], width, w.shape[0]};
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] = b[i % b.size()];
  forEachProduct(x.shape, w.shape, output, {kernel, none, ones, 1},
                 [&](Index n, Index ho, Index wo, Index o, Index hi, Index wi, Index i, Index kh,
                     Index kw, Index) {
                   y.at({n, ho * width + wo, o}) += x.at({n, hi, wi, i}) * w.at({o, kh, kw, i});
                 });
}

} // namespace

bool evaluateLinear(Operation *op, Operands x, Results y) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](Conv2dOp o) {
        forEachProduct(
            x[0].shape, x[1].shape, y[0].shape, Sliding::of(o),
            [&](Index n, Index ho, Index wo, Index c, Index hi, Index wi, Index i, Index kh,
                Index kw, Index k) {
              y[0].at({n, ho, wo, c}) += x[0].at({n, hi, wi, i}) * x[1].at({c, kh, kw, k});
            });
        epilogue(o, x, y[0]);
        return true;
      })
      .Case([&](Conv2dGradInputOp o) {
        forEachProduct(
            y[0].shape, x[1].shape, x[0].shape, Sliding::of(o),
            [&](Index n, Index ho, Index wo, Index c, Index hi, Index wi, Index i, Index kh,
                Index kw, Index k) {
              y[0].at({n, hi, wi, i}) += x[0].at({n, ho, wo, c}) * x[1].at({c, kh, kw, k});
            });
        return true;
      })
      .Case([&](Conv2dGradFilterOp o) {
        forEachProduct(
            x[0].shape, y[0].shape, x[1].shape, Sliding::of(o),
            [&](Index n, Index ho, Index wo, Index c, Index hi, Index wi, Index i, Index kh,
                Index kw, Index k) {
              y[0].at({c, kh, kw, k}) += x[0].at({n, hi, wi, i}) * x[1].at({n, ho, wo, c});
            });
        if (o.getBiasGradient())
          for (int64_t i = 0; i < x[1].size(); ++i)
            y[1][i % y[1].size()] += x[1][i];
        return true;
      })
      .Case([&](LinearOp o) {
        int64_t n = x[1].shape[0], k = x[1].shape[1];
        for (int64_t i = 0; i < y[0].size(); ++i)
          for (int64_t l = 0; l < k; ++l)
            y[0][i] += x[0][i / n * k + l] * x[1][i % n * k + l];
        epilogue(o, x, y[0]);
        return true;
      })
      .Case([&](LinearGradInputOp) {
        int64_t n = x[1].shape[0], k = x[1].shape[1];
        for (int64_t i = 0; i < y[0].size(); ++i)
          for (int64_t j = 0; j < n; ++j)
            y[0][i] += x[0][i / k * n + j] * x[1][j * k + i % k];
        return true;
      })
      .Case([&](LinearGradWeightOp) {
        int64_t n = y[0].shape[0], k = y[0].shape[1];
        for (int64_t r = 0; r < x[0].rows(); ++r)
          for (int64_t i = 0; i < y[0].size(); ++i)
            y[0][i] += x[1][r * n + i / k] * x[0][r * k + i % k];
        return true;
      })
      .Case([&](MatmulOp o) {
        matmul(o, x[0], x[1], y[0]);
        return true;
      })
      .Case([&](PatchEmbedOp) {
        patchEmbed(x[0], x[1], x[2], y[0]);
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace gc::reference
