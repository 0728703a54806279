//===- UpdateTest.cpp - Optimizers, running statistics, dropout -----------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

std::string parameter(const std::string &name, const std::string &type) {
  return "gc.parameter @" + name + " : " + type + " = #gc.init<constant, [0.0]>\n";
}
std::string state(const std::string &name, const std::string &role, const std::string &type) {
  return "gc.state @" + name + " " + role + " : " + type + " = #gc.init<constant, [0.0]>\n";
}

TEST(UpdateTest, Accumulate) {
  Tensor g = Tensor::random({7, 211}, 1), a = Tensor::random({7, 211}, 2);
  Outcome outcome =
      run("gc.accumulate @a, %0 : " + g.type(), {g}, {a}, {}, state("a", "accumulator", g.type()));
  std::vector<double> expected;
  for (int64_t i = 0; i < g.size(); ++i)
    expected.push_back(double(a[i]) + g[i]);
  expectClose(outcome.variables[0], expected, 1e-7);
}

TEST(UpdateTest, Clear) {
  Tensor a = Tensor::random({7, 211}, 2);
  Outcome outcome =
      run("gc.clear @a : " + a.type(), {}, {a}, {}, state("a", "accumulator", a.type()));
  expectClose(outcome.variables[0], std::vector<double>(a.size(), 0), 0);
}

// (lr, s, a, b)
Tensor coefficients(float lr, float first = 0, float second = 1, float scale = 1) {
  return Tensor::of({4}, {lr, scale, first, second});
}

TEST(UpdateTest, PlainSgd) {
  Tensor g = Tensor::random({1031}, 1), p = Tensor::random({1031}, 2), c = coefficients(0.1f);
  Outcome outcome = run("gc.sgd @p, %0, %1 {weight_decay = 0.01 : f32} : (" + g.type() + ", " +
                            c.type() + ") -> ()",
                        {g, c}, {p}, {}, parameter("p", g.type()));
  std::vector<double> expected;
  for (int64_t i = 0; i < g.size(); ++i)
    expected.push_back(p[i] - 0.1 * (g[i] + 0.01 * p[i]));
  expectClose(outcome.variables[0], expected, 1e-6);
}

// Without decay, scale and group, nothing is computed but p - lr * g, to the bit.
TEST(UpdateTest, PlainSgdIsOneFormula) {
  Tensor g = Tensor::random({1031}, 1), p = Tensor::random({1031}, 2), c = coefficients(0.1f);
  Outcome outcome = run("gc.sgd @p, %0, %1 : (" + g.type() + ", " + c.type() + ") -> ()", {g, c},
                        {p}, {}, parameter("p", g.type()));
  for (int64_t i = 0; i < g.size(); ++i) {
    float product = 0.1f * g[i];
    EXPECT_EQ(outcome.variables[0][i], p[i] - product);
  }
}

TEST(UpdateTest, SgdWithMomentum) {
  for (bool nesterov : {false, true}) {
    Tensor g = Tensor::random({53}, 1), p = Tensor::random({53}, 2), v = Tensor::random({53}, 3);
    Tensor c = coefficients(0.1f, 0.9f, 0.8f);
    Outcome outcome =
        run("gc.sgd @p velocity @v, %0, %1 {momentum = 0.9 : f32, nesterov = " +
                std::string(nesterov ? "true" : "false") + "} : (" + g.type() + ", " + c.type() +
                ") -> ()",
            {g, c}, {p, v}, {}, parameter("p", g.type()) + state("v", "optimizer", g.type()));
    std::vector<double> parameters, velocities;
    for (int64_t i = 0; i < g.size(); ++i) {
      velocities.push_back(0.9 * v[i] + 0.8 * g[i]);
      double direction = nesterov ? g[i] + 0.9 * velocities.back() : velocities.back();
      parameters.push_back(p[i] - 0.1 * direction);
    }
    expectClose(outcome.variables[0], parameters, 1e-6);
    expectClose(outcome.variables[1], velocities, 1e-6);
  }
}

