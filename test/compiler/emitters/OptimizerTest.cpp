//===- OptimizerTest.cpp - RMSprop, Lion, LAMB, Adafactor -----------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

std::string variables(const std::string &type, const std::vector<std::string> &states) {
  std::string text = "gc.parameter @p : " + type + " = #gc.init<constant, [0.0]>\n";
  for (const std::string &name : states)
    text += "gc.state @" + name + " optimizer : " + type + " = #gc.init<constant, [0.0]>\n";
  return text;
}

/// (lr, s, a, b)
Tensor coefficients(float lr, float scale = 1, float first = 0, float second = 1) {
  return Tensor::of({4}, {lr, scale, first, second});
}

TEST(OptimizerTest, Rmsprop) {
  for (bool centered : {false, true})
    for (double momentum : {0.0, 0.5}) {
      Tensor g = Tensor::random({3, 67}, 1), p = Tensor::random({3, 67}, 2);
      Tensor q = Tensor::random({3, 67}, 3, 1, 2), m = Tensor::random({3, 67}, 4, -0.5f, 0.5f);
      Tensor v = Tensor::random({3, 67}, 5), c = coefficients(0.125f, 0.5f);
      std::string text = "gc.rmsprop @p squares @q";
      std::vector<Tensor> before{p, q};
      if (centered) {
        text += " mean @m";
        before.push_back(m);
      }
      if (momentum != 0) {
        text += " velocity @v";
        before.push_back(v);
      }
      text += ", %0, %1 {alpha = 0.75 : f32, epsilon = 0.0625 : f32, weight_decay = 0.25 : f32";
      text += momentum != 0 ? ", momentum = 0.5 : f32}" : "}";
      text += " : (" + g.type() + ", " + c.type() + ") -> ()";
      Outcome outcome = run(text, {g, c}, before, {}, variables(g.type(), {"q", "m", "v"}));
      std::vector<double> ps, qs, ms, vs;
      for (int64_t i = 0; i < g.size(); ++i) {
        double d = 0.5 * g[i] + 0.25 * p[i];
        qs.push_back(0.75 * q[i] + 0.25 * d * d);
        ms.push_back(0.75 * m[i] + 0.25 * d);
        double variance = qs.back() - (centered ? ms.back() * ms.back() : 0);
        double direction = d / (std::sqrt(variance) + 0.0625);
        vs.push_back(0.5 * v[i] + direction);
        ps.push_back(p[i] - 0.125 * (momentum != 0 ? vs.back() : direction));
      }
      expectClose(outcome.variables[0], ps, 1e-6);
      expectClose(outcome.variables[1], qs, 1e-6);
      if (centered)
        expectClose(outcome.variables[2], ms, 1e-6);
      if (momentum != 0)
        expectClose(outcome.variables.back(), vs, 1e-6);
    }
}

// The square of the mean is above the mean of the squares by rounding: the deviation is 0, no NaN.
TEST(OptimizerTest, CenteredRmspropOfAConstantGradient) {
  Tensor g = Tensor::of({1}, {1}), p = Tensor::of({1}, {1}), q = Tensor::of({1}, {0.5f});
  Tensor m = Tensor::of({1}, {1}), c = coefficients(0.5f);
  Outcome outcome =
      run("gc.rmsprop @p squares @q mean @m, %0, %1 {alpha = 0.5 : f32, epsilon = 1.0 : f32} : "
          "(tensor<1xf32>, tensor<4xf32>) -> ()",
          {g, c}, {p, q, m}, {}, variables(g.type(), {"q", "m"}));
  EXPECT_EQ(outcome.variables[0][0], 0.5f);
}

