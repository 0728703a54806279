//===- ConvolutionTest.cpp - Generated convolutions and their gradients ---===//
#include "test/compiler/cuda/products/ProductRunner.h"
#include <gtest/gtest.h>

using namespace gc;
using namespace gc::test;

namespace {

struct Shape {
  int64_t batch, height, width, in, out;
  int64_t kernelH, kernelW, strideH = 1, strideW = 1, padH = 0, padW = 0;
  int64_t groups = 1, dilationH = 1, dilationW = 1;

  int64_t outHeight() const {
    return (height + 2 * padH - (kernelH - 1) * dilationH - 1) / strideH + 1;
  }
  int64_t outWidth() const {
    return (width + 2 * padW - (kernelW - 1) * dilationW - 1) / strideW + 1;
  }
  std::vector<int64_t> input() const { return {batch, height, width, in}; }
  std::vector<int64_t> filter() const { return {out, kernelH, kernelW, in / groups}; }
  std::vector<int64_t> output() const { return {batch, outHeight(), outWidth(), out}; }
  std::string attributes() const {
    auto pair = [](int64_t a, int64_t b) {
      return " = array<i64: " + std::to_string(a) + ", " + std::to_string(b) + ">";
    };
    return " {strides" + pair(strideH, strideW) + ", padding" + pair(padH, padW) + ", dilation" +
           pair(dilationH, dilationW) + ", groups = " + std::to_string(groups) + " : i64}";
  }
};

/// Calls `each` with the flat indices of input, filter and output of every multiplication.
template <typename Each> void forMultiplications(const Shape &s, Each each) {
  int64_t ins = s.in / s.groups, outs = s.out / s.groups; // of a group
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t y = 0; y < s.outHeight(); ++y)
      for (int64_t x = 0; x < s.outWidth(); ++x)
        for (int64_t r = 0; r < s.kernelH; ++r)
          for (int64_t q = 0; q < s.kernelW; ++q) {
            int64_t inY = y * s.strideH + r * s.dilationH - s.padH;
            int64_t inX = x * s.strideW + q * s.dilationW - s.padW;
            if (inY < 0 || inY >= s.height || inX < 0 || inX >= s.width)
              continue;
            for (int64_t o = 0; o < s.out; ++o)
              for (int64_t c = 0; c < ins; ++c)
                each(((n * s.height + inY) * s.width + inX) * s.in + o / outs * ins + c,
                     ((o * s.kernelH + r) * s.kernelW + q) * ins + c,
                     ((n * s.outHeight() + y) * s.outWidth() + x) * s.out + o);
          }
}

std::string types(std::vector<std::vector<int64_t>> operands,
                  std::vector<std::vector<int64_t>> results) {
  auto list = [](const std::vector<std::vector<int64_t>> &shapes) {
    std::string text;
    for (size_t i = 0; i < shapes.size(); ++i)
      text += (i ? ", " : "") + typeOf(shapes[i]);
    return "(" + text + ")";
  };
  return " : " + list(operands) + " -> " + list(results);
}

int64_t sizeOf(const std::vector<int64_t> &shape) { return int64_t(Tensor(shape).values.size()); }

void checkForward(const Shape &s, bool tf32 = false) {
  Tensor x = Tensor::random(s.input(), 1), w = Tensor::random(s.filter(), 2);
  Outcome outcome =
      runOp("%y = gc.conv2d %a0, %a1" + s.attributes() + types({x.shape, w.shape}, {s.output()}),
            {x, w}, {}, {}, "", tf32);
  std::vector<Expected> expected(sizeOf(s.output()));
  forMultiplications(
      s, [&](int64_t i, int64_t f, int64_t o) { expected[o].add(double(x[i]) * w[f]); });
  expectSums(outcome.buffers[2].values, expected, "y", tf32 ? tf32Error : 0);
  EXPECT_EQ(outcome.total().sharedBankConflicts, 0u);
}