TEST(UpdateTest, AdamAndAdamW) {
  for (bool decoupled : {false, true}) {
    Tensor g = Tensor::random({3, 67}, 1), p = Tensor::random({3, 67}, 2);
    Tensor m = Tensor::random({3, 67}, 3), v = Tensor::random({3, 67}, 4, 0.01f, 1);
    Tensor c = coefficients(0.001f, 0.002f, 1.5f);
    Outcome outcome =
        run(std::string("gc.") + (decoupled ? "adamw" : "adam") +
                " @p moments @m, @v, %0, %1 {beta1 = 0.9 : f32, beta2 = 0.999 : f32, "
                "epsilon = 1.0e-8 : f32, weight_decay = 0.1 : f32, lr_scale = 0.5 : f32} : (" +
                g.type() + ", " + c.type() + ") -> ()",
            {g, c}, {p, m, v}, {},
            parameter("p", g.type()) + state("m", "optimizer", g.type()) +
                state("v", "optimizer", g.type()));
    std::vector<double> ps, ms, vs;
    for (int64_t i = 0; i < g.size(); ++i) {
      double q = decoupled ? p[i] * (1 - 0.0005 * 0.1) : p[i];
      double d = decoupled ? g[i] : g[i] + 0.1 * p[i];
      ms.push_back(m[i] + 0.1 * (d - m[i]));
      vs.push_back(0.999 * v[i] + 0.001 * d * d);
      ps.push_back(q - 0.001 * ms.back() / (std::sqrt(vs.back()) * 1.5 + 1e-8));
    }
    expectClose(outcome.variables[0], ps, 1e-6);
    expectClose(outcome.variables[1], ms, 1e-6);
    expectClose(outcome.variables[2], vs, 1e-6);
  }
}

TEST(UpdateTest, ScalesCutsAndAverages) {
  Tensor g = Tensor::random({1031}, 1), p = Tensor::random({1031}, 2);
  Tensor average = Tensor::random({1031}, 3), c = coefficients(0.5f, 0, 1, 0.25f);
  Outcome outcome =
      run("gc.sgd @p average @e, %0, %1 {lr_scale = 0.1 : f32, clip_value = 0.125 : f32, "
          "average_decay = 0.75 : f32} : (" +
              g.type() + ", " + c.type() + ") -> ()",
          {g, c}, {p, average}, {}, parameter("p", g.type()) + state("e", "optimizer", g.type()));
  std::vector<double> parameters, averages;
  int cut = 0;
  for (int64_t i = 0; i < g.size(); ++i) {
    double scaled = 0.25 * g[i], d = std::clamp(scaled, -0.125, 0.125);
    cut += d != scaled;
    parameters.push_back(p[i] - 0.05 * d);
    averages.push_back(0.75 * average[i] + 0.25 * parameters.back());
  }
  EXPECT_GT(cut, 100);
  expectClose(outcome.variables[0], parameters, 1e-6);
  expectClose(outcome.variables[1], averages, 1e-6);
}

// A loss that is not a number must not be hidden: cutting keeps it in the weights.
TEST(UpdateTest, CuttingKeepsNaN) {
  Tensor g = Tensor::of({2}, {NAN, INFINITY}), p = Tensor::of({2}, {1, 1}), c = coefficients(1);
  Outcome outcome =
      run("gc.sgd @p, %0, %1 {clip_value = 0.5 : f32} : (" + g.type() + ", " + c.type() + ") -> ()",
          {g, c}, {p}, {}, parameter("p", g.type()));
  EXPECT_TRUE(std::isnan(outcome.variables[0][0]));
  EXPECT_EQ(outcome.variables[0][1], 0.5f);
}

TEST(UpdateTest, SquareSum) {
  for (int64_t size : {1, 5, 4096, 4097, 100003}) {
    Tensor x = Tensor::random({size}, 1), before = Tensor::of({2}, {1e6f, 0.01f});
    double sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += double(x[i]) * x[i];
    Outcome alone = run("%r = gc.square_sum %0" + signature({x}, {"tensor<2xf32>"}), {x});
    Outcome added =
        run("%r = gc.square_sum %0, %1" + signature({x, before}, {"tensor<2xf32>"}), {x, before});
    auto total = [](const Outcome &outcome) {
      return double(outcome.results[0][0]) + outcome.results[0][1];
    };
    EXPECT_NEAR(total(alone), sum, 1e-6 * sum) << size;
    // What is below the last digit of a million is not lost.
    double exact = 1e6 + double(0.01f) + total(alone);
    EXPECT_NEAR(total(added), exact, 1e-7) << size;
    EXPECT_EQ(added.results[0][0], float(exact)) << size;
  }
}

