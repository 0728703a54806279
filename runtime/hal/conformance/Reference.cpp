#include "runtime/hal/conformance/Reference.h"

#include <cmath>
#include <functional>

namespace gc::runtime::conformance {

static double activate(double x, plan::Activation activation) {
  if (activation == plan::Activation_Relu)
    return x > 0 ? x : 0;
  if (activation == plan::Activation_Gelu)
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  return x;
}

/// Calls body(src index, weight index, dst index) for every product of the convolution.
static void products(const cpu::ConvolutionSpec &s,
                     const std::function<void(size_t, size_t, size_t)> &body) {
  int64_t inC = s.in_c / s.groups, outC = s.out_c / s.groups; // of a group
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.out_h; ++oy)
      for (int64_t ox = 0; ox < s.out_w; ++ox)
        for (int64_t ky = 0; ky < s.kernel_h; ++ky)
          for (int64_t kx = 0; kx < s.kernel_w; ++kx) {
            int64_t y = oy * s.stride_h + ky * s.dilation_h - s.pad_h;
            int64_t x = ox * s.stride_w + kx * s.dilation_w - s.pad_w;
            if (y < 0 || y >= s.in_h || x < 0 || x >= s.in_w)
              continue;
            for (int64_t o = 0; o < s.out_c; ++o)
              for (int64_t c = 0; c < inC; ++c)
                body(static_cast<size_t>(((n * s.in_h + y) * s.in_w + x) * s.in_c + o / outC * inC +
                                         c),
                     static_cast<size_t>(((o * s.kernel_h + ky) * s.kernel_w + kx) * inC + c),
                     static_cast<size_t>(((n * s.out_h + oy) * s.out_w + ox) * s.out_c + o));
          }
}

static void store(std::vector<float> &target, const std::vector<double> &values, bool add) {
  for (size_t i = 0; i < target.size(); ++i)
    target[i] = static_cast<float>(add ? target[i] + values[i] : values[i]);
}

void referenceConvolution(const cpu::ConvolutionSpec &s, std::vector<float> &src,
                          std::vector<float> &weights, std::vector<float> &dst,
                          std::vector<float> &bias, const std::vector<float> &residual) {
  if (s.direction == plan::Direction_BackwardData) {
    std::vector<double> sum(src.size());
    products(s, [&](size_t i, size_t w, size_t o) { sum[i] += double(weights[w]) * dst[o]; });
    return store(src, sum, s.accumulate);
  }
  if (s.direction == plan::Direction_BackwardWeights) {
    std::vector<double> sum(weights.size()), sums(bias.size());
    products(s, [&](size_t i, size_t w, size_t o) { sum[w] += double(src[i]) * dst[o]; });
    for (size_t i = 0; s.bias && i < dst.size(); ++i)
      sums[i % sums.size()] += dst[i];
    store(weights, sum, s.accumulate);
    if (s.bias)
      store(bias, sums, s.accumulate);
    return;
  }
  std::vector<double> sum(dst.size());
  products(s, [&](size_t i, size_t w, size_t o) { sum[o] += double(src[i]) * weights[w]; });
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] += s.bias ? bias[i % static_cast<size_t>(s.out_c)] : 0.0f;
    sum[i] += s.residual ? residual[i] : 0.0f;
    sum[i] = activate(sum[i], s.activation);
  }
  store(dst, sum, s.accumulate);
}

void referenceMatMul(const cpu::MatMulSpec &s, const std::vector<float> &a, size_t aOffset,
                     const std::vector<float> &b, size_t bOffset, std::vector<float> &c,
                     size_t cOffset, const std::vector<float> &bias,
                     const std::vector<float> &residual) {
  int64_t batches = 1;
  size_t dims = s.batch.size();
  for (int64_t n : s.batch)
    batches *= n;
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t aBase = 0, bBase = 0, cBase = 0, rest = batch;
    for (size_t i = dims; i-- > 0;) {
      int64_t index = rest % s.batch[i];
      rest /= s.batch[i];
      aBase += index * s.a_strides[i];
      bBase += index * s.b_strides[i];
      cBase += index * s.c_strides[i];
    }
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < s.k; ++k)
          sum += double(a[aOffset + static_cast<size_t>(aBase + i * s.a_strides[dims] +
                                                        k * s.a_strides[dims + 1])]) *
                 b[bOffset +
                   static_cast<size_t>(bBase + k * s.b_strides[dims] + j * s.b_strides[dims + 1])];
        auto at = static_cast<size_t>(cBase + i * s.c_strides[dims] + j * s.c_strides[dims + 1]);
        sum = sum * s.scale + (s.bias ? bias[static_cast<size_t>(j)] : 0.0f) +
              (s.residual ? residual[at] : 0.0f);
        sum = activate(sum, s.activation);
        float &out = c[cOffset + at];
        out = static_cast<float>(s.accumulate ? out + sum : sum);
      }
  }
}

} // namespace gc::runtime::conformance
