//===- MathAccuracyTest.cpp - Expanded functions against double -----------===//
#include "compiler/cpu/objectcode/CompileObjectCode.h"
#include "compiler/cpu/objectcode/LowerToHost.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/objectcode/LoadedKernels.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace gc::cpu;
using namespace gc::test;

namespace {

struct Function {
  const char *name;
  double (*truth)(double);
  double ulps; // largest error allowed, in units in the last place of the result
};

double rsqrt(double x) { return 1 / std::sqrt(x); }

class MathAccuracyTest : public testing::TestWithParam<Function> {};

constexpr int64_t size = 1 << 16;

double unitInLastPlace(double value) {
  float magnitude = std::fabs(float(value));
  if (!(magnitude < std::numeric_limits<float>::max()))
    return std::ldexp(1.0, 104);
  return double(std::nextafter(magnitude, std::numeric_limits<float>::infinity())) - magnitude;
}

TEST_P(MathAccuracyTest, IsCloseToTheTruth) {
  const Function &function = GetParam();
  mlir::MLIRContext context;
  registerKernelDialects(context);
  std::string text = R"(
    func.func @f(%x: memref<65536xf32>, %y: memref<65536xf32>, %begin: index, %end: index) {
      %one = arith.constant 1 : index
      scf.for %i = %begin to %end step %one {
        %v = memref.load %x[%i] : memref<65536xf32>
        %r = math.)" +
                     std::string(function.name) + R"( %v : f32
        memref.store %r, %y[%i] : memref<65536xf32>
      }
      return
    })";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(bool(module));
  auto library = compileKernels(*module, {});
  ASSERT_TRUE(mlir::succeeded(library));
  LoadedKernels kernels(*library);
  ASSERT_EQ(kernels.error(), "");
  Kernel kernel = kernels["f"];

  Buffer<float> x(size), y(size);
  void *buffers[] = {x.data(), y.data()};
  double worst = 0;
  float worstAt = 0;
  // Every 257th float of all 2^32, so all exponents, both signs, infinities and NaNs.
  for (uint64_t next = 0; next < (1ull << 32);) {
    for (int64_t i = 0; i < size; ++i, next += 257) {
      uint32_t bits = uint32_t(next);
      std::memcpy(&x[i], &bits, 4);
    }
    kernel(buffers, 0, size);
    for (int64_t i = 0; i < size; ++i) {
      double truth = function.truth(double(x[i]));
      if (std::isnan(truth)) {
        ASSERT_TRUE(std::isnan(y[i])) << function.name << "(" << x[i] << ") = " << y[i];
        continue;
      }
      if (std::isinf(float(truth))) {
        ASSERT_EQ(float(truth), y[i]) << function.name << "(" << x[i] << ")";
        continue;
      }
      ASSERT_FALSE(std::isnan(y[i])) << function.name << "(" << x[i] << ")";
      double error = std::fabs(double(y[i]) - truth) / unitInLastPlace(truth);
      if (error > worst)
        worst = error, worstAt = x[i];
    }
  }
  EXPECT_LE(worst, function.ulps) << function.name << "(" << worstAt << ")";
  RecordProperty("worst_ulps", std::to_string(worst));
  std::printf("%s: largest error %.3f ulp at %a\n", function.name, worst, worstAt);
}

INSTANTIATE_TEST_SUITE_P(
    Expanded, MathAccuracyTest,
    testing::Values(Function{"exp", std::exp, 1.1}, Function{"expm1", std::expm1, 2},
                    Function{"log", std::log, 1}, Function{"erf", std::erf, 3.6},
                    Function{"tanh", std::tanh, 2}, Function{"rsqrt", rsqrt, 1.5}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
