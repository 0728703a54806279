//===- AttentionPiecesTest.cpp - What the CPU has around attention's products ===//
#include "test/compiler/emitters/CpuKernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

TEST(AttentionPiecesTest, SoftmaxAndGradient) {
  for (int64_t sequence : {1, 17, 64, 197}) {
    int64_t batch = 2, heads = 3, size = 5;
    Tensor scores = Tensor::random({batch, heads, sequence, sequence}, 1, -9, 9);
    std::vector<double> logsumexp, p;
    for (int64_t row = 0; row < scores.size() / sequence; ++row) {
      double sum = 0;
      for (int64_t c = 0; c < sequence; ++c)
        sum += std::exp(double(scores[row * sequence + c]));
      logsumexp.push_back(std::log(sum));
      for (int64_t c = 0; c < sequence; ++c)
        p.push_back(std::exp(double(scores[row * sequence + c])) / sum);
    }
    std::vector<Tensor> forward{scores, Tensor({batch, heads, sequence})};
    runNamed(
        [&](gc::cpu::LoopEmitter &e) { return e.emitAttentionSoftmax(batch, heads, sequence); },
        forward);
    expectClose(forward[0], p, 1e-6);
    expectClose(forward[1], logsumexp, 1e-6);

    std::vector<Tensor> again{scores, forward[1]};
    runNamed(
        [&](gc::cpu::LoopEmitter &e) {
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
        [&](gc::cpu::LoopEmitter &e) {
          return e.emitAttentionScoreGradient(batch, heads, sequence, size,
                                              mlir::Float32Type::get(e.getContext()));
        },
        backward);
    expectClose(backward[1], expected, 1e-6);
    EXPECT_EQ(backward[0].bytes, forward[0].bytes);
  }
}

} // namespace
