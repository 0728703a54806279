//===- NormTest.cpp - Statistics and normalization ------------------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

struct NormSize {
  int64_t rows, channels;
};

TEST(NormTest, BatchStats) {
  for (NormSize size : {NormSize{1, 1},
                        {2, 3},
                        {50021, 8},
                        {1009, 64},
                        {50, 2048},
                        {40000, 5},
                        {1, 33},
                        {257, 37},
                        {3001, 130}}) {
    std::vector<int64_t> full{size.rows, 1, 1, size.channels};
    // A mean far from zero: E[x^2] - E[x]^2 would lose five digits here.
    Tensor x = Tensor::random(full, 1, 99, 101);
    std::vector<double> mean(size.channels), rstd(size.channels);
    for (int64_t i = 0; i < x.size(); ++i)
      mean[i % size.channels] += x[i] / double(size.rows);
    for (int64_t i = 0; i < x.size(); ++i) {
      double deviation = x[i] - mean[i % size.channels];
      rstd[i % size.channels] += deviation * deviation / double(size.rows);
    }
    for (double &value : rstd)
      value = 1 / std::sqrt(value + 1e-5);
    std::string channel = typeOf({size.channels});
    Outcome outcome = run("%r:2 = gc.batch_stats %0 {epsilon = 1.0e-5 : f32}" +
                              signature({x}, {channel, channel}),
                          {x});
    // The CPU adds blocks of 64 rows (each about 6400) to a sum. For 3001 rows that are 47
    // additions on the way to 3e5, where floats are 1/32 apart: errors deviate by 1/32 / sqrt(12)
    // at most, 0.006 on the average, and together by 0.006 * sqrt(47) = 0.04; over 3001
    // rows 1.4e-5, 1.4e-7 of the mean at most. Many channels: three deviations.
    expectClose(outcome.results[0], mean, 4e-7, "mean of " + x.type());
    expectClose(outcome.results[1], rstd, size.rows == 1 ? 1e-2 : 1e-5, "rstd of " + x.type());
  }
}

TEST(NormTest, LayerNorm) {
  for (NormSize size : {NormSize{1, 1},
                        {3, 7},
                        {5, 16},
                        {11, 37},
                        {7, 384},
                        {3, 768},
                        {2, 4099},
                        {131, 20},
                        {2, 8404}}) {
    std::vector<int64_t> full{1, size.rows, size.channels};
    Tensor x = Tensor::random(full, 1, 9, 11), w = Tensor::random({size.channels}, 2);
    Tensor b = Tensor::random({size.channels}, 3);
    std::vector<double> y, means, rstds;
    for (int64_t r = 0; r < size.rows; ++r) {
      double mean = 0, variance = 0;
      for (int64_t c = 0; c < size.channels; ++c)
        mean += x[r * size.channels + c] / double(size.channels);
      for (int64_t c = 0; c < size.channels; ++c)
        variance += std::pow(x[r * size.channels + c] - mean, 2) / double(size.channels);
      means.push_back(mean);
      rstds.push_back(1 / std::sqrt(variance + 1e-5));
      for (int64_t c = 0; c < size.channels; ++c)
        y.push_back((x[r * size.channels + c] - mean) * rstds.back() * w[c] + b[c]);
    }
    std::string stats = typeOf({1, size.rows});
    Outcome outcome = run("%r:3 = gc.layer_norm %0, %1, %2 {epsilon = 1.0e-5 : f32}" +
                              signature({x, w, b}, {x.type(), stats, stats}),
                          {x, w, b});
    expectClose(outcome.results[0], y, 1e-5, x.type());
    expectClose(outcome.results[1], means, 1e-6, x.type());
    expectClose(outcome.results[2], rstds, 1e-6, x.type());
  }
}

TEST(NormTest, LayerNormGrad) {
  for (NormSize size :
       {NormSize{1, 1}, {3, 7}, {301, 37}, {150, 384}, {2, 4099}, {1031, 36}, {3, 8404}}) {
    std::vector<int64_t> full{size.rows, size.channels};
    Tensor dy = Tensor::random(full, 1), x = Tensor::random(full, 2);
    Tensor mean = Tensor::random({size.rows}, 3, -0.1f, 0.1f);
    Tensor rstd = Tensor::random({size.rows}, 4, 0.5f, 2), w = Tensor::random({size.channels}, 5);
    std::vector<double> dx, dw(size.channels), db(size.channels);
    for (int64_t r = 0; r < size.rows; ++r) {
      double g = 0, gh = 0;
      auto hat = [&](int64_t c) { return (double(x[r * size.channels + c]) - mean[r]) * rstd[r]; };
      auto gradient = [&](int64_t c) { return double(dy[r * size.channels + c]); };
      for (int64_t c = 0; c < size.channels; ++c) {
        g += gradient(c) * w[c] / double(size.channels);
        gh += gradient(c) * w[c] * hat(c) / double(size.channels);
        dw[c] += gradient(c) * hat(c);
        db[c] += gradient(c);
      }
      for (int64_t c = 0; c < size.channels; ++c)
        dx.push_back(rstd[r] * (gradient(c) * w[c] - g - hat(c) * gh));
    }
    std::vector<Tensor> operands{dy, x, mean, rstd, w};
    Outcome outcome = run("%r:3 = gc.layer_norm_grad %0, %1, %2, %3, %4" +
                              signature(operands, {x.type(), w.type(), w.type()}),
                          operands);
    expectClose(outcome.results[0], dx, 2e-6, x.type());
    // A chunk of rows is summed in order.
    double tolerance = sumTolerance(double(size.rows), 0.8, double(size.rows));
    expectClose(outcome.results[1], dw, tolerance, x.type());
    expectClose(outcome.results[2], db, tolerance, x.type());
  }
}

