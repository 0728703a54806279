//===- AttentionPiecesTest.cpp - What the CPU has around attention's products ===//
#include "compiler/target/Products.h"
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
        [&](gc::cpu::LoopEmitter &e) {
          return e.emitAttentionSoftmax({batch, sequence, heads, size},
                                        mlir::Float32Type::get(e.getContext()));
        },
        forward);
    expectClose(forward[0], p, 1e-6);
    expectClose(forward[1], logsumexp, 1e-6);

    std::vector<Tensor> again{scores, forward[1]};
    runNamed(
        [&](gc::cpu::LoopEmitter &e) {
          return e.emitAttentionProbabilities({batch, sequence, heads, size},
                                              mlir::Float32Type::get(e.getContext()));
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

/// Scores with a bias of this shape, as the softmax sees them.
std::vector<double> masked(const Tensor &scores, const Tensor *bias, bool causal) {
  int64_t heads = scores.shape[1], sequence = scores.shape[3];
  std::vector<double> result;
  for (int64_t i = 0; i < scores.size(); ++i) {
    int64_t key = i % sequence, query = i / sequence % sequence;
    int64_t head = i / (sequence * sequence) % heads, sample = i / (sequence * sequence * heads);
    double score = scores[i];
    if (bias) {
      auto in = [&](size_t dim, int64_t at) { return bias->shape[dim] == 1 ? 0 : at; };
      int64_t row = (in(0, sample) * bias->shape[1] + in(1, head)) * bias->shape[2] + in(2, query);
      score += (*bias)[row * sequence + key];
    }
    result.push_back(causal && key > query ? -INFINITY : score);
  }
  return result;
}

TEST(AttentionPiecesTest, BiasAndCausal) {
  const int64_t batch = 2, heads = 3;
  for (int64_t sequence : {1, 17, 35})
    for (bool causal : {false, true})
      for (std::vector<int64_t> shape : {std::vector<int64_t>{},
                                         {1, 3, sequence, sequence},
                                         {2, 1, 1, sequence},
                                         {2, 3, sequence, sequence}}) {
        gc::AttentionShape s{batch, sequence, heads, 4, causal};
        Tensor scores = Tensor::random({batch, heads, sequence, sequence}, 1, -9, 9);
        Tensor bias = Tensor::random(shape, 2, -3, 3);
        std::copy(shape.begin(), shape.end(), s.bias.begin());
        std::vector<double> seen = masked(scores, s.hasBias() ? &bias : nullptr, causal);
        std::vector<double> logsumexp, p;
        for (int64_t row = 0; row < scores.size() / sequence; ++row) {
          double sum = 0;
          for (int64_t c = 0; c < sequence; ++c)
            sum += std::exp(seen[row * sequence + c]);
          logsumexp.push_back(std::log(sum));
          for (int64_t c = 0; c < sequence; ++c)
            p.push_back(std::exp(seen[row * sequence + c]) / sum);
        }
        auto f32 = [](gc::cpu::LoopEmitter &e) { return mlir::Float32Type::get(e.getContext()); };
        std::vector<Tensor> forward{scores, Tensor({batch, heads, sequence})};
        if (s.hasBias())
          forward.push_back(bias);
        runNamed([&](gc::cpu::LoopEmitter &e) { return e.emitAttentionSoftmax(s, f32(e)); },
                 forward);
        expectClose(forward[0], p, 2e-6);
        expectClose(forward[1], logsumexp, 2e-6);
        std::vector<Tensor> again = forward;
        again[0] = scores;
        runNamed([&](gc::cpu::LoopEmitter &e) { return e.emitAttentionProbabilities(s, f32(e)); },
                 again);
        expectClose(again[0], p, 6e-6);
      }
}

// What two chunks of samples add to the gradient of a bias that all of them share.
TEST(AttentionPiecesTest, BiasGradient) {
  const int64_t batch = 2, heads = 3, sequence = 17, matrix = sequence * sequence;
  for (std::vector<int64_t> shape : {std::vector<int64_t>{1, 3, sequence, sequence},
                                     {1, 1, sequence, sequence},
                                     {2, 1, sequence, sequence}}) {
    gc::AttentionShape s{batch, sequence, heads, 4};
    std::copy(shape.begin(), shape.end(), s.bias.begin());
    Tensor first = Tensor::random({batch, heads, sequence, sequence}, 1);
    Tensor second = Tensor::random({batch, heads, sequence, sequence}, 2);
    std::vector<double> expected(shape[0] * shape[1] * matrix);
    for (int64_t i = 0; i < first.size(); ++i) {
      int64_t sample = i / (matrix * heads), head = i / matrix % heads;
      int64_t row = (shape[0] == 1 ? 0 : sample) * shape[1] + (shape[1] == 1 ? 0 : head);
      expected[row * matrix + i % matrix] += first[i] + (shape[0] == 1 ? double(second[i]) : 0);
    }
    auto add = [&](const Tensor &scores, Tensor &gradient, bool isFirst) {
      std::vector<Tensor> buffers{scores, gradient};
      runNamed(
          [&](gc::cpu::LoopEmitter &e) {
            return e.emitAttentionBiasGradient(s, isFirst, mlir::Float32Type::get(e.getContext()));
          },
          buffers);
      gradient = buffers[1];
    };
    Tensor gradient = Tensor::random(shape, 3); // what is there does not count
    add(first, gradient, true);
    if (shape[0] == 1)
      add(second, gradient, false);
    expectClose(gradient, expected, 1e-6);
  }
}

} // namespace