TEST(OptimizerTest, Lion) {
  Tensor g = Tensor::random({1031}, 1), p = Tensor::random({1031}, 2);
  Tensor m = Tensor::random({1031}, 3), c = coefficients(0.125f, 0.5f);
  // Nothing pulls the first, and the sign of the second is not known.
  g.data<float>()[0] = m.data<float>()[0] = 0;
  g.data<float>()[1] = NAN;
  Outcome outcome =
      run("gc.lion @p moment @m, %0, %1 {beta1 = 0.75 : f32, beta2 = 0.875 : f32, weight_decay = "
          "0.25 : f32} : (" +
              g.type() + ", " + c.type() + ") -> ()",
          {g, c}, {p, m}, {}, variables(g.type(), {"m"}));
  std::vector<double> ps, ms;
  for (int64_t i = 2; i < g.size(); ++i) {
    double x = 0.75 * m[i] + 0.25 * 0.5 * g[i];
    ps.push_back(p[i] * (1 - 0.125 * 0.25) - 0.125 * ((x > 0) - (x < 0)));
    ms.push_back(0.875 * m[i] + 0.125 * 0.5 * g[i]);
  }
  for (size_t i = 0; i < ps.size(); ++i) {
    EXPECT_NEAR(outcome.variables[0][i + 2], ps[i], 1e-6);
    EXPECT_NEAR(outcome.variables[1][i + 2], ms[i], 1e-6);
  }
  EXPECT_FLOAT_EQ(outcome.variables[0][0], p[0] * (1 - 0.125f * 0.25f));
  EXPECT_TRUE(std::isnan(outcome.variables[0][1]));
}

struct LambStep {
  std::vector<double> direction, first, second;
  double ratio;
};
/// By (s, a, b) = (0.5, 1.25, 1.5), with elements of the gradient cut at 0.25.
LambStep lambStep(const Tensor &g, const Tensor &p, const Tensor &m, const Tensor &v) {
  LambStep step;
  double parameter = 0, direction = 0;
  for (int64_t i = 0; i < g.size(); ++i) {
    double d = std::clamp(0.5 * g[i], -0.25, 0.25);
    step.first.push_back(0.75 * m[i] + 0.25 * d);
    step.second.push_back(0.875 * v[i] + 0.125 * d * d);
    double u =
        1.25 * step.first.back() / (1.5 * std::sqrt(step.second.back()) + 0.125) + 0.5 * p[i];
    step.direction.push_back(u);
    parameter += double(p[i]) * p[i];
    direction += u * u;
  }
  step.ratio = std::sqrt(parameter / direction);
  return step;
}
const std::string kLambNumbers = "{beta1 = 0.75 : f32, beta2 = 0.875 : f32, epsilon = 0.125 : f32, "
                                 "weight_decay = 0.5 : f32, clip_value = 0.25 : f32}";

// Less than a chunk, one of them, several and a rest, on all of which the sum of both is in order.
TEST(OptimizerTest, LambRatioAndLamb) {
  for (int64_t size : {1, 17, 4096, 4097, 70001}) {
    Tensor g = Tensor::random({size}, 1), p = Tensor::random({size}, 2);
    Tensor m = Tensor::random({size}, 3), v = Tensor::random({size}, 4, 0.01f, 1);
    Tensor c = coefficients(0.125f, 0.5f, 1.25f, 1.5f);
    LambStep expected = lambStep(g, p, m, v);
    std::vector<Tensor> operands{g, c, p, m, v};
    Outcome ratio = run("%r = gc.lamb_ratio %0, %1, %2, %3, %4 " + kLambNumbers +
                            signature(operands, {"tensor<1xf32>"}),
                        operands);
    expectClose(ratio.results[0], {expected.ratio}, 2e-6);

    Tensor r = Tensor::of({1}, {3});
    Outcome update = run("gc.lamb @p moments @m, @v, %0, %1, %2 " + kLambNumbers + " : (" +
                             g.type() + ", " + c.type() + ", tensor<1xf32>) -> ()",
                         {g, c, r}, {p, m, v}, {}, variables(g.type(), {"m", "v"}));
    std::vector<double> ps;
    for (int64_t i = 0; i < size; ++i)
      ps.push_back(p[i] - 0.125 * 3 * expected.direction[i]);
    expectClose(update.variables[0], ps, 2e-6);
    expectClose(update.variables[1], expected.first, 1e-6);
    expectClose(update.variables[2], expected.second, 1e-6);
  }
}

