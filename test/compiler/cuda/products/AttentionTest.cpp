//===- AttentionTest.cpp - Generated attention and its gradient -----------===//
#include "test/compiler/cuda/products/ProductRunner.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace gc;
using namespace gc::test;

namespace {

struct AttentionShape {
  int64_t batch, sequence, heads, size;
  int64_t width() const { return heads * size; }
  std::vector<int64_t> qkv() const { return {batch, sequence, 3 * width()}; }
  std::vector<int64_t> output() const { return {batch, sequence, width()}; }
  std::vector<int64_t> logsumexp() const { return {batch, heads, sequence}; }
};

constexpr double unit = 0x1p-24;

/// A number, and how far off a kernel may be: first-order bounds of rounding errors, as for sums of
/// n terms n * unit * (sum of magnitudes).
struct Bounded {
  double value = 0, error = 0;
};

struct Reference {
  std::vector<Bounded> output, logsumexp, gradient; // gradient: of qkv
};

Reference attentionReference(const AttentionShape &s, const Tensor &qkv, const Tensor &dO) {
  Reference r;
  r.output.resize(Tensor(s.output()).values.size());
  r.logsumexp.resize(Tensor(s.logsumexp()).values.size());
  r.gradient.resize(qkv.values.size());
  double scale = 1 / std::sqrt(double(s.size));
  int64_t n = s.sequence, d = s.size;
  auto packed = [&](int64_t b, int64_t token, int64_t part, int64_t h, int64_t at) {
    return ((b * n + token) * 3 + part) * s.width() + h * d + at;
  };
  auto unpacked = [&](int64_t b, int64_t token, int64_t h, int64_t at) {
    return (b * n + token) * s.width() + h * d + at;
  };
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < n; ++i) {
        std::vector<double> p(n);
        double largest = -1e300, sum = 0, off = 0; // of a score, absolute
        for (int64_t j = 0; j < n; ++j) {
          double magnitude = 0;
          for (int64_t c = 0; c < d; ++c) {
            double term = double(qkv[packed(b, i, 0, h, c)]) * qkv[packed(b, j, 1, h, c)];
            p[j] += term * scale;
            magnitude += std::abs(term) * scale;
          }
          largest = std::max(largest, p[j]);
          off = std::max(off, double(d + 4) * unit * magnitude);
        }
        for (double &x : p)
          sum += x = std::exp(x - largest);
        for (double &x : p)
          x /= sum;
        // Relative error of a probability: of its score, of the largest (whose rounding cancels,
        // but not that of the subtraction), the exponential's, that of the sum and of the
        // rescalings.
        double relative = 2 * off + unit * (double(n) + 16 + 4 * std::abs(largest));
        r.logsumexp[(b * s.heads + h) * n + i] = {
            largest + std::log(sum), off + unit * (double(n) + 16) + 4 * unit * std::abs(largest)};
        double rowSum = 0, rowSumMagnitude = 0;
        for (int64_t c = 0; c < d; ++c) {
          Bounded &o = r.output[unpacked(b, i, h, c)];
          double magnitude = 0;
          for (int64_t j = 0; j < n; ++j) {
            double v = qkv[packed(b, j, 2, h, c)];
            o.value += p[j] * v;
            magnitude += p[j] * std::abs(v);
          }
          o.error = magnitude * (2 * relative + unit * (double(n) + 8));
          double g = dO[unpacked(b, i, h, c)];
          rowSum += g * o.value;
          rowSumMagnitude += std::abs(g) * (o.error / unit + double(d + 4) * std::abs(o.value));
        }
        for (int64_t j = 0; j < n; ++j) {
          double dP = 0, magnitude = 0;
          for (int64_t c = 0; c < d; ++c) {
            double term = double(dO[unpacked(b, i, h, c)]) * qkv[packed(b, j, 2, h, c)];
            dP += term;
            magnitude += std::abs(term);
          }
          double dS = p[j] * (dP - rowSum) * scale;
          double dSError = std::abs(dS) * (2 * relative + 8 * unit) +
                           p[j] * scale * unit * (double(d + 4) * magnitude + rowSumMagnitude);
          for (int64_t c = 0; c < d; ++c) {
            auto add = [&](int64_t token, int64_t part, double factor, double error, double with) {
              Bounded &target = r.gradient[packed(b, token, part, h, c)];
              target.value += factor * with;
              target.error += (error + unit * double(n + 8) * std::abs(factor)) * std::abs(with);
            };
            add(i, 0, dS, dSError, qkv[packed(b, j, 1, h, c)]);
            add(j, 1, dS, dSError, qkv[packed(b, i, 0, h, c)]);
            add(j, 2, p[j], p[j] * 2 * relative, dO[unpacked(b, i, h, c)]);
          }
        }
      }
  return r;
}

