//===- FusibleTest.cpp - Elementwise ops, groups, sums over rows ----------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

struct Unary {
  const char *name;
  std::function<double(double)> formula;
  float low, high;
};

class UnaryTest : public testing::TestWithParam<Unary> {};

TEST_P(UnaryTest, MatchesFormula) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{1}, {37}, {3, 5, 7}, {2, 1031}, {1024}, {}}) {
    Tensor x = Tensor::random(shape, 1, GetParam().low, GetParam().high);
    std::string text =
        std::string("%r = gc.") + GetParam().name + " %0" + signature({x}, {x.type()});
    std::vector<double> expected;
    for (int64_t i = 0; i < x.size(); ++i)
      expected.push_back(GetParam().formula(x[i]));
    expectClose(run(text, {x}).results[0], expected, 1e-6, x.type());
    expectClose(run(text, {x}, {}, {0}).results[0], expected, 1e-6, "in place " + x.type());
    expectClose(run(text, {x}, {}, {}, "", 1).results[0], expected, 1e-6, "streamed " + x.type());
  }
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

INSTANTIATE_TEST_SUITE_P(
    All, UnaryTest,
    testing::Values(Unary{"neg", [](double x) { return -x; }, -2, 2},
                    Unary{"exp", [](double x) { return std::exp(x); }, -9, 3},
                    Unary{"log", [](double x) { return std::log(x); }, 0.01f, 9},
                    Unary{"sqrt", [](double x) { return std::sqrt(x); }, 0, 9},
                    Unary{"tanh", [](double x) { return std::tanh(x); }, -4, 4},
                    Unary{"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -9, 9},
                    Unary{"relu", [](double x) { return x > 0 ? x : 0; }, -2, 2},
                    Unary{"gelu", gelu, -6, 6}),
    [](const auto &info) { return std::string(info.param.name); });

struct Binary {
  const char *name;
  std::function<double(double, double)> formula;
};

class BinaryTest : public testing::TestWithParam<Binary> {};

TEST_P(BinaryTest, MatchesFormula) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{1}, {7, 13}, {2, 3, 431}}) {
    Tensor x = Tensor::random(shape, 1), y = Tensor::random(shape, 2, 0.5f, 2);
    std::string text =
        std::string("%r = gc.") + GetParam().name + " %0, %1" + signature({x, y}, {x.type()});
    std::vector<double> expected;
    for (int64_t i = 0; i < x.size(); ++i)
      expected.push_back(GetParam().formula(x[i], y[i]));
    expectClose(run(text, {x, y}).results[0], expected, 1e-6);
    expectClose(run(text, {x, y}, {}, {-1, 0}).results[0], expected, 1e-6, "over the second");
  }
}

double geluGradient(double x, double dy) {
  return dy * (0.5 * (1 + std::erf(x / std::sqrt(2.0))) +
               x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI));
}