struct GroupSize {
  int64_t batch, height, width, channels, groups;
  int64_t rows() const { return height * width; }
};
const GroupSize groupSizes[] = {{1, 1, 1, 1, 1},    {2, 3, 5, 6, 2},     {3, 7, 7, 16, 16},
                                {2, 101, 67, 8, 2}, {1, 300, 40, 24, 3}, {37, 2, 3, 33, 11}};

struct GroupStatistics {
  std::vector<double> mean, rstd; // [batch, groups]
};

GroupStatistics statisticsOf(const Tensor &x, GroupSize s) {
  int64_t per = s.channels / s.groups;
  double n = double(s.rows() * per);
  GroupStatistics result{std::vector<double>(s.batch * s.groups),
                         std::vector<double>(s.batch * s.groups)};
  auto groupOf = [&](int64_t i) {
    return i / (s.rows() * s.channels) * s.groups + i % s.channels / per;
  };
  for (int64_t i = 0; i < x.size(); ++i)
    result.mean[groupOf(i)] += x[i] / n;
  for (int64_t i = 0; i < x.size(); ++i)
    result.rstd[groupOf(i)] += std::pow(x[i] - result.mean[groupOf(i)], 2) / n;
  for (double &value : result.rstd)
    value = 1 / std::sqrt(value + 1e-5);
  return result;
}

TEST(NormTest, GroupNorm) {
  for (GroupSize s : groupSizes) {
    Tensor x = Tensor::random({s.batch, s.height, s.width, s.channels}, 1, 2, 4);
    Tensor w = Tensor::random({s.channels}, 2), b = Tensor::random({s.channels}, 3);
    GroupStatistics statistics = statisticsOf(x, s);
    std::vector<double> y;
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t c = i % s.channels;
      int64_t g = i / (s.rows() * s.channels) * s.groups + c / (s.channels / s.groups);
      y.push_back((x[i] - statistics.mean[g]) * statistics.rstd[g] * w[c] + b[c]);
    }
    std::string stats = typeOf({s.batch, s.groups});
    std::string text = "%r:3 = gc.group_norm %0, %1, %2 {epsilon = 1.0e-5 : f32, groups = " +
                       std::to_string(s.groups) + " : i64}" +
                       signature({x, w, b}, {x.type(), stats, stats});
    Outcome outcome = run(text, {x, w, b});
    Outcome streamed = run(text, {x, w, b}, {}, {}, "", /*streamBytes=*/1);
    EXPECT_EQ(streamed.results[0].bytes, outcome.results[0].bytes) << "bits depend on the cache";
    expectClose(outcome.results[0], y, 5e-6, x.type());
    expectClose(outcome.results[1], statistics.mean, 1e-6, x.type());
    expectClose(outcome.results[2], statistics.rstd, 2e-6, x.type());
  }
}

TEST(NormTest, GroupNormGrad) {
  for (GroupSize s : groupSizes) {
    std::vector<int64_t> full{s.batch, s.height, s.width, s.channels};
    Tensor dy = Tensor::random(full, 1), x = Tensor::random(full, 2);
    Tensor mean = Tensor::random({s.batch, s.groups}, 3, -0.1f, 0.1f);
    Tensor rstd = Tensor::random({s.batch, s.groups}, 4, 0.5f, 2);
    Tensor w = Tensor::random({s.channels}, 5);
    int64_t per = s.channels / s.groups;
    double n = double(s.rows() * per);
    std::vector<double> dx, dw(s.channels), db(s.channels);
    std::vector<double> g(s.batch * s.groups), gh(s.batch * s.groups);
    auto groupOf = [&](int64_t i) {
      return i / (s.rows() * s.channels) * s.groups + i % s.channels / per;
    };
    auto hat = [&](int64_t i) { return (double(x[i]) - mean[groupOf(i)]) * rstd[groupOf(i)]; };
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t c = i % s.channels;
      g[groupOf(i)] += double(dy[i]) * w[c] / n;
      gh[groupOf(i)] += double(dy[i]) * w[c] * hat(i) / n;
      dw[c] += dy[i] * hat(i);
      db[c] += dy[i];
    }
    for (int64_t i = 0; i < x.size(); ++i)
      dx.push_back(rstd[groupOf(i)] *
                   (double(dy[i]) * w[i % s.channels] - g[groupOf(i)] - hat(i) * gh[groupOf(i)]));
    std::vector<Tensor> operands{dy, x, mean, rstd, w};
    std::string text =
        "%r:3 = gc.group_norm_grad %0, %1, %2, %3, %4 {groups = " + std::to_string(s.groups) +
        " : i64}" + signature(operands, {x.type(), w.type(), w.type()});
    Outcome outcome = run(text, operands);
    Outcome streamed = run(text, operands, {}, {}, "", /*streamBytes=*/1);
    EXPECT_EQ(streamed.results[0].bytes, outcome.results[0].bytes) << "bits depend on the cache";
    expectClose(outcome.results[0], dx, 2e-6, x.type());
    double tolerance = sumTolerance(double(s.batch * s.rows()), 0.8);
    expectClose(outcome.results[1], dw, tolerance, x.type());
    expectClose(outcome.results[2], db, tolerance, x.type());
  }
}

} // namespace
