//===- SoftmaxTest.cpp - Softmax, alone and inside attention --------------===//
#include "test/compiler/kernels/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

struct Size {
  int64_t rows, columns;
};
const Size sizes[] = {{1, 1}, {3, 10}, {7, 16}, {5, 65}, {11, 197}, {4, 1000}, {2, 3001}};

std::vector<double> softmaxOf(const Tensor &x, int64_t columns, std::vector<double> *logsumexp) {
  std::vector<double> y;
  for (int64_t r = 0; r < x.size() / columns; ++r) {
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < columns; ++c)
      largest = std::max(largest, double(x[r * columns + c]));
    for (int64_t c = 0; c < columns; ++c)
      sum += std::exp(x[r * columns + c] - largest);
    for (int64_t c = 0; c < columns; ++c)
      y.push_back(std::exp(x[r * columns + c] - largest) / sum);
    if (logsumexp)
      logsumexp->push_back(largest + std::log(sum));
  }
  return y;
}

TEST(SoftmaxTest, Forward) {
  for (Size size : sizes) {
    Tensor x = Tensor::random({size.rows, size.columns}, 1, -50, 50);
    std::vector<double> expected = softmaxOf(x, size.columns, nullptr);
    std::string text = "%r = gc.softmax %0" + signature({x}, {x.type()});
    Outcome apart = run(text, {x}), inPlace = run(text, {x}, {}, {0});
    expectClose(apart.results[0], expected, 5e-7, x.type());
    EXPECT_EQ(apart.results[0].bytes, inPlace.results[0].bytes) << "bits depend on the place";
  }
}

TEST(SoftmaxTest, Gradient) {
  for (Size size : sizes) {
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

TEST(SoftmaxTest, AttentionPieces) {
  for (int64_t sequence : {1, 17, 64, 197}) {
    int64_t batch = 2, heads = 3, size = 5;
    Tensor scores = Tensor::random({batch, heads, sequence, sequence}, 1, -9, 9);
    std::vector<double> logsumexp, p = softmaxOf(scores, sequence, &logsumexp);
    std::vector<Tensor> forward{scores, Tensor({batch, heads, sequence})};
    runNamed(
        [&](gc::cpu::KernelEmitter &e) { return e.emitAttentionSoftmax(batch, heads, sequence); },
        forward);
    expectClose(forward[0], p, 1e-6);
    expectClose(forward[1], logsumexp, 1e-6);

    std::vector<Tensor> again{scores, forward[1]};
    runNamed(
        [&](gc::cpu::KernelEmitter &e) {
          return e.emitAttentionProbabilities(batch, heads, sequence);
        },
        again);
    expectClose(again[0], p, 3e-6);

    Tensor dp = Tensor::random(scores.shape, 2);
    Tensor o = Tensor::random({batch, sequence, heads * size}, 3);
    Tensor dO = Tensor::random({batch, sequence, heads * size}, 4);
    std::vector<double> expected;
    for (int64_t i = 0; i < dp.size(); ++i) {
      int64_t row = i / sequence, s = row % sequence, h = row / sequence % heads;
      int64_t b = row / (sequence * heads);
      double d = 0;
      for (int64_t j = 0; j < size; ++j) {
        int64_t at = ((b * sequence + s) * heads + h) * size + j;
        d += double(o[at]) * dO[at];
      }
      expected.push_back(forward[0][i] * (dp[i] - d));
    }
    std::vector<Tensor> backward{forward[0], dp, o, dO};
    runNamed(
        [&](gc::cpu::KernelEmitter &e) {
          return e.emitAttentionScoreGradient(batch, heads, sequence, size);
        },
        backward);
    expectClose(backward[1], expected, 1e-6);
    EXPECT_EQ(backward[0].bytes, forward[0].bytes);
  }
}

} // namespace
