// Products of bf16, multiplied as they are or widened first: against the definition in double, on
// operands that are bf16. What is added up is f32 and rounded once, so that a result of bf16 is off
// by half a unit of its last place at most, and one of f32 by what sums in f32 are.
#include "runtime/hal/cpu/library/Halves.h"
#include "runtime/hal/conformance/Reference.h"
#include "runtime/hal/cpu/library/HalfRates.h"
#include "runtime/plan/ElementType.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace gc::runtime::cpu {
namespace {

const ElementType &bf16() { return *elementTypeOf(plan::DType_BF16); }

/// A tensor as f32 with values that bf16 has, and as the bytes that a command sees.
struct Operand {
  Operand(int64_t elements, plan::DType type, unsigned seed)
      : values(static_cast<size_t>(elements)), type(type) {
    std::mt19937 random(seed);
    for (float &value : values)
      value = std::uniform_real_distribution<float>(-1, 1)(random);
    bytes.resize(values.size() * elementBytes(type) + 64);
    elementTypeOf(type)->fromFloats(values.data(), data(), values.size());
    elementTypeOf(type)->toFloats(data(), values.data(), values.size());
  }
  std::byte *data() {
    auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return bytes.data() + (64 - address % 64) % 64;
  }
  std::vector<float> computed() {
    std::vector<float> floats(values.size());
    elementTypeOf(type)->toFloats(data(), floats.data(), floats.size());
    return floats;
  }
  std::vector<float> values;
  std::vector<std::byte> bytes;
  plan::DType type;
};

void expectClose(Operand &result, const std::vector<float> &expected, int64_t terms,
                 const std::string &what) {
  std::vector<float> actual = result.computed();
  double sums = 2e-7 * std::sqrt(static_cast<double>(terms)) * 3;
  double rounding = result.type == plan::DType_BF16 ? 1.0 / 256 : 0;
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], sums * 4 + rounding * std::abs(expected[i]))
        << what << ", element " << i;
}

struct Workspace : Operand {
  explicit Workspace(size_t bytes)
      : Operand(static_cast<int64_t>(bytes / 4 + 1), plan::DType_F32, 9) {}
};

struct Shape {
  const char *name;
  int64_t batch, in, inC, outC, kernel, stride, pad, groups = 1;
};
void PrintTo(const Shape &shape, std::ostream *out) { *out << shape.name; }

class HalfConvolution : public ::testing::TestWithParam<Shape> {};

TEST_P(HalfConvolution, IsTheDefinition) {
  const Shape &shape = GetParam();
  for (auto direction :
       {plan::Direction_Forward, plan::Direction_BackwardData, plan::Direction_BackwardWeights})
    for (plan::DType result : {plan::DType_F32, plan::DType_BF16})
      for (bool native : {false, true})
        for (bool extras : {false, true}) {
          ConvolutionSpec s;
          s.direction = direction;
          s.type = plan::DType_BF16, s.result = result, s.native = native;
          s.batch = shape.batch, s.in_h = s.in_w = shape.in, s.in_c = shape.inC;
          s.out_c = shape.outC, s.kernel_h = s.kernel_w = shape.kernel;
          s.stride_h = s.stride_w = shape.stride, s.pad_h = s.pad_w = shape.pad;
          s.groups = shape.groups;
          s.out_h = s.out_w = (shape.in + 2 * shape.pad - shape.kernel) / shape.stride + 1;
          s.bias = extras && direction != plan::Direction_BackwardData;
          s.residual = extras && direction == plan::Direction_Forward;
          s.activation = s.residual ? plan::Activation_Relu : plan::Activation_None;
          s.accumulate =
              extras && direction == plan::Direction_BackwardWeights && result == plan::DType_F32;
          auto typeOf = [&](plan::Direction written) {
            return direction == written ? result : plan::DType_BF16;
          };
          int64_t pixels = s.batch * s.out_h * s.out_w;
          Operand src(s.batch * s.in_h * s.in_w * s.in_c, typeOf(plan::Direction_BackwardData), 1);
          Operand weights(s.out_c * s.kernel_h * s.kernel_w * s.in_c / s.groups,
                          typeOf(plan::Direction_BackwardWeights), 2);
          Operand dst(pixels * s.out_c, typeOf(plan::Direction_Forward), 3);
          Operand bias(s.out_c, plan::DType_F32, 4), residual(pixels * s.out_c, result, 5);
          std::string what = std::string(shape.name) + " " + plan::EnumNameDirection(direction) +
                             " to " + plan::EnumNameDType(result) + (native ? " native" : "") +
                             (extras ? " with extras" : "");
          auto call = ConvolutionCall::create(s);
          ASSERT_TRUE(call) << what << ": " << call.error().message;
          Workspace workspace((*call)->workspaceBytes());
          ConvolutionPointers p{src.data(),  weights.data(),  dst.data(),
                                bias.data(), residual.data(), workspace.data()};
          Status done = (*call)->execute(p);
          ASSERT_TRUE(done) << what << ": " << done.error().message;
          conformance::referenceConvolution(s, src.values, weights.values, dst.values, bias.values,
                                            residual.values);
          what += ", " + (*call)->implementation();
          int64_t taps = s.kernel_h * s.kernel_w;
          switch (direction) {
          case plan::Direction_Forward:
            expectClose(dst, dst.values, taps * s.in_c, what);
            break;
          case plan::Direction_BackwardData:
            expectClose(src, src.values, taps * s.out_c, what);
            break;
          case plan::Direction_BackwardWeights:
            expectClose(weights, weights.values, pixels, what);
            if (s.bias)
              expectClose(bias, bias.values, pixels, what + ", bias");
            break;
          }
        }
}

