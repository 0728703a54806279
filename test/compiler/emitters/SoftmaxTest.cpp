//===- SoftmaxTest.cpp - Softmax of rows and its gradient --------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

struct RowsSize {
  int64_t rows, columns;
};
const RowsSize rowsSizes[] = {{1, 1},    {3, 10},  {7, 16},   {5, 65},   {11, 197}, {4, 1000},
                              {2, 3001}, {257, 3}, {131, 12}, {3, 9000}, {2, 8209}};

std::vector<double> softmaxOf(const Tensor &x, int64_t columns) {
  std::vector<double> y;
  for (int64_t r = 0; r < x.size() / columns; ++r) {
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < columns; ++c)
      largest = std::max(largest, double(x[r * columns + c]));
    for (int64_t c = 0; c < columns; ++c)
      sum += std::exp(x[r * columns + c] - largest);
    for (int64_t c = 0; c < columns; ++c)
      y.push_back(std::exp(x[r * columns + c] - largest) / sum);
  }
  return y;
}

TEST(SoftmaxTest, Forward) {
  for (RowsSize size : rowsSizes) {
    Tensor x = Tensor::random({size.rows, size.columns}, 1, -50, 50);
    std::vector<double> expected = softmaxOf(x, size.columns);
    std::string text = "%r = gc.softmax %0" + signature({x}, {x.type()});
    Outcome apart = run(text, {x}), inPlace = run(text, {x}, {}, {0});
    expectClose(apart.results[0], expected, 5e-7, x.type());
    EXPECT_EQ(apart.results[0].bytes, inPlace.results[0].bytes) << "bits depend on the place";
  }
}

TEST(SoftmaxTest, Gradient) {
  for (RowsSize size : rowsSizes) {
    Tensor y = Tensor::random({size.rows, size.columns}, 1, 0, 1);
    Tensor dy = Tensor::random({size.rows, size.columns}, 2);
    std::vector<double> expected;
    for (int64_t r = 0; r < size.rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < size.columns; ++c)
        sum += double(y[r * size.columns + c]) * dy[r * size.columns + c];
      for (int64_t c = 0; c < size.columns; ++c)
        expected.push_back(y[r * size.columns + c] * (dy[r * size.columns + c] - sum));
    }
    expectClose(
        run("%r = gc.softmax_grad %0, %1" + signature({y, dy}, {y.type()}), {y, dy}).results[0],
        expected, 1e-5, y.type());
  }
}

} // namespace