void checkGradients(const Shape &s, bool tf32 = false) {
  Tensor x = Tensor::random(s.input(), 1), w = Tensor::random(s.filter(), 2);
  Tensor dy = Tensor::random(s.output(), 3);
  std::vector<Expected> dx(x.values.size()), dw(w.values.size()), db(s.out);
  forMultiplications(s, [&](int64_t i, int64_t f, int64_t o) {
    dx[i].add(double(dy[o]) * w[f]);
    dw[f].add(double(dy[o]) * x[i]);
  });
  for (size_t i = 0; i < dy.values.size(); ++i)
    db[i % s.out].add(dy[i]);

  Outcome input = runOp("%g = gc.conv2d_grad_input %a0, %a1" + s.attributes() +
                            types({dy.shape, w.shape}, {x.shape}),
                        {dy, w}, {}, {}, "", tf32);
  expectSums(input.buffers[2].values, dx, "dx", tf32 ? tf32Error : 0);
  EXPECT_EQ(input.total().sharedBankConflicts, 0u);
  Outcome filter = runOp("%g, %b = gc.conv2d_grad_filter %a0, %a1" + s.attributes() +
                             types({x.shape, dy.shape}, {w.shape, {s.out}}),
                         {x, dy}, {}, {}, "", tf32);
  expectSums(filter.buffers[2].values, dw, "dw", tf32 ? tf32Error : 0);
  expectSums(filter.buffers[3].values, db, "db");
  EXPECT_EQ(filter.statistics[0].sharedBankConflicts, 0u);
}

class Convolutions : public testing::TestWithParam<std::pair<const char *, Shape>> {};
TEST_P(Convolutions, Forward) { checkForward(GetParam().second); }
TEST_P(Convolutions, Gradients) { checkGradients(GetParam().second); }
TEST_P(Convolutions, ByTensorCores) {
  checkForward(GetParam().second, /*tf32=*/true);
  checkGradients(GetParam().second, /*tf32=*/true);
}

const std::pair<const char *, Shape> shapes[] = {
    {"One", {1, 1, 1, 1, 1, 1, 1}},
    {"Pointwise", {2, 3, 5, 8, 12, 1, 1}},
    {"PointwiseOdd", {1, 3, 3, 7, 5, 1, 1}},
    {"PointwiseStride", {2, 5, 6, 4, 8, 1, 1, 2, 2}},
    {"PointwisePadded", {1, 3, 4, 3, 2, 1, 1, 1, 1, 1, 2}},
    {"Same", {2, 7, 6, 8, 4, 3, 3, 1, 1, 1, 1}},
    {"SameOdd", {1, 5, 7, 3, 5, 3, 3, 1, 1, 1, 1}},
    {"Valid", {2, 6, 5, 4, 4, 3, 2}},
    {"Stride", {2, 9, 8, 4, 8, 3, 3, 2, 2, 1, 1}},
    {"StrideOdd", {1, 11, 13, 3, 7, 7, 7, 2, 2, 3, 3}},
    {"StrideUnequal", {1, 9, 10, 4, 3, 2, 5, 3, 2, 1, 2}},
    {"StrideBeyondKernel", {1, 11, 8, 3, 4, 2, 1, 4, 3}},
    {"StrideBeyondInput", {2, 3, 2, 5, 4, 1, 2, 5, 7}},
    {"Patches", {2, 8, 12, 3, 8, 4, 4, 4, 4}},
    {"PaddingBeyondStride", {1, 4, 4, 4, 4, 5, 5, 2, 2, 4, 3}},
    {"Dilated", {2, 9, 8, 4, 8, 3, 3, 1, 1, 2, 3, 1, 2, 3}},
    {"DilatedStride", {1, 11, 10, 3, 5, 3, 2, 2, 3, 2, 1, 1, 2, 2}},
    {"DilatedDown", {1, 9, 8, 4, 4, 3, 3, 2, 2, 2, 1, 1, 2, 1}},
    {"Depthwise", {2, 7, 6, 12, 12, 3, 3, 1, 1, 1, 1, 12}},
    {"DepthwiseStride", {2, 9, 8, 7, 7, 5, 3, 2, 2, 2, 1, 7}},
    {"DepthwiseTwofold", {1, 6, 5, 4, 8, 3, 3, 1, 1, 1, 1, 4}},
    {"DepthwiseLarge", {1, 6, 7, 3, 3, 9, 9, 1, 1, 4, 4, 3}},
    {"Groups", {2, 6, 5, 12, 8, 3, 3, 1, 1, 1, 1, 4}},
    {"GroupsPointwise", {2, 4, 5, 8, 12, 1, 1, 1, 1, 0, 0, 2}},
    {"GroupsDilatedStride", {1, 11, 9, 6, 9, 3, 3, 2, 2, 2, 2, 3, 2, 2}},
    {"ManyTiles", {3, 17, 15, 20, 36, 3, 3, 1, 1, 1, 1}},
};
INSTANTIATE_TEST_SUITE_P(Convolution, Convolutions, testing::ValuesIn(shapes),
                         [](const auto &info) { return info.param.first; });

