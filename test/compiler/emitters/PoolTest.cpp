//===- PoolTest.cpp - Pooling forward and backward ------------------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

struct Pool {
  int64_t batch, height, width, channels;
  int64_t kernel[2], stride[2], pad[2];
  bool ceil = false;
  int64_t outHeight() const { return outputs(height, 0); }
  int64_t outWidth() const { return outputs(width, 1); }
  /// Windows that begin where they may and hold an element of the image.
  int64_t outputs(int64_t size, int d) const {
    int64_t room = size + 2 * pad[d] - kernel[d], count = room / stride[d] + 1;
    return count + (ceil && room % stride[d] != 0 && count * stride[d] - pad[d] < size);
  }
  std::vector<int64_t> input() const { return {batch, height, width, channels}; }
  std::vector<int64_t> output() const { return {batch, outHeight(), outWidth(), channels}; }
  std::string attributes() const {
    auto pair = [](const int64_t *p) {
      return "array<i64: " + std::to_string(p[0]) + ", " + std::to_string(p[1]) + ">";
    };
    return " {kernel = " + pair(kernel) + ", strides = " + pair(stride) +
           ", padding = " + pair(pad) + (ceil ? ", ceil_mode = true" : "") + more + "}";
  }
  std::string more; // attributes
  /// Calls visit(output element, input element, position in the window) for all that are there.
  template <typename Visit> void forAll(Visit visit) const {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t y = 0; y < outHeight(); ++y)
        for (int64_t x = 0; x < outWidth(); ++x)
          for (int64_t i = 0; i < kernel[0]; ++i)
            for (int64_t j = 0; j < kernel[1]; ++j) {
              int64_t row = y * stride[0] - pad[0] + i, column = x * stride[1] - pad[1] + j;
              if (row < 0 || column < 0 || row >= height || column >= width)
                continue;
              for (int64_t c = 0; c < channels; ++c)
                visit(((n * outHeight() + y) * outWidth() + x) * channels + c,
                      ((n * height + row) * width + column) * channels + c, i * kernel[1] + j);
            }
  }
};

const Pool pools[] = {
    {1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}},       {2, 8, 8, 16, {2, 2}, {2, 2}, {0, 0}},
    {2, 7, 9, 5, {2, 2}, {2, 2}, {0, 0}},       {1, 14, 14, 64, {3, 3}, {2, 2}, {1, 1}},
    {2, 11, 13, 7, {3, 3}, {2, 2}, {1, 1}},     {1, 9, 6, 19, {3, 2}, {1, 3}, {1, 1}},
    {1, 10, 10, 3, {5, 5}, {3, 3}, {2, 2}},     {1, 6, 6, 4, {2, 2}, {3, 3}, {0, 0}},
    {3, 17, 19, 12, {3, 3}, {2, 2}, {1, 1}},    {1, 20, 13, 6, {9, 9}, {1, 1}, {4, 4}},
    {2, 8, 7, 8, {3, 3}, {2, 2}, {0, 0}, true}, {1, 6, 9, 5, {3, 2}, {2, 3}, {1, 1}, true},
    {1, 5, 5, 4, {2, 2}, {2, 2}, {1, 1}, true}, {1, 7, 10, 3, {3, 3}, {3, 3}, {0, 0}, true}};

TEST(PoolTest, MaxForwardAndBackward) {
  for (const Pool &pool : pools) {
    Tensor x = Tensor::random(pool.input(), 1);
    // Few distinct values, so that there are ties.
    for (int64_t i = 0; i < x.size(); ++i)
      x[i] = std::round(x[i] * 3);
    Tensor like(pool.output());
    std::vector<double> y(like.size(), -INFINITY);
    std::vector<int64_t> index(like.size(), -1);
    std::vector<int64_t> source(like.size());
    pool.forAll([&](int64_t out, int64_t in, int64_t position) {
      if (index[out] < 0 || x[in] > y[out])
        y[out] = x[in], index[out] = position, source[out] = in;
    });
    Outcome forward = run("%r:2 = gc.max_pool %0" + pool.attributes() +
                              signature({x}, {like.type(), typeOf(pool.output(), "i8")}),
                          {x});
    expectClose(forward.results[0], y, 0, x.type());
    for (int64_t i = 0; i < like.size(); ++i)
      ASSERT_EQ(forward.results[1].data<int8_t>()[i], index[i]) << x.type() << " element " << i;

    Tensor dy = Tensor::random(pool.output(), 2);
    std::vector<double> dx(x.size());
    for (int64_t i = 0; i < like.size(); ++i)
      dx[source[i]] += dy[i];
    std::vector<Tensor> operands{forward.results[1], dy};
    expectClose(
        run("%r = gc.max_pool_grad %0, %1" + pool.attributes() + signature(operands, {x.type()}),
            operands)
            .results[0],
        dx, 1e-6, "gradient of " + x.type());
  }
}

