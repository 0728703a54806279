//===- ReduceTest.cpp - Reductions over any dimensions --------------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

struct Case {
  std::vector<int64_t> shape, dimensions;

  std::vector<int64_t> kept() const {
    std::vector<int64_t> result;
    for (size_t d = 0; d < shape.size(); ++d)
      if (std::find(dimensions.begin(), dimensions.end(), int64_t(d)) == dimensions.end())
        result.push_back(shape[d]);
    return result;
  }
  /// The element of the result that element i of the input goes to.
  int64_t target(int64_t i) const {
    std::vector<int64_t> position(shape.size());
    for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
      position[d] = i % shape[d];
      i /= shape[d];
    }
    int64_t result = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      if (std::find(dimensions.begin(), dimensions.end(), int64_t(d)) == dimensions.end())
        result = result * shape[d] + position[d];
    return result;
  }
  std::string attributes() const {
    if (dimensions.empty())
      return " {dimensions = array<i64>}";
    std::string text = " {dimensions = array<i64: ";
    for (size_t i = 0; i < dimensions.size(); ++i)
      text += (i ? ", " : "") + std::to_string(dimensions[i]);
    return text + ">}";
  }
};

const Case cases[] = {{{1}, {0}},
                      {{5}, {0}},
                      {{5, 7}, {1}},
                      {{5, 7}, {0}},
                      {{3, 5, 7}, {0, 2}},
                      {{3, 5, 7}, {1}},
                      {{16, 197, 6}, {0}},
                      {{4, 1, 9}, {1}},
                      {{2, 3, 4, 5}, {1}},
                      {{2, 3, 4, 5}, {1, 3}},
                      {{2, 3, 4, 5}, {0, 1, 2, 3}},
                      {{100000}, {0}},
                      {{3, 40000}, {1}},
                      {{40000, 3}, {0}},
                      {{2, 3, 4}, {}},
                      {{7, 2050}, {0}},
                      {{33, 129}, {1}},
                      {{9, 20000, 2}, {1}},
                      {{70, 37, 66}, {1}},
                      {{600, 131}, {1}},
                      {{5, 9001}, {1}},
                      {{2, 70, 3, 90}, {1, 3}},
                      {{33, 40, 1000}, {1}}};

TEST(ReduceTest, SumMeanMax) {
  for (const Case &c : cases) {
    Tensor x = Tensor::random(c.shape, 1);
    int64_t outputs = Tensor(c.kept()).size();
    double count = double(x.size()) / double(outputs);
    std::vector<double> sum(outputs), mean(outputs), largest(outputs, -INFINITY);
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t at = c.target(i);
      sum[at] += x[i];
      mean[at] += x[i] / count;
      largest[at] = std::max(largest[at], double(x[i]));
    }
    std::string tail = " %0" + c.attributes() + signature({x}, {typeOf(c.kept())});
    double tolerance = sumTolerance(count, 0.6);
    expectClose(run("%r = gc.reduce_sum" + tail, {x}).results[0], sum, tolerance, x.type());
    expectClose(run("%r = gc.reduce_mean" + tail, {x}).results[0], mean, 1e-6, x.type());
    expectClose(run("%r = gc.reduce_max" + tail, {x}).results[0], largest, 0, x.type());
  }
}

TEST(ReduceTest, MaxGradientIsSharedAmongEquals) {
  for (const Case &c : cases) {
    Tensor x = Tensor::random(c.shape, 1);
    for (int64_t i = 0; i < x.size(); ++i)
      x[i] = std::round(x[i] * 3);
    Tensor y(c.kept()), dy = Tensor::random(c.kept(), 2);
    std::vector<double> count(y.size()), dx;
    std::fill(y.data(), y.data() + y.size(), -INFINITY);
    for (int64_t i = 0; i < x.size(); ++i)
      y[c.target(i)] = std::max(y[c.target(i)], x[i]);
    for (int64_t i = 0; i < x.size(); ++i)
      count[c.target(i)] += x[i] == y[c.target(i)];
    for (int64_t i = 0; i < x.size(); ++i)
      dx.push_back(x[i] == y[c.target(i)] ? dy[c.target(i)] / count[c.target(i)] : 0);
    std::vector<Tensor> operands{x, y, dy};
    expectClose(
        run("%r = gc.reduce_max_grad %0, %1, %2" + c.attributes() + signature(operands, {x.type()}),
            operands)
            .results[0],
        dx, 1e-6, x.type());
  }
}

TEST(ReduceTest, MaxKeepsNaN) {
  Tensor x = Tensor::of({2, 3}, {1, NAN, 2, 4, 5, 6});
  Outcome rows =
      run("%r = gc.reduce_max %0 {dimensions = array<i64: 1>}" + signature({x}, {"tensor<2xf32>"}),
          {x});
  EXPECT_TRUE(std::isnan(rows.results[0][0]));
  EXPECT_EQ(rows.results[0][1], 6);
}

} // namespace