void expectWithin(const std::vector<float> &actual, const std::vector<Bounded> &expected,
                  const std::string &what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  size_t wrong = 0, first = 0;
  for (size_t i = actual.size(); i-- > 0;)
    if (!(std::abs(actual[i] - expected[i].value) <= expected[i].error))
      ++wrong, first = i;
  EXPECT_EQ(wrong, 0u) << what << ": of " << actual.size() << " elements, first " << first << ": "
                       << actual[first] << ", expected " << expected[first].value << " +- "
                       << expected[first].error;
}

class Attention : public testing::TestWithParam<AttentionShape> {};

TEST_P(Attention, ForwardAndGradient) {
  AttentionShape s = GetParam();
  Tensor qkv = Tensor::random(s.qkv(), 1), dO = Tensor::random(s.output(), 2);
  Reference expected = attentionReference(s, qkv, dO);
  std::string heads = " {heads = " + std::to_string(s.heads) + " : i64} : (";
  Outcome forward = runOp("%o, %l = gc.attention %a0" + heads + qkv.type() + ") -> (" +
                              typeOf(s.output()) + ", " + typeOf(s.logsumexp()) + ")",
                          {qkv});
  expectWithin(forward.buffers[1].values, expected.output, "output");
  expectWithin(forward.buffers[2].values, expected.logsumexp, "logsumexp");
  EXPECT_EQ(forward.total().sharedBankConflicts, 0u);
  EXPECT_EQ(forward.workspaceBytes, 0);

  const Tensor &o = forward.buffers[1], &l = forward.buffers[2];
  Outcome backward = runOp("%g = gc.attention_grad %a0, %a1, %a2, %a3" + heads + qkv.type() + ", " +
                               o.type() + ", " + l.type() + ", " + dO.type() + ") -> " + qkv.type(),
                           {qkv, o, l, dO});
  expectWithin(backward.buffers[4].values, expected.gradient, "gradient");
  EXPECT_EQ(backward.total().sharedBankConflicts, 0u);
  EXPECT_EQ(backward.workspaceBytes, s.batch * s.heads * s.sequence * 4);
}

const AttentionShape attentionShapes[] = {
    {1, 1, 1, 1},    {1, 5, 1, 3},    {2, 17, 3, 16},  {1, 32, 2, 32},
    {1, 33, 1, 11},  {2, 65, 2, 64},  {1, 64, 1, 24},  {1, 67, 1, 96},
    {1, 130, 1, 37}, {1, 40, 1, 128}, {1, 70, 1, 200}, // two slices
    {66, 33, 2, 8},                                    // 64 rows a block
};
INSTANTIATE_TEST_SUITE_P(Heads, Attention, testing::ValuesIn(attentionShapes),
                         [](const auto &info) {
                           const AttentionShape &s = info.param;
                           return std::to_string(s.batch) + "x" + std::to_string(s.sequence) + "x" +
                                  std::to_string(s.heads) + "x" + std::to_string(s.size);
                         });

// Scores far apart: the largest comes last, and its exponential would overflow.
TEST(AttentionRange, LargeScores) {
  AttentionShape s{1, 70, 1, 4};
  Tensor qkv(s.qkv());
  for (int64_t i = 0; i < 70; ++i)
    for (int64_t c = 0; c < 4; ++c) {
      qkv[i * 12 + c] = 10;
      qkv[i * 12 + 4 + c] = float(i);
      qkv[i * 12 + 8 + c] = float(i);
    }
  Outcome outcome = runOp("%o, %l = gc.attention %a0 {heads = 1 : i64} : (" + qkv.type() +
                              ") -> (" + typeOf(s.output()) + ", " + typeOf(s.logsumexp()) + ")",
                          {qkv});
  for (float value : outcome.buffers[1].values)
    EXPECT_NEAR(value, 69, 1e-5); // the next score is lower by 20: exp(-20) = 2e-9
  for (float value : outcome.buffers[2].values)
    EXPECT_NEAR(value, 1380, 1e-3);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

struct MaskedShape {
  AttentionShape whole;
  std::vector<int64_t> bias; // empty: none
  bool causal;
};

/// In double, by the formulas; the bias's gradient has a row for each query.
struct MaskedReference {
  std::vector<double> output, logsumexp, gradient, biasGradient;
};

MaskedReference maskedReference(const MaskedShape &m, const Tensor &qkv, const Tensor &bias,
                                const Tensor &dO) {
  const AttentionShape &s = m.whole;
  int64_t n = s.sequence, d = s.size, w = s.width();
  MaskedReference r;
  r.output.resize(dO.values.size());
  r.logsumexp.resize(s.batch * s.heads * n);
  r.gradient.resize(qkv.values.size());
  auto in = [&](size_t dim, int64_t at) { return m.bias[dim] == 1 ? 0 : at; };
  if (!m.bias.empty())
    r.biasGradient.resize(m.bias[0] * m.bias[1] * n * n);
  auto packed = [&](int64_t b, int64_t token, int64_t part, int64_t h) {
    return ((b * n + token) * 3 + part) * w + h * d;
  };
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < n; ++i) {
        std::vector<double> p(n);
        double sum = 0, rowSum = 0;
        for (int64_t j = 0; j < n; ++j) {
          double score = 0;
          for (int64_t c = 0; c < d; ++c)
            score += double(qkv[packed(b, i, 0, h) + c]) * qkv[packed(b, j, 1, h) + c];
          score /= std::sqrt(double(d));
          if (!m.bias.empty())
            score += bias[((in(0, b) * m.bias[1] + in(1, h)) * m.bias[2] + in(2, i)) * n + j];
          sum += p[j] = m.causal && j > i ? 0 : std::exp(score);
        }
        int64_t out = (b * n + i) * w + h * d;
        r.logsumexp[(b * s.heads + h) * n + i] = std::log(sum);
        for (int64_t c = 0; c < d; ++c) {
          for (int64_t j = 0; j < n; ++j)
            r.output[out + c] += p[j] / sum * qkv[packed(b, j, 2, h) + c];
          rowSum += dO[out + c] * r.output[out + c];
        }
        for (int64_t j = 0; j < n; ++j) {
          double dP = 0;
          for (int64_t c = 0; c < d; ++c)
            dP += double(dO[out + c]) * qkv[packed(b, j, 2, h) + c];
          double dS = p[j] / sum * (dP - rowSum);
          if (!m.bias.empty())
            r.biasGradient[((in(0, b) * m.bias[1] + in(1, h)) * n + i) * n + j] += dS;
          for (int64_t c = 0; c < d; ++c) {
            r.gradient[packed(b, i, 0, h) + c] +=
                dS / std::sqrt(double(d)) * qkv[packed(b, j, 1, h) + c];
            r.gradient[packed(b, j, 1, h) + c] +=
                dS / std::sqrt(double(d)) * qkv[packed(b, i, 0, h) + c];
            r.gradient[packed(b, j, 2, h) + c] += p[j] / sum * dO[out + c];
          }
        }
      }
  return r;
}