// Nothing to compare: a parameter of zeros, or one that nothing pulls (and no 0 / 0 where lanes of
// a vector are not there).
TEST(OptimizerTest, LambRatioOfNothingIsOne) {
  const std::string numbers = "{beta1 = 0.75 : f32, beta2 = 0.875 : f32, epsilon = 0.0 : f32}";
  Tensor zero = Tensor::of({3}, {0, 0, 0}), some = Tensor::of({3}, {1, 2, 3});
  Tensor c = coefficients(0.125f, 1, 1.25f, 1.5f);
  for (bool still : {false, true}) {
    std::vector<Tensor> operands{some, c, zero, zero, zero};
    if (still)
      operands = {zero, c, some, zero, some};
    Outcome ratio = run("%r = gc.lamb_ratio %0, %1, %2, %3, %4 " + numbers +
                            signature(operands, {"tensor<1xf32>"}),
                        operands);
    EXPECT_EQ(ratio.results[0][0], 1);
  }
}

const std::string kAdafactorNumbers = "{epsilon = 0.125 : f32, epsilon2 = 0.5 : f32, clip_update = "
                                      "1.25 : f32, clip_value = 0.25 : f32";

// A tensor that is outer x rows x columns x inner; with columns = 0 a vector of `rows`.
struct Factored {
  int64_t outer, rows, columns, inner;
};

// Lines along both dimensions, whole vectors and rests; variances below epsilon^2 and means below
// epsilon; a direction that is clipped, and one that is not.
TEST(OptimizerTest, AdafactorRatioAndAdafactor) {
  for (Factored f : {Factored{1, 67, 0, 1},
                     {1, 5, 7, 1},
                     {1, 3, 1031, 1},
                     {3, 4, 5, 6},
                     {6, 3, 3, 20},
                     {5, 1, 1, 33},
                     {2, 3, 1, 1}})
    for (float size : {0.03125f, 4.0f}) {
      bool isFactored = f.columns > 0;
      int64_t columns = std::max<int64_t>(f.columns, 1);
      int64_t elements = f.outer * f.rows * columns * f.inner;
      Tensor g = Tensor::random({elements}, 1), p = Tensor::random({elements}, 2, -size, size);
      Tensor c = coefficients(0.25f, 0.5f, 0.125f, 0.75f), e = Tensor::random({elements}, 3);
      Tensor rows = Tensor::random({f.outer, f.rows, f.inner}, 4, 0, size);
      Tensor cols = Tensor::random({f.outer, columns, f.inner}, 5, 0, size);
      Tensor means = Tensor::random({f.outer, f.inner}, 6, 0, 0.25f);
      std::vector<double> direction;
      double squares = 0, sizes = 0;
      for (int64_t i = 0; i < elements; ++i) {
        int64_t inner = i % f.inner, column = i / f.inner % columns, line = i / f.inner / columns;
        int64_t row = line % f.rows, outer = line / f.rows;
        double variance = rows[(outer * f.rows + row) * f.inner + inner];
        if (isFactored)
          variance *= cols[(outer * columns + column) * f.inner + inner] /
                      std::max<double>(means[outer * f.inner + inner], 0.125);
        double cut = std::clamp(0.5 * g[i], -0.25, 0.25);
        direction.push_back(cut / std::sqrt(std::max(variance, 0.125 * 0.125)));
        squares += direction.back() * direction.back();
        sizes += double(p[i]) * p[i];
      }
      double n = double(elements);
      double expected =
          std::max(0.5, std::sqrt(sizes / n)) / std::max(1.0, std::sqrt(squares / n) / 1.25);
      std::vector<Tensor> operands{g, c, p, rows};
      std::string names = "%0, %1, %2, %3";
      if (isFactored) {
        operands.push_back(cols);
        operands.push_back(means);
        names += ", %4, %5";
      }
      Outcome ratio = run("%r = gc.adafactor_ratio " + names + " " + kAdafactorNumbers + "}" +
                              signature(operands, {"tensor<1xf32>"}),
                          operands);
      expectClose(ratio.results[0], {expected}, 2e-6);

      operands[2] = Tensor::of({1}, {3});
      std::string types;
      for (const Tensor &operand : operands)
        types += (types.empty() ? "" : ", ") + operand.type();
      Outcome update =
          run("gc.adafactor @p average @e, " + names + " " + kAdafactorNumbers +
                  ", weight_decay = 0.5 : f32, average_decay = 0.75 : f32} : (" + types + ") -> ()",
              operands, {p, e}, {}, variables(g.type(), {"e"}));
      std::vector<double> ps, es;
      for (int64_t i = 0; i < elements; ++i) {
        ps.push_back(p[i] * (1 - 0.25 * 0.5) - 0.125 * 3 * direction[i]); // the smaller of lr and a
        es.push_back(0.75 * e[i] + 0.25 * ps.back());
      }
      expectClose(update.variables[0], ps, 2e-6);
      expectClose(update.variables[1], es, 2e-6);
    }
}

