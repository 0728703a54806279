//===- UpdateTest.cpp - Optimizers, running statistics, dropout -----------===//
#include "test/compiler/emitters/KernelRunner.h"

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

TEST(UpdateTest, PlainSgd) {
  Tensor g = Tensor::random({1031}, 1), p = Tensor::random({1031}, 2);
  Outcome outcome =
      run("gc.sgd @p, %0 {lr = 0.1 : f32, weight_decay = 0.01 : f32} : (" + g.type() + ") -> ()",
          {g}, {p}, {}, parameter("p", g.type()));
  std::vector<double> expected;
  for (int64_t i = 0; i < g.size(); ++i)
    expected.push_back(p[i] - 0.1 * (g[i] + 0.01 * p[i]));
  expectClose(outcome.variables[0], expected, 1e-6);
}

TEST(UpdateTest, SgdWithMomentum) {
  for (bool nesterov : {false, true}) {
    Tensor g = Tensor::random({53}, 1), p = Tensor::random({53}, 2), v = Tensor::random({53}, 3);
    Tensor c = Tensor::of({2}, {0.9f, 0.8f});
    Outcome outcome =
        run("gc.sgd @p velocity @v, %0, %1 {lr = 0.1 : f32, momentum = 0.9 : f32, "
            "nesterov = " +
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
    Tensor c = Tensor::of({2}, {0.002f, 1.5f});
    Outcome outcome =
        run(std::string("gc.") + (decoupled ? "adamw" : "adam") +
                " @p moments @m, @v, %0, %1 {lr = 0.001 : f32, beta1 = 0.9 : f32, "
                "beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, weight_decay = 0.1 : f32} "
                ": (" +
                g.type() + ", " + c.type() + ") -> ()",
            {g, c}, {p, m, v}, {},
            parameter("p", g.type()) + state("m", "optimizer", g.type()) +
                state("v", "optimizer", g.type()));
    std::vector<double> ps, ms, vs;
    for (int64_t i = 0; i < g.size(); ++i) {
      double q = decoupled ? p[i] * (1 - 0.001 * 0.1) : p[i];
      double d = decoupled ? g[i] : g[i] + 0.1 * p[i];
      ms.push_back(m[i] + 0.1 * (d - m[i]));
      vs.push_back(0.999 * v[i] + 0.001 * d * d);
      ps.push_back(q - 0.002 * ms.back() / (std::sqrt(vs.back()) * 1.5 + 1e-8));
    }
    expectClose(outcome.variables[0], ps, 1e-6);
    expectClose(outcome.variables[1], ms, 1e-6);
    expectClose(outcome.variables[2], vs, 1e-6);
  }
}

TEST(UpdateTest, Coefficients) {
  for (int64_t step : {0, 1, 9, 1234567}) {
    Tensor generator = Tensor::ofInt64({2}, {42, step});
    Outcome adam = run("%r = gc.optimizer_coefficients %0 mode = adam {lr = 0.001 : f32, beta1 = "
                       "0.9 : f32, beta2 = 0.999 : f32}" +
                           signature({generator}, {"tensor<2xf32>"}),
                       {generator});
    double t = double(step) + 1;
    expectClose(adam.results[0],
                {double(0.001f) / (1 - std::pow(double(0.9f), t)),
                 1 / std::sqrt(1 - std::pow(double(0.999f), t))},
                2e-7);
    Outcome momentum = run("%r = gc.optimizer_coefficients %0 mode = momentum {lr = 0.1 : f32, "
                           "beta1 = 0.9 : f32, beta2 = 0.25 : f32}" +
                               signature({generator}, {"tensor<2xf32>"}),
                           {generator});
    expectClose(momentum.results[0],
                step == 0 ? std::vector<double>{0, 1} : std::vector<double>{0.9, 0.75}, 1e-7);
  }
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