TEST(UpdateTest, SquareSumOfInfinityIsInfinity) {
  Tensor x = Tensor::of({2}, {INFINITY, 1}), nan = Tensor::of({2}, {NAN, 1});
  EXPECT_EQ(run("%r = gc.square_sum %0" + signature({x}, {"tensor<2xf32>"}), {x}).results[0][0],
            INFINITY);
  EXPECT_TRUE(std::isnan(
      run("%r = gc.square_sum %0" + signature({nan}, {"tensor<2xf32>"}), {nan}).results[0][0]));
}

TEST(UpdateTest, Coefficients) {
  Tensor rates = Tensor::random({256}, 7, 0.001f, 0.1f);
  for (int64_t step : {0, 1, 9, 255, 256, 1234567}) {
    Tensor generator = Tensor::ofInt64({2}, {42, step});
    double lr = rates[step % 256], t = double(step) + 1;
    auto of = [&](const std::string &mode) {
      return run("%r = gc.optimizer_coefficients %0, %1 mode = " + mode +
                     signature({generator, rates}, {"tensor<4xf32>"}),
                 {generator, rates})
          .results[0];
    };
    expectClose(of("adam {beta1 = 0.9 : f32, beta2 = 0.999 : f32}"),
                {lr, 1, lr / (1 - std::pow(double(0.9f), t)),
                 1 / std::sqrt(1 - std::pow(double(0.999f), t))},
                2e-7);
    expectClose(
        of("momentum {beta1 = 0.9 : f32, beta2 = 0.25 : f32}"),
        step == 0 ? std::vector<double>{lr, 1, 0, 1} : std::vector<double>{lr, 1, 0.9, 0.75}, 1e-7);
    expectClose(of("plain"), {lr, 1, 0, 1}, 1e-7);
  }
}

TEST(UpdateTest, CoefficientsClip) {
  Tensor generator = Tensor::ofInt64({2}, {42, 3}), rates = Tensor::of({2}, {0.5f, 0.25f});
  auto scaleOf = [&](float nearest, float missing) {
    Tensor squares = Tensor::of({2}, {nearest, missing});
    return run("%r = gc.optimizer_coefficients %0, %1, %2 mode = plain {clip_norm = 2.0 : f32}" +
                   signature({generator, rates, squares}, {"tensor<4xf32>"}),
               {generator, rates, squares})
        .results[0][1];
  };
  EXPECT_EQ(scaleOf(1, 0), 1);
  EXPECT_NEAR(scaleOf(4, 0), 2 / (2 + 1e-6), 1e-7);
  EXPECT_NEAR(scaleOf(100, -36), 2 / (8 + 1e-6), 1e-8);
  EXPECT_EQ(scaleOf(INFINITY, 0), 0);
  EXPECT_TRUE(std::isnan(scaleOf(NAN, 0)));
}

TEST(UpdateTest, AdvanceAndGradientSeed) {
  Tensor generator = Tensor::ofInt64({2}, {7, 41});
  // Advance runs once per execution of its single item.
  Outcome outcome =
      run("gc.advance @g", {}, {generator}, {}, state("g", "generator", "tensor<2xi64>"));
  EXPECT_EQ(outcome.variables[0].data<int64_t>()[0], 7);
  EXPECT_EQ(outcome.variables[0].data<int64_t>()[1], 42);
  // Micro-batches are counted modulo their number.
  for (int64_t index : {0, 2, 3}) {
    outcome = run("gc.advance @m {modulo = 4 : i64}", {}, {Tensor::ofInt64({1}, {index})}, {},
                  state("m", "accumulator", "tensor<1xi64>"));
    EXPECT_EQ(outcome.variables[0].data<int64_t>()[0], (index + 1) % 4);
  }
  Outcome seed = run("%r = gc.gradient_seed {scale = 0.25 : f32} : () -> tensor<f32>", {});
  EXPECT_EQ(seed.results[0][0], 0.25f);
}