INSTANTIATE_TEST_SUITE_P(All, HalfConvolution,
                         ::testing::Values(Shape{"3x3", 2, 12, 32, 48, 3, 1, 1},
                                           Shape{"3x3 stride 2", 2, 13, 17, 20, 3, 2, 1},
                                           Shape{"stem", 1, 24, 3, 16, 7, 2, 3},
                                           Shape{"1x1", 2, 11, 64, 32, 1, 1, 0},
                                           Shape{"1x1 wide", 1, 11, 128, 512, 1, 1, 0},
                                           Shape{"patches", 2, 16, 3, 24, 4, 4, 0},
                                           Shape{"depthwise", 2, 9, 16, 16, 3, 1, 1, 16}));

TEST(HalfMatMul, IsTheDefinition) {
  for (plan::DType result : {plan::DType_F32, plan::DType_BF16})
    for (bool native : {false, true})
      for (int form = 0; form < 4; ++form) {
        bool transposeA = form & 1, transposeB = form & 2;
        MatMulSpec s;
        s.type = plan::DType_BF16, s.result = result, s.native = native;
        s.m = 37, s.n = 48, s.k = 65;
        s.a_strides = transposeA ? std::vector<int64_t>{1, s.m} : std::vector<int64_t>{s.k, 1};
        s.b_strides = transposeB ? std::vector<int64_t>{1, s.k} : std::vector<int64_t>{s.n, 1};
        s.c_strides = {s.n, 1};
        s.bias = form == 2, s.residual = form == 2;
        s.activation = form == 2 ? plan::Activation_Gelu : plan::Activation_None;
        s.accumulate = form == 1 && result == plan::DType_F32;
        Operand a(s.m * s.k, plan::DType_BF16, 1), b(s.k * s.n, plan::DType_BF16, 2);
        Operand c(s.m * s.n, result, 3), bias(s.n, plan::DType_F32, 4);
        Operand residual(s.m * s.n, result, 5);
        auto call = MatMulCall::create(s);
        ASSERT_TRUE(call) << call.error().message;
        Workspace workspace((*call)->workspaceBytes());
        Status done = (*call)->execute(
            {a.data(), b.data(), c.data(), bias.data(), residual.data(), workspace.data()});
        ASSERT_TRUE(done) << done.error().message;
        conformance::referenceMatMul(s, a.values, 0, b.values, 0, c.values, 0, bias.values,
                                     residual.values);
        expectClose(c, c.values, s.k,
                    "form " + std::to_string(form) + ", " + (*call)->implementation());
      }
}

TEST(HalfMatMul, LeavesNoGapsInBf16) {
  MatMulSpec s;
  s.type = s.result = plan::DType_BF16;
  s.m = s.n = s.k = 4;
  s.a_strides = s.b_strides = {4, 1}, s.c_strides = {8, 1};
  auto call = MatMulCall::create(s);
  ASSERT_FALSE(call);
  EXPECT_NE(call.error().message.find("without gaps"), std::string::npos);
}

// The same bits as everywhere: ties to even, carries, overflow, NaN, numbers below 2^-126.
TEST(Halves, AreTheBitsOfWeightFiles) {
  std::vector<float> values{0.0f,
                            -0.0f,
                            1.0f,
                            1 + 1.0f / 256,
                            1 + 3.0f / 256,
                            std::bit_cast<float>(0x3f7fffffu),
                            3.4e38f,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            std::bit_cast<float>(0x7f800001u),
                            std::bit_cast<float>(0x00000001u),
                            std::bit_cast<float>(0x007fffffu),
                            std::bit_cast<float>(0x00018000u)};
  std::mt19937 random(1);
  for (int i = 0; i < 40000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  std::vector<std::byte> ours(2 * values.size()), theirs(2 * values.size());
  narrow(ours.data(), values.data(), static_cast<int64_t>(values.size()));
  bf16().fromFloats(values.data(), theirs.data(), values.size());
  EXPECT_EQ(ours, theirs);
  std::vector<float> wide(values.size()), expected(values.size());
  widen(wide.data(), ours.data(), static_cast<int64_t>(values.size()));
  bf16().toFloats(ours.data(), expected.data(), values.size());
  for (size_t i = 0; i < wide.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(expected[i])) << i;
}

TEST(HalfRates, AreMeasuredWhereThereAreInstructions) {
  const HalfRates &rates = halfRates();
  EXPECT_EQ(&rates, &halfRates());
  EXPECT_EQ(rates.f32 > 0, rates.bf16 > 0);
  if (rates.bf16 == 0) {
    EXPECT_FALSE(rates.areFaster());
  }
}

} // namespace
} // namespace gc::runtime::cpu