INSTANTIATE_TEST_SUITE_P(All, BinaryTest,
                         testing::Values(Binary{"add", [](double x, double y) { return x + y; }},
                                         Binary{"sub", [](double x, double y) { return x - y; }},
                                         Binary{"mul", [](double x, double y) { return x * y; }},
                                         Binary{"div", [](double x, double y) { return x / y; }},
                                         Binary{"relu_grad",
                                                [](double y, double dy) { return y > 0 ? dy : 0; }},
                                         Binary{"gelu_grad", geluGradient}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(FusibleTest, TheSameOperandTwiceInPlace) {
  Tensor x = Tensor::random({101}, 3);
  // Both operands are one value; the emitter sees it even though only the first is listed.
  Outcome outcome = run(
      "%r = gc.mul %0, %0 : (tensor<101xf32>, tensor<101xf32>) -> tensor<101xf32>", {x}, {}, {0});
  std::vector<double> expected;
  for (int64_t i = 0; i < x.size(); ++i)
    expected.push_back(double(x[i]) * x[i]);
  expectClose(outcome.results[0], expected, 1e-6);
  EXPECT_EQ(outcome.launches[0].size(), 1u);
}

TEST(FusibleTest, Scale) {
  Tensor x = Tensor::random({3, 11}, 3);
  std::vector<double> expected;
  for (int64_t i = 0; i < x.size(); ++i)
    expected.push_back(0.25 * x[i]);
  expectClose(
      run("%r = gc.scale %0 {factor = 0.25 : f32}" + signature({x}, {x.type()}), {x}).results[0],
      expected, 1e-7);
}

TEST(FusibleTest, NaNPassesReluAndZeroDoesNotPassItsGradient) {
  Tensor x = Tensor::of({3}, {NAN, 0, -0.0f}), dy = Tensor::of({3}, {5, 6, 7});
  Outcome relu = run("%r = gc.relu %0" + signature({x}, {x.type()}), {x});
  EXPECT_TRUE(std::isnan(relu.results[0][0]));
  EXPECT_EQ(relu.results[0][1], 0);
  Outcome gradient = run("%r = gc.relu_grad %0, %1" + signature({x, dy}, {x.type()}), {x, dy});
  EXPECT_EQ(gradient.results[0][1], 0);
  EXPECT_EQ(gradient.results[0][2], 0);
}

struct Size {
  int64_t rows, channels;
};
const Size sizes[] = {{1, 1},    {5, 3},    {17, 8},    {3, 64},
                      {131, 10}, {2, 2048}, {4099, 16}, {997, 37}};

TEST(FusibleTest, Bias) {
  for (Size size : sizes) {
    Tensor x = Tensor::random({size.rows, size.channels}, 1),
           b = Tensor::random({size.channels}, 2);
    std::vector<double> expected;
    for (int64_t i = 0; i < x.size(); ++i)
      expected.push_back(double(x[i]) + b[i % size.channels]);
    std::string text = "%r = gc.bias %0, %1" + signature({x, b}, {x.type()});
    expectClose(run(text, {x, b}).results[0], expected, 1e-6, x.type());
    expectClose(run(text, {x, b}, {}, {0, -1}).results[0], expected, 1e-6, x.type());
  }
}

TEST(FusibleTest, NormalizeAddReluInOneGroup) {
  for (Size size : sizes) {
    std::vector<int64_t> full{size.rows, size.channels}, channel{size.channels};
    Tensor x = Tensor::random(full, 1), mean = Tensor::random(channel, 2);
    Tensor rstd = Tensor::random(channel, 3, 0.5f, 2), w = Tensor::random(channel, 4);
    Tensor b = Tensor::random(channel, 5), residual = Tensor::random(full, 6);
    std::string f = x.type(), c = mean.type();
    std::string text = "%r = gc.fused (%x = %0 : " + f + ", %m = %1 : " + c + ", %s = %2 : " + c +
                       ", %w = %3 : " + c + ", %b = %4 : " + c + ", %d = %5 : " + f + ") -> " + f +
                       " {\n %p = gc.normalize %x, %m, %s, %w, %b : (" + f + ", " + c + ", " + c +
                       ", " + c + ", " + c + ") -> " + f + "\n %q = gc.add %p, %d : (" + f + ", " +
                       f + ") -> " + f + "\n %y = gc.relu %q : (" + f + ") -> " + f +
                       "\n gc.yield %y : " + f + "\n}";
    std::vector<double> expected;
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t j = i % size.channels;
      double y = (double(x[i]) - mean[j]) * rstd[j] * w[j] + b[j] + residual[i];
      expected.push_back(y > 0 ? y : 0);
    }
    std::vector<Tensor> operands{x, mean, rstd, w, b, residual};
    Outcome cached = run(text, operands);
    expectClose(cached.results[0], expected, 1e-6, f);
    Outcome streamed = run(text, operands, {}, {}, "", /*streamBytes=*/1);
    EXPECT_EQ(streamed.results[0].bytes, cached.results[0].bytes) << "bits depend on the cache";
    expectClose(run(text, operands, {}, {-1, -1, -1, -1, -1, 0}).results[0], expected, 1e-6, f);
  }
}

TEST(FusibleTest, SumsOverRows) {
  for (Size size : {Size{1, 1}, {7, 3}, {8192, 5}, {100003, 8}, {513, 64}, {40, 2048}, {3, 4999}}) {
    std::vector<int64_t> full{size.rows, size.channels};
    Tensor x = Tensor::random(full, 1, 0, 1);
    std::vector<double> expected(size.channels);
    for (int64_t i = 0; i < x.size(); ++i)
      expected[i % size.channels] += x[i];
    std::string text = "%r = gc.reduce_sum %0 {dimensions = array<i64: 0>}" +
                       signature({x}, {typeOf({size.channels})});
    expectClose(run(text, {x}).results[0], expected, 5e-7, x.type());
  }
}

TEST(FusibleTest, BatchNormGradParams) {
  for (Size size : {Size{1, 1}, {7, 3}, {50021, 8}, {513, 64}, {48, 2048}}) {
    std::vector<int64_t> full{size.rows, 1, 1, size.channels}, channel{size.channels};
    Tensor dy = Tensor::random(full, 1), x = Tensor::random(full, 2);
    Tensor mean = Tensor::random(channel, 3), rstd = Tensor::random(channel, 4, 0.5f, 2);
    std::vector<double> dw(size.channels), db(size.channels);
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t c = i % size.channels;
      dw[c] += double(dy[i]) * (double(x[i]) - mean[c]) * rstd[c];
      db[c] += dy[i];
    }
    std::vector<Tensor> operands{dy, x, mean, rstd};
    Outcome outcome = run("%r:2 = gc.batch_norm_grad_params %0, %1, %2, %3" +
                              signature(operands, {mean.type(), mean.type()}),
                          operands);
    double tolerance = sumTolerance(double(size.rows), 0.8); // |dy| and |h| are about 0.6 and 1.3
    expectClose(outcome.results[0], dw, tolerance, x.type());
    expectClose(outcome.results[1], db, tolerance, x.type());
  }
}

