//===- AssembleTest.cpp - Odd products on every GPU -----------------------===//
//
// Shapes that real networks do not have; those of the networks are assembled in ../networks.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/ptx/AssemblePtx.h"
#include "test/compiler/cuda/products/ProductRunner.h"
#include <gtest/gtest.h>

using namespace gc;
using namespace gc::test;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;

struct OddProduct {
  const char *name, *op;
  Shapes operands, results;
};

const OddProduct oddProducts[] = {
    // All that can follow a product.
    {"Wide",
     "gc.conv2d %a0, %a1 bias %a2 residual %a3 activation = gelu {strides = array<i64: 1, 1>, "
     "padding = array<i64: 1, 1>}",
     {{32, 14, 14, 256}, {256, 3, 3, 256}, {256}, {32, 14, 14, 256}},
     {{32, 14, 14, 256}}},
    // Odd sizes: no vectors.
    {"OddInput",
     "gc.conv2d_grad_input %a0, %a1 {strides = array<i64: 2, 2>, padding = array<i64: 3, 3>}",
     {{64, 61, 59, 61}, {61, 7, 7, 131}},
     {{64, 121, 117, 131}}},
    {"OddFilter",
     "gc.conv2d_grad_filter %a0, %a1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}",
     {{31, 53, 53, 131}, {31, 53, 53, 127}},
     {{127, 3, 3, 131}}},
    {"OddLinear",
     "gc.linear %a0, %a1 bias %a2 residual %a3 activation = gelu",
     {{8191, 509}, {1021, 509}, {1021}, {8191, 1021}},
     {{8191, 1021}}},
    // Few rows: splits.
    {"HeadOfOne", "gc.linear %a0, %a1 bias %a2", {{1, 2048}, {1000, 2048}, {1000}}, {{1, 1000}}},
    // Heads of other sizes than 64, and the largest.
    {"Attention128",
     "gc.attention %a0 {heads = 4 : i64}",
     {{32, 197, 1536}},
     {{32, 197, 512}, {32, 4, 197}}},
    {"Attention128Gradient",
     "gc.attention_grad %a0, %a1, %a2, %a3 {heads = 4 : i64}",
     {{32, 197, 1536}, {32, 197, 512}, {32, 4, 197}, {32, 197, 512}},
     {{32, 197, 1536}}},
    {"AttentionOdd67",
     "gc.attention %a0 {heads = 5 : i64}",
     {{8, 131, 1005}},
     {{8, 131, 335}, {8, 5, 131}}},
    {"AttentionOdd67Gradient",
     "gc.attention_grad %a0, %a1, %a2, %a3 {heads = 5 : i64}",
     {{8, 131, 1005}, {8, 131, 335}, {8, 5, 131}, {8, 131, 335}},
     {{8, 131, 1005}}},
    {"AttentionOdd61",
     "gc.attention %a0 {heads = 5 : i64}",
     {{8, 131, 915}},
     {{8, 131, 305}, {8, 5, 131}}},
    {"AttentionOdd61Gradient",
     "gc.attention_grad %a0, %a1, %a2, %a3 {heads = 5 : i64}",
     {{8, 131, 915}, {8, 131, 305}, {8, 5, 131}, {8, 131, 305}},
     {{8, 131, 915}}},
    {"Attention256",
     "gc.attention %a0 {heads = 4 : i64}",
     {{8, 197, 3072}},
     {{8, 197, 1024}, {8, 4, 197}}},
    {"Attention256Gradient",
     "gc.attention_grad %a0, %a1, %a2, %a3 {heads = 4 : i64}",
     {{8, 197, 3072}, {8, 197, 1024}, {8, 4, 197}, {8, 197, 1024}},
     {{8, 197, 3072}}},
};

std::string textOf(const OddProduct &c) {
  auto list = [](const Shapes &shapes) {
    std::string text;
    for (size_t i = 0; i < shapes.size(); ++i)
      text += (i ? ", " : "") + typeOf(shapes[i]);
    return "(" + text + ")";
  };
  return (c.results.size() == 1 ? "%y = " : "%y, %z = ") + (c.op + (" : " + list(c.operands))) +
         " -> " + list(c.results);
}

class Assemble : public testing::TestWithParam<OddProduct> {};

// Everywhere without spills.
TEST_P(Assemble, OnEveryDevice) {
  if (cuda::Assembler::find().path.empty())
    GTEST_SKIP() << "there is no ptxas";
  EXPECT_EQ(assembleOp(textOf(GetParam()), GetParam().operands), cuda::deviceModels().size());
}
INSTANTIATE_TEST_SUITE_P(Products, Assemble, testing::ValuesIn(oddProducts),
                         [](const auto &info) { return info.param.name; });

// The products of them; attention stays f32.
class AssembleTf32 : public testing::TestWithParam<OddProduct> {};
TEST_P(AssembleTf32, WhereThereAreTensorCores) {
  if (cuda::Assembler::find().path.empty())
    GTEST_SKIP() << "there is no ptxas";
  EXPECT_EQ(assembleOp(textOf(GetParam()), GetParam().operands, "", /*tf32=*/true),
            cuda::deviceModels().size() - 1); // without sm_75
}
INSTANTIATE_TEST_SUITE_P(Products, AssembleTf32,
                         testing::ValuesIn(std::begin(oddProducts), std::begin(oddProducts) + 5),
                         [](const auto &info) { return info.param.name; });

} // namespace
