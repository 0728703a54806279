//===- RoundingTest.cpp - f32 to bf16 and back, by the definition ---------===//
#include "compiler/cpu/objectcode/CompileObjectCode.h"
#include "compiler/cpu/objectcode/LowerToHost.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/objectcode/LoadedKernels.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace gc::cpu;
using namespace gc::test;

namespace {

constexpr int64_t kElements = 1 << 16;

// A loop that LLVM may vectorize, and vectors.
constexpr const char *kScalars = R"(
  func.func @f(%x: memref<65536xf32>, %y: memref<65536xbf16>, %z: memref<65536xf32>,
               %begin: index, %end: index) {
    %one = arith.constant 1 : index
    scf.for %i = %begin to %end step %one {
      %v = memref.load %x[%i] : memref<65536xf32>
      %h = arith.truncf %v : f32 to bf16
      memref.store %h, %y[%i] : memref<65536xbf16>
      %w = arith.extf %h : bf16 to f32
      memref.store %w, %z[%i] : memref<65536xf32>
    }
    return
  })";
constexpr const char *kVectors = R"(
  func.func @f(%x: memref<65536xf32>, %y: memref<65536xbf16>, %z: memref<65536xf32>,
               %begin: index, %end: index) {
    %step = arith.constant 16 : index
    scf.for %i = %begin to %end step %step {
      %v = vector.load %x[%i] : memref<65536xf32>, vector<16xf32>
      %h = arith.truncf %v : vector<16xf32> to vector<16xbf16>
      vector.store %h, %y[%i] : memref<65536xbf16>, vector<16xbf16>
      %w = arith.extf %h : vector<16xbf16> to vector<16xf32>
      vector.store %w, %z[%i] : memref<65536xf32>, vector<16xf32>
    }
    return
  })";

float fromHalf(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// Of the two bf16 around x the nearer one, of two as near the even one. Beyond the largest,
/// infinity is as far as the number that would follow.
uint16_t nearest(float x) {
  auto below = static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); // towards 0
  if (std::isinf(x))
    return below;
  auto above = static_cast<uint16_t>(below + 1);
  double low = fromHalf(below), high = fromHalf(above);
  if (std::isinf(high))
    high = std::copysign(std::ldexp(1.0, 128), x);
  double toLow = std::fabs(x - low), toHigh = std::fabs(high - x);
  if (toLow == toHigh)
    return below % 2 == 0 ? below : above;
  return toLow < toHigh ? below : above;
}

class Rounding : public testing::TestWithParam<const char *> {};

TEST_P(Rounding, IsToTheNearestEven) {
  mlir::MLIRContext context;
  registerKernelDialects(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(GetParam(), &context);
  ASSERT_TRUE(bool(module));
  auto library = compileKernels(*module, {});
  ASSERT_TRUE(mlir::succeeded(library));
  LoadedKernels kernels(*library);
  ASSERT_EQ(kernels.error(), "");
  Buffer<float> x(kElements), z(kElements);
  Buffer<uint16_t> y(kElements);
  void *buffers[] = {x.data(), y.data(), z.data()};
  // Every upper half, with lower halves around a tie and elsewhere.
  for (uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, 0x1234u}) {
    for (int64_t i = 0; i < kElements; ++i)
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(i) << 16 | lower);
    kernels["f"](buffers, 0, kElements);
    for (int64_t i = 0; i < kElements; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(z[i]), static_cast<uint32_t>(y[i]) << 16);
      if (std::isnan(x[i]))
        ASSERT_TRUE(std::isnan(z[i])) << i;
      else
        ASSERT_EQ(y[i], nearest(x[i])) << std::hex << i << " " << lower;
    }
  }
  EXPECT_TRUE(y.guardIsIntact() && z.guardIsIntact());
}

INSTANTIATE_TEST_SUITE_P(Forms, Rounding, testing::Values(kScalars, kVectors));

} // namespace