TEST(FusibleTest, BatchNormGradInput) {
  Size size{35, 11};
  std::vector<int64_t> full{5, 7, 1, size.channels}, channel{size.channels};
  Tensor dy = Tensor::random(full, 1), x = Tensor::random(full, 2);
  Tensor mean = Tensor::random(channel, 3), rstd = Tensor::random(channel, 4, 0.5f, 2);
  Tensor w = Tensor::random(channel, 5), dw = Tensor::random(channel, 6);
  Tensor db = Tensor::random(channel, 7);
  std::vector<double> expected;
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = i % size.channels;
    double h = (double(x[i]) - mean[c]) * rstd[c];
    expected.push_back(double(w[c]) * rstd[c] *
                       (dy[i] - db[c] / double(size.rows) - h * dw[c] / double(size.rows)));
  }
  std::vector<Tensor> operands{dy, x, mean, rstd, w, dw, db};
  std::string text =
      "%r = gc.batch_norm_grad_input %0, %1, %2, %3, %4, %5, %6" + signature(operands, {x.type()});
  expectClose(run(text, operands).results[0], expected, 1e-6);
  expectClose(run(text, operands, {}, {0}).results[0], expected, 1e-6);
}

TEST(FusibleTest, InverseDeviation) {
  Tensor v = Tensor::random({19}, 1, 0.1f, 3);
  std::vector<double> expected;
  for (int64_t i = 0; i < v.size(); ++i)
    expected.push_back(1 / std::sqrt(double(v[i]) + 1e-3));
  expectClose(
      run("%r = gc.inverse_deviation %0 {epsilon = 1.0e-3 : f32}" + signature({v}, {v.type()}), {v})
          .results[0],
      expected, 1e-6);
}

// A group with a full result and two sums: relu_grad feeding batch_norm_grad_params.
TEST(FusibleTest, ElementwiseAndSumsInOneGroup) {
  for (Size size : {Size{3, 5}, {6001, 16}, {97, 256}}) {
    std::vector<int64_t> full{size.rows, size.channels}, channel{size.channels};
    Tensor y = Tensor::random(full, 1), dy = Tensor::random(full, 2), x = Tensor::random(full, 3);
    Tensor mean = Tensor::random(channel, 4), rstd = Tensor::random(channel, 5, 0.5f, 2);
    std::string f = x.type(), c = mean.type();
    std::string text = "%r:3 = gc.fused (%y = %0 : " + f + ", %dy = %1 : " + f +
                       ", %x = %2 : " + f + ", %m = %3 : " + c + ", %s = %4 : " + c + ") -> (" + f +
                       ", " + c + ", " + c + ") {\n %g = gc.relu_grad %y, %dy : (" + f + ", " + f +
                       ") -> " + f + "\n %w, %b = gc.batch_norm_grad_params %g, %x, %m, %s : (" +
                       f + ", " + f + ", " + c + ", " + c + ") -> (" + c + ", " + c +
                       ")\n gc.yield %g, %w, %b : " + f + ", " + c + ", " + c + "\n}";
    std::vector<double> g, dw(size.channels), db(size.channels);
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t j = i % size.channels;
      g.push_back(y[i] > 0 ? dy[i] : 0);
      dw[j] += g.back() * (double(x[i]) - mean[j]) * rstd[j];
      db[j] += g.back();
    }
    std::vector<Tensor> operands{y, dy, x, mean, rstd};
    double tolerance = sumTolerance(double(size.rows), 0.8);
    Outcome apart = run(text, operands), inPlace = run(text, operands, {}, {-1, 0, -1, -1, -1});
    Outcome streamed = run(text, operands, {}, {}, "", /*streamBytes=*/1);
    for (const Outcome *outcome : {&apart, &inPlace, &streamed}) {
      expectClose(outcome->results[0], g, 0);
      expectClose(outcome->results[1], dw, tolerance);
      expectClose(outcome->results[2], db, tolerance);
    }
    // Recomputation may find the group in place where it was not before: the same bits.
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(apart.results[i].bytes, inPlace.results[i].bytes);
      EXPECT_EQ(apart.results[i].bytes, streamed.results[i].bytes);
    }
  }
}

} // namespace