void expectNear(const std::vector<float> &actual, const std::vector<double> &expected,
                const std::string &what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 0, off = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    off = std::max(off, std::abs(actual[i] - expected[i]));
  }
  EXPECT_LE(off, 1e-5 * std::max(largest, 1e-3)) << what;
}

TEST(AttentionMasks, ForwardAndGradients) {
  const MaskedShape cases[] = {
      {{2, 5, 1, 3}, {}, true},
      {{1, 70, 2, 16}, {}, true},
      {{2, 33, 2, 8}, {1, 2, 33, 33}, false},
      {{2, 70, 2, 16}, {2, 1, 70, 70}, true},
      {{3, 40, 2, 4}, {1, 1, 40, 40}, true},
      {{2, 17, 3, 16}, {2, 1, 1, 17}, false},
      {{2, 17, 3, 16}, {2, 3, 17, 17}, false},
  };
  for (const MaskedShape &m : cases) {
    const AttentionShape &s = m.whole;
    std::string what = typeOf(s.qkv()) + (m.causal ? " causal" : "");
    Tensor qkv = Tensor::random(s.qkv(), 1), dO = Tensor::random(s.output(), 2);
    Tensor bias = Tensor::random(m.bias.empty() ? std::vector<int64_t>{1} : m.bias, 3);
    std::vector<Tensor> inputs{qkv};
    if (!m.bias.empty()) {
      inputs.push_back(bias);
      what += " " + bias.type();
    }
    MaskedReference expected = maskedReference(m, qkv, bias, dO);
    std::string attributes = std::string(" {") + (m.causal ? "causal, " : "") +
                             "heads = " + std::to_string(s.heads) + " : i64} : (";
    Outcome forward =
        runOp("%o, %l = gc.attention %a0" + std::string(m.bias.empty() ? "" : ", %a1") +
                  attributes + qkv.type() + (m.bias.empty() ? "" : ", " + bias.type()) + ") -> (" +
                  typeOf(s.output()) + ", " + typeOf(s.logsumexp()) + ")",
              inputs);
    const Tensor &o = forward.buffers[inputs.size()], &l = forward.buffers[inputs.size() + 1];
    expectNear(o.values, expected.output, what + " output");
    expectNear(l.values, expected.logsumexp, what + " logsumexp");

    std::vector<Tensor> saved{qkv, o, l, dO};
    std::string operands = "%a0, %a1, %a2, %a3",
                types = qkv.type() + ", " + o.type() + ", " + l.type() + ", " + dO.type();
    if (!m.bias.empty()) {
      saved.push_back(bias);
      operands += ", %a4";
      types += ", " + bias.type();
    }
    Outcome backward = runOp(
        "%g = gc.attention_grad " + operands + attributes + types + ") -> " + qkv.type(), saved);
    expectNear(backward.buffers[saved.size()].values, expected.gradient, what + " gradient");
    if (m.bias.empty())
      continue;
    std::string rows = typeOf({m.bias[0], m.bias[1], s.sequence, s.sequence});
    Outcome ofBias = runOp(
        "%g = gc.attention_bias_grad " + operands + attributes + types + ") -> " + rows, saved);
    expectNear(ofBias.buffers[saved.size()].values, expected.biasGradient, what + " bias");
  }
}

} // namespace
