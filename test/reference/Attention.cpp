//===- Attention.cpp - attention, softmax, tokens in double ---------------===//
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace gc::reference {
namespace {

void softmax(const Tensor &x, Tensor &y) {
  int64_t n = x.channels();
  for (int64_t r = 0; r < x.rows(); ++r) {
    double largest = x[r * n], sum = 0;
    for (int64_t c = 0; c < n; ++c)
      largest = std::max(largest, x[r * n + c]);
    for (int64_t c = 0; c < n; ++c)
      sum += y[r * n + c] = std::exp(x[r * n + c] - largest);
    for (int64_t c = 0; c < n; ++c)
      y[r * n + c] /= sum;
  }
}

// Where part 0 (query), 1 (key) or 2 (value) of [batch, sequence, 3 * heads * d] is.
struct Packed {
  int64_t batch, length, heads, d;
  Packed(const Tensor &qkv, int64_t heads)
      : batch(qkv.shape[0]), length(qkv.shape[1]), heads(heads), d(qkv.shape[2] / 3 / heads) {}
  int64_t at(int64_t part, int64_t b, int64_t h, int64_t s, int64_t e) const {
    return ((b * length + s) * 3 + part) * heads * d + h * d + e;
  }
  int64_t out(int64_t b, int64_t h, int64_t s, int64_t e) const {
    return (b * length + s) * heads * d + h * d + e;
  }
  double score(const Tensor &qkv, int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (causal && j > i)
      return -INFINITY;
    double sum = 0;
    for (int64_t e = 0; e < d; ++e)
      sum += qkv[at(0, b, h, i, e)] * qkv[at(1, b, h, j, e)];
    sum /= std::sqrt(static_cast<double>(d));
    return bias ? sum + (*bias)[biasAt(*bias, b, h, i, j)] : sum;
  }
  // Where a bias, or its gradient, has what is added to a score.
  static int64_t biasAt(const Tensor &bias, int64_t b, int64_t h, int64_t i, int64_t j) {
    auto in = [&](size_t dim, int64_t place) { return bias.shape[dim] == 1 ? 0 : place; };
    return ((in(0, b) * bias.shape[1] + in(1, h)) * bias.shape[2] + in(2, i)) * bias.shape[3] + j;
  }
  const Tensor *bias = nullptr;
  bool causal = false;
  template <typename F> void forEachRow(F f) const {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < length; ++i)
          f(b, h, i, (b * heads + h) * length + i);
  }
};

void attention(const Packed &p, const Tensor &qkv, Tensor &o, Tensor &lse) {
  p.forEachRow([&](int64_t b, int64_t h, int64_t i, int64_t row) {
    std::vector<double> scores(p.length);
    double largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < p.length; ++j)
      largest = std::max(largest, scores[j] = p.score(qkv, b, h, i, j));
    for (double s : scores)
      sum += std::exp(s - largest);
    lse[row] = largest + std::log(sum);
    for (int64_t j = 0; j < p.length; ++j)
      for (int64_t e = 0; e < p.d; ++e)
        o[p.out(b, h, i, e)] += std::exp(scores[j] - lse[row]) * qkv[p.at(2, b, h, j, e)];
  });
}

// Of the packed operand, or of the bias.
void attentionGradient(const Packed &p, const Tensor &qkv, const Tensor &o, const Tensor &lse,
                       const Tensor &go, Tensor *dqkv, Tensor *dbias) {
  p.forEachRow([&](int64_t b, int64_t h, int64_t i, int64_t row) {
    double delta = 0;
    for (int64_t e = 0; e < p.d; ++e)
      delta += go[p.out(b, h, i, e)] * o[p.out(b, h, i, e)];
    for (int64_t j = 0; j < p.length; ++j) {
      double probability = std::exp(p.score(qkv, b, h, i, j) - lse[row]), dp = 0;
      for (int64_t e = 0; e < p.d; ++e)
        dp += go[p.out(b, h, i, e)] * qkv[p.at(2, b, h, j, e)];
      if (dbias)
        (*dbias)[Packed::biasAt(*dbias, b, h, i, j)] += probability * (dp - delta);
      double ds = probability * (dp - delta) / std::sqrt(static_cast<double>(p.d));
      for (int64_t e = 0; dqkv && e < p.d; ++e) {
        (*dqkv)[p.at(2, b, h, j, e)] += probability * go[p.out(b, h, i, e)];
        (*dqkv)[p.at(0, b, h, i, e)] += ds * qkv[p.at(1, b, h, j, e)];
        (*dqkv)[p.at(1, b, h, j, e)] += ds * qkv[p.at(0, b, h, i, e)];
      }
    }
  });
}

} // namespace

static Packed packed(auto op, Operands x, size_t bias) {
  Packed p(x[0], op.getHeads());
  p.bias = op.getBias() ? &x[bias] : nullptr;
  p.causal = op.getCausal();
  return p;
}

bool evaluateAttention(Operation *op, Operands x, Results y) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](SoftmaxOp) {
        softmax(x[0], y[0]);
        return true;
      })
      .Case([&](SoftmaxGradOp) {
        int64_t n = x[0].channels();
        for (int64_t i = 0; i < x[0].size(); ++i) {
          double sum = 0;
          for (int64_t c = 0; c < n; ++c)
            sum += x[0][i / n * n + c] * x[1][i / n * n + c];
          y[0][i] = x[0][i] * (x[1][i] - sum);
        }
        return true;
      })
      .Case([&](AttentionOp o) {
        attention(packed(o, x, 1), x[0], y[0], y[1]);
        return true;
      })
      .Case([&](AttentionGradOp o) {
        attentionGradient(packed(o, x, 4), x[0], x[1], x[2], x[3], &y[0], nullptr);
        return true;
      })
      .Case([&](AttentionBiasGradOp o) {
        attentionGradient(packed(o, x, 4), x[0], x[1], x[2], x[3], nullptr, &y[0]);
        return true;
      })
      .Case([&](ClassTokenOp) {
        int64_t width = x[0].shape[2], length = y[0].shape[1];
        for (int64_t i = 0; i < y[0].size(); ++i) {
          std::vector<int64_t> at = y[0].index(i);
          y[0][i] = (at[1] == 0 ? x[1][at[2]] : x[0].at({at[0], at[1] - 1, at[2]})) +
                    x[2][i % (length * width)];
        }
        return true;
      })
      .Case([&](EmbeddingOp) {
        int64_t width = x[1].shape[1];
        for (int64_t i = 0; i < y[0].size(); ++i)
          y[0][i] = x[1][static_cast<int64_t>(x[0][i / width]) * width + i % width];
        return true;
      })
      .Case([&](EmbeddingGradOp) {
        int64_t width = y[0].shape[1];
        for (int64_t i = 0; i < x[1].size(); ++i)
          y[0][static_cast<int64_t>(x[0][i / width]) * width + i % width] += x[1][i];
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace gc::reference