TEST(PoolTest, MaxOfMinusInfinityAndNaN) {
  Pool pool{1, 3, 3, 1, {3, 3}, {2, 2}, {1, 1}};
  Tensor x = Tensor::of(pool.input(), std::vector<float>(9, -INFINITY));
  x[8] = NAN;
  Outcome outcome = run("%r:2 = gc.max_pool %0" + pool.attributes() +
                            signature({x}, {typeOf(pool.output()), typeOf(pool.output(), "i8")}),
                        {x});
  // The first window misses its first row and column: its first element is at position 4.
  EXPECT_EQ(outcome.results[0][0], -INFINITY);
  EXPECT_EQ(outcome.results[1].data<int8_t>()[0], 4);
  EXPECT_TRUE(std::isnan(outcome.results[0][3]));
}

TEST(PoolTest, AverageForwardAndBackward) {
  for (const Pool &pool : pools) {
    Tensor x = Tensor::random(pool.input(), 1), dy = Tensor::random(pool.output(), 2);
    if (pool.ceil)
      continue; // what counts is tested below
    double size = double(pool.kernel[0] * pool.kernel[1]);
    std::vector<double> y(dy.size()), dx(x.size());
    pool.forAll([&](int64_t out, int64_t in, int64_t) {
      y[out] += x[in] / size;
      dx[in] += dy[out] / size;
    });
    expectClose(run("%r = gc.avg_pool %0" + pool.attributes() + signature({x}, {dy.type()}), {x})
                    .results[0],
                y, 1e-6, x.type());
    expectClose(
        run("%r = gc.avg_pool_grad %0" + pool.attributes() + signature({dy}, {x.type()}), {dy})
            .results[0],
        dx, 1e-6, x.type());
  }
}

// Divided by what counts: elements of the image alone, or of the padding too, but never what hangs
// over it.
TEST(PoolTest, AverageOfWhatCounts) {
  for (Pool pool : pools)
    for (bool countPadding : {false, true}) {
      if (countPadding && !pool.ceil)
        continue;
      pool.more = countPadding ? "" : ", count_padding = false";
      Tensor x = Tensor::random(pool.input(), 1), dy = Tensor::random(pool.output(), 2);
      std::vector<double> y(dy.size()), dx(x.size()), count(dy.size());
      pool.forAll([&](int64_t out, int64_t, int64_t) { ++count[out]; });
      for (int64_t i = 0; countPadding && i < dy.size(); ++i) {
        int64_t place[2] = {i / pool.channels / pool.outWidth() % pool.outHeight(),
                            i / pool.channels % pool.outWidth()};
        count[i] = 1;
        for (int d : {0, 1}) {
          int64_t begin = place[d] * pool.stride[d] - pool.pad[d];
          int64_t end = (d == 0 ? pool.height : pool.width) + pool.pad[d];
          count[i] *= double(std::min(begin + pool.kernel[d], end) - begin);
        }
      }
      pool.forAll([&](int64_t out, int64_t in, int64_t) {
        y[out] += x[in] / count[out];
        dx[in] += dy[out] / count[out];
      });
      expectClose(run("%r = gc.avg_pool %0" + pool.attributes() + signature({x}, {dy.type()}), {x})
                      .results[0],
                  y, 1e-6, x.type());
      expectClose(
          run("%r = gc.avg_pool_grad %0" + pool.attributes() + signature({dy}, {x.type()}), {dy})
              .results[0],
          dx, 1e-6, x.type());
    }
}

TEST(PoolTest, GlobalAverage) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{1, 1, 1, 1},
                                     {3, 7, 7, 37},
                                     {2, 5, 131},
                                     {20, 7, 7, 2048},
                                     {1, 200, 150, 8}}) {
    Tensor x = Tensor::random(shape, 1, 0, 1);
    int64_t batch = shape.front(), channels = shape.back();
    int64_t middle = x.size() / (batch * channels);
    Tensor dy = Tensor::random({batch, channels}, 2);
    std::vector<double> y(dy.size()), dx;
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t at = i / (middle * channels) * channels + i % channels;
      y[at] += x[i] / double(middle);
      dx.push_back(dy[at] / double(middle));
    }
    expectClose(run("%r = gc.global_avg_pool %0" + signature({x}, {dy.type()}), {x}).results[0], y,
                1e-6, x.type());
    expectClose(
        run("%r = gc.global_avg_pool_grad %0" + signature({dy}, {x.type()}), {dy}).results[0], dx,
        1e-6, x.type());
  }
}

} // namespace