TEST(OptimizerTest, MeanSquares) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{1, 5, 7, 1},
                                     {1, 3, 1031, 1},
                                     {1, 2000, 40, 1},
                                     {4, 3, 3, 20},
                                     {5, 1, 1, 33},
                                     {1, 70, 1, 1}})
    for (int64_t d : {1, 2}) {
      Tensor g = Tensor::random(shape, 7);
      std::vector<int64_t> kept = {shape[0], shape[3 - d], shape[3]};
      std::vector<double> expected(size_t(kept[0] * kept[1] * kept[2]));
      for (int64_t i = 0; i < g.size(); ++i) {
        int64_t at[] = {i / (shape[3] * shape[2] * shape[1]), i / (shape[3] * shape[2]) % shape[1],
                        i / shape[3] % shape[2], i % shape[3]};
        expected[size_t((at[0] * kept[1] + at[3 - d]) * kept[2] + at[3])] +=
            double(g[i]) * g[i] / double(shape[size_t(d)]);
      }
      Outcome outcome = run("%r = gc.mean_square %0 {dimensions = array<i64: " + std::to_string(d) +
                                ">}" + signature({g}, {Tensor::random(kept, 1).type()}),
                            {g});
      expectClose(outcome.results[0], expected, 1e-6);
    }
}

TEST(OptimizerTest, AdafactorAverage) {
  Tensor x = Tensor::random({1, 35, 2}, 1, 0, 4), v = Tensor::random({1, 35, 2}, 2, 0, 4);
  Tensor c = coefficients(0.25f, 0.5f, 0.125f, 0.75f);
  Outcome outcome =
      run("gc.adafactor_average @v, %0, %1 : (" + x.type() + ", " + c.type() + ") -> ()", {x, c},
          {v}, {}, variables(x.type(), {"v"}));
  std::vector<double> expected;
  for (int64_t i = 0; i < v.size(); ++i)
    expected.push_back(v[i] + 0.75 * (0.25 * x[i] - v[i]));
  expectClose(outcome.variables[0], expected, 1e-6);
}

TEST(OptimizerTest, AdafactorCoefficients) {
  for (double decay : {-0.75, 0.0, -3.0})
    for (int64_t step : {0, 1, 2, 9, 1022, 1234567, 2000000000}) {
      Tensor generator = Tensor::ofInt64({2}, {42, step}), rates = Tensor::of({2}, {0.5f, 0.25f});
      Outcome outcome = run("%r = gc.optimizer_coefficients %0, %1 mode = adafactor {beta2 = " +
                                std::to_string(decay) + " : f32}" +
                                signature({generator, rates}, {"tensor<4xf32>"}),
                            {generator, rates});
      double t = double(step) + 1;
      EXPECT_EQ(outcome.results[0][0], step % 2 ? 0.25f : 0.5f);
      EXPECT_EQ(outcome.results[0][2], float(1 / std::sqrt(t)));
      EXPECT_NEAR(outcome.results[0][3] / std::pow(t, decay), 1, 1e-7) << t << ' ' << decay;
    }
}

TEST(OptimizerTest, CorrectedCoefficients) {
  for (int64_t step : {0, 1, 9, 1234567}) {
    Tensor generator = Tensor::ofInt64({2}, {42, step}), rates = Tensor::of({2}, {0.5f, 0.25f});
    Outcome outcome =
        run("%r = gc.optimizer_coefficients %0, %1 mode = corrected {beta1 = 0.9 : f32, beta2 = "
            "0.999 : f32}" +
                signature({generator, rates}, {"tensor<4xf32>"}),
            {generator, rates});
    double t = double(step) + 1;
    expectClose(outcome.results[0],
                {step % 2 ? 0.25 : 0.5, 1, 1 / (1 - std::pow(double(0.9f), t)),
                 1 / std::sqrt(1 - std::pow(double(0.999f), t))},
                2e-7);
  }
}

} // namespace