// activation(conv + bias + residual), in the residual's bytes or not.
void checkEpilogue(const Shape &s) {
  Tensor x = Tensor::random(s.input(), 1), w = Tensor::random(s.filter(), 2);
  Tensor bias = Tensor::random({s.out}, 3), residual = Tensor::random(s.output(), 4);
  std::vector<Expected> expected(residual.values.size());
  forMultiplications(
      s, [&](int64_t i, int64_t f, int64_t o) { expected[o].add(double(x[i]) * w[f]); });
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i].add(bias[i % s.out]);
    expected[i].add(residual[i]);
    expected[i].value = std::max(0.0, expected[i].value);
  }
  for (std::vector<int> aliases : {std::vector<int>{}, std::vector<int>{-1, -1, -1, 0}}) {
    Outcome outcome =
        runOp("%y = gc.conv2d %a0, %a1 bias %a2 residual %a3 activation = relu" + s.attributes() +
                  types({x.shape, w.shape, bias.shape, residual.shape}, {s.output()}),
              {x, w, bias, residual}, {}, aliases);
    expectSums(outcome.buffers[4].values, expected, "y");
  }
}

TEST(Convolution, Epilogue) { checkEpilogue({2, 5, 4, 3, 8, 3, 3, 1, 1, 1, 1}); }
TEST(Convolution, EpilogueOfGroups) { checkEpilogue({2, 5, 4, 8, 8, 3, 3, 1, 1, 1, 1, 4}); }

// Into accumulators, bias and all. Enough pixels for several splits of the depth.
void checkAccumulate(const Shape &s) {
  Tensor x = Tensor::random(s.input(), 1), dy = Tensor::random(s.output(), 2);
  Tensor w = Tensor::random(s.filter(), 3), b = Tensor::random({s.out}, 4);
  std::vector<Expected> dw(w.values.size()), db(s.out);
  forMultiplications(s, [&](int64_t i, int64_t f, int64_t o) { dw[f].add(double(dy[o]) * x[i]); });
  for (size_t i = 0; i < dy.values.size(); ++i)
    db[i % s.out].add(dy[i]);
  for (size_t i = 0; i < dw.size(); ++i)
    dw[i].add(w[i]);
  for (size_t i = 0; i < db.size(); ++i)
    db[i].add(b[i]);
  auto state = [](const std::string &name, const Tensor &tensor) {
    return "gc.state @" + name + " accumulator : " + tensor.type() +
           " = #gc.init<constant, [0.0]>\n";
  };
  Outcome outcome =
      runOp("gc.accumulate_product (%x = %a0 : " + x.type() + ", %g = %a1 : " + dy.type() +
                ") into [@w, @b] {\n%w, %b = gc.conv2d_grad_filter %x, %g" + s.attributes() +
                types({x.shape, dy.shape}, {w.shape, b.shape}) + "\ngc.yield %w, %b : " + w.type() +
                ", " + b.type() + "\n}",
            {x, dy}, {w, b}, {}, state("w", w) + state("b", b));
  expectSums(outcome.buffers[2].values, dw, "dw");
  expectSums(outcome.buffers[3].values, db, "db");
  EXPECT_GT(outcome.workspaceBytes, 4 * sizeOf(s.filter()) * 4) << "expected splits";
}
TEST(Convolution, Accumulate) { checkAccumulate({4, 40, 41, 3, 5, 3, 3, 1, 1, 1, 1}); }
TEST(Convolution, AccumulateOfGroups) { checkAccumulate({4, 40, 41, 4, 6, 3, 3, 1, 1, 1, 1, 2}); }

} // namespace