TEST(UpdateTest, RunningStatistics) {
  Tensor mean = Tensor::random({37}, 1), rstd = Tensor::random({37}, 2, 0.5f, 2);
  Tensor runningMean = Tensor::random({37}, 3), runningVariance = Tensor::random({37}, 4, 0.5f, 2);
  Outcome outcome = run(
      "gc.running_stats @m, @v, %0, %1 {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, "
      "count = 99 : i64} : " +
          mean.type() + ", " + rstd.type(),
      {mean, rstd}, {runningMean, runningVariance}, {},
      state("m", "running_statistic", mean.type()) + state("v", "running_statistic", mean.type()));
  std::vector<double> means, variances;
  for (int64_t i = 0; i < mean.size(); ++i) {
    means.push_back(runningMean[i] + 0.1 * (mean[i] - runningMean[i]));
    double batch = (1 / (double(rstd[i]) * rstd[i]) - 1e-5) * 99 / 98;
    variances.push_back(runningVariance[i] + 0.1 * (batch - runningVariance[i]));
  }
  expectClose(outcome.variables[0], means, 1e-6);
  expectClose(outcome.variables[1], variances, 1e-6);
}

// The published answer of Philox4x32-10 for counter 0 and key 0 starts with 6627e8d5 e169c58d
// bc57ac4c 9b00dbd8 (the known-answer test of its authors).
std::array<uint32_t, 4> philox(uint64_t position, uint64_t step, uint32_t key0, uint32_t key1) {
  std::array<uint32_t, 4> c{uint32_t(position), uint32_t(position >> 32), uint32_t(step),
                            uint32_t(step >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(c[0]) * 0xD2511F53u, b = uint64_t(c[2]) * 0xCD9E8D57u;
    c = {uint32_t(b >> 32) ^ c[1] ^ key0, uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ key1,
         uint32_t(a)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

TEST(UpdateTest, ReferencePhiloxGivesThePublishedAnswer) {
  EXPECT_EQ(philox(0, 0, 0, 0),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(UpdateTest, Dropout) {
  for (int64_t size : {1, 3, 4, 1021, 4099}) {
    Tensor x = Tensor::random({size}, 1, 1, 2);
    int64_t seed = 0x123456789abcdef, step = 5;
    Tensor generator = Tensor::ofInt64({2}, {seed, step});
    std::string text = "%r = gc.dropout %0, %1 {probability = 0.3 : f32, id = 3 : i64}" +
                       signature({x, generator}, {x.type()});
    std::vector<double> expected;
    for (int64_t i = 0; i < size; ++i) {
      uint32_t word = philox(i / 4, step, uint32_t(seed), uint32_t(seed >> 32) ^ 3)[i % 4];
      expected.push_back(word >= uint32_t(double(0.3f) * 4294967296.0) ? x[i] / (1 - 0.3) : 0);
    }
    expectClose(run(text, {x, generator}).results[0], expected, 1e-6);
    expectClose(run(text, {x, generator}, {}, {0, -1}).results[0], expected, 1e-6, "in place");
  }
}

TEST(UpdateTest, DropoutOfAMicroBatch) {
  for (int64_t size : {3, 4, 1021}) {
    Tensor x = Tensor::random({size}, 1, 1, 2);
    int64_t seed = 0x123456789abcdef, step = 5, micro = 2, blocks = (size + 3) / 4;
    Tensor generator = Tensor::ofInt64({2}, {seed, step}), index = Tensor::ofInt64({1}, {micro});
    std::string text = "%r = gc.dropout %0, %1, %2 {probability = 0.3 : f32, id = 3 : i64}" +
                       signature({x, generator, index}, {x.type()});
    std::vector<double> expected;
    for (int64_t i = 0; i < size; ++i) {
      uint32_t word =
          philox(micro * blocks + i / 4, step, uint32_t(seed), uint32_t(seed >> 32) ^ 3)[i % 4];
      expected.push_back(word >= uint32_t(double(0.3f) * 4294967296.0) ? x[i] / (1 - 0.3) : 0);
    }
    expectClose(run(text, {x, generator, index}).results[0], expected, 1e-6);
  }
}

} // namespace
