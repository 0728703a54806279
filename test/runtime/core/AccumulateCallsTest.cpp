// Weight gradients that libraries add to an accumulator: the sum is right, and adding needs no more
// memory than a result of its own would. Shapes are those of the networks, with small batches.
#include "runtime/hal/cpu/library/Library.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gc::runtime::cpu {
namespace {

std::vector<float> randomFloats(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float &value : values)
    value = std::uniform_real_distribution<float>(-1, 1)(random);
  return values;
}

/// Aligned scratch, filled with what no call may rely on.
struct Workspace {
  explicit Workspace(size_t bytes) : storage(bytes / 4 + 32, std::nanf("")) {}
  void *data() {
    auto address = reinterpret_cast<uintptr_t>(storage.data());
    return reinterpret_cast<void *>((address + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                    kWorkspaceAlignment);
  }
  std::vector<float> storage;
};

/// `sum` is `before` + `added`, up to the rounding of a sum of `terms` products.
void expectSum(const std::vector<float> &sum, const std::vector<float> &before,
               const std::vector<float> &added, int64_t terms, const std::string &what) {
  double bound = 4e-7 * std::sqrt(static_cast<double>(terms)) + 1e-6;
  for (size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(sum[i], double(before[i]) + added[i],
                bound * (1 + std::abs(before[i]) + std::abs(added[i])))
        << what << ", element " << i;
}

/// What kernel selection allows adding to cost (compiler/cpu/CpuTarget.cpp): alignment.
constexpr size_t kFewBytes = 4096;

struct ConvolutionShape {
  const char *name;
  int64_t batch, in, inC, outC, kernel, stride, pad;
};
void PrintTo(const ConvolutionShape &shape, std::ostream *out) { *out << shape.name; }

struct FilterGradient : ::testing::TestWithParam<ConvolutionShape> {};

TEST_P(FilterGradient, IsAdded) {
  const ConvolutionShape &shape = GetParam();
  for (bool bias : {false, true}) {
    ConvolutionSpec spec;
    spec.direction = plan::Direction_BackwardWeights;
    spec.batch = shape.batch, spec.in_h = spec.in_w = shape.in;
    spec.in_c = shape.inC, spec.out_c = shape.outC;
    spec.out_h = spec.out_w = (shape.in + 2 * shape.pad - shape.kernel) / shape.stride + 1;
    spec.kernel_h = spec.kernel_w = shape.kernel, spec.stride_h = spec.stride_w = shape.stride;
    spec.pad_h = spec.pad_w = shape.pad, spec.bias = bias;
    int64_t pixels = spec.batch * spec.out_h * spec.out_w;
    auto src = randomFloats(spec.batch * spec.in_h * spec.in_w * spec.in_c, 1);
    auto dst = randomFloats(pixels * spec.out_c, 2);
    auto weightsBefore = randomFloats(spec.out_c * spec.kernel_h * spec.kernel_w * spec.in_c, 3);
    auto biasBefore = randomFloats(spec.out_c, 4);
    auto run = [&](bool accumulate, std::vector<float> &weights, std::vector<float> &biases) {
      spec.accumulate = accumulate;
      auto call = ConvolutionCall::create(spec);
      ASSERT_TRUE(call) << call.error().message;
      Workspace workspace((*call)->workspaceBytes());
      Status done = (*call)->execute({src.data(), weights.data(), dst.data(),
                                      bias ? biases.data() : nullptr, nullptr, workspace.data()});
      ASSERT_TRUE(done) << done.error().message;
    };
    std::vector<float> added(weightsBefore.size()), sum = weightsBefore;
    std::vector<float> biasAdded(biasBefore.size()), biasSum = biasBefore;
    run(false, added, biasAdded);
    run(true, sum, biasSum);
    expectSum(sum, weightsBefore, added, pixels, "filter");
    if (bias)
      expectSum(biasSum, biasBefore, biasAdded, pixels, "bias");
    spec.accumulate = false;
    size_t apart = *workspaceBytes(spec) + added.size() * 4 + (bias ? biasAdded.size() * 4 : 0);
    spec.accumulate = true;
    EXPECT_LE(*workspaceBytes(spec), apart + kFewBytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FilterGradient,
    ::testing::Values(ConvolutionShape{"stem", 1, 64, 3, 64, 7, 2, 3},
                      ConvolutionShape{"narrow", 2, 14, 64, 64, 3, 1, 1},
                      ConvolutionShape{"strided", 2, 14, 64, 128, 3, 2, 1},
                      ConvolutionShape{"odd_channels", 2, 9, 5, 7, 3, 1, 1},
                      ConvolutionShape{"pixels_direct", 2, 14, 64, 256, 1, 1, 0},
                      ConvolutionShape{"pixels_product", 2, 7, 512, 256, 1, 1, 0},
                      ConvolutionShape{"downsample", 1, 14, 256, 512, 1, 2, 0},
                      ConvolutionShape{"patches", 2, 32, 3, 192, 16, 16, 0}),
    [](const auto &info) { return info.param.name; });

struct ProductShape {
  const char *name;
  int64_t rows, in, out;
};
void PrintTo(const ProductShape &shape, std::ostream *out) { *out << shape.name; }

struct WeightGradient : ::testing::TestWithParam<ProductShape> {};

TEST_P(WeightGradient, IsAdded) {
  const ProductShape &shape = GetParam();
  MatMulSpec spec; // dW = dy^T x
  spec.m = shape.out, spec.n = shape.in, spec.k = shape.rows;
  spec.a_strides = {1, shape.out}, spec.b_strides = {shape.in, 1}, spec.c_strides = {shape.in, 1};
  auto dy = randomFloats(shape.rows * shape.out, 1), x = randomFloats(shape.rows * shape.in, 2);
  auto before = randomFloats(shape.out * shape.in, 3);
  auto run = [&](bool accumulate, std::vector<float> &c) {
    spec.accumulate = accumulate;
    auto call = MatMulCall::create(spec);
    ASSERT_TRUE(call) << call.error().message;
    Workspace workspace((*call)->workspaceBytes());
    Status done =
        (*call)->execute({dy.data(), x.data(), c.data(), nullptr, nullptr, workspace.data()});
    ASSERT_TRUE(done) << done.error().message;
  };
  std::vector<float> added(before.size()), sum = before;
  run(false, added);
  run(true, sum);
  expectSum(sum, before, added, shape.rows, "weight");
  spec.accumulate = false;
  size_t apart = *workspaceBytes(spec) + added.size() * 4;
  spec.accumulate = true;
  EXPECT_LE(*workspaceBytes(spec), apart + kFewBytes);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WeightGradient,
    ::testing::Values(ProductShape{"qkv", 197, 192, 576}, ProductShape{"mlp", 197, 384, 192},
                      ProductShape{"square", 788, 384, 384},
                      ProductShape{"classifier", 4, 512, 1000}, ProductShape{"wide", 2, 4096, 128},
                      ProductShape{"odd", 3, 37, 10}, ProductShape{"one_row", 1, 64, 10}),
    [](const auto &info) { return info.param.name; });

} // namespace
} // namespace gc::runtime::cpu
