// The conformance suite on the emulated GPU, products included; CTest sets where its driver is.
#include "runtime/hal/conformance/Conformance.h"
#include "compiler/cuda/DeviceModel.h"
#include "tools/selftest/CudaLowering.h"

#include <gtest/gtest.h>

using namespace gc::runtime::conformance;

static const CudaLowering &lowering() {
  static const CudaLowering newest(gc::cuda::deviceModels().back());
  return newest;
}

class CudaConformance : public testing::TestWithParam<std::string> {};

TEST_P(CudaConformance, Case) {
  CaseResult result = runCase(GetParam(), "cuda", 1, &lowering());
  EXPECT_TRUE(result.passed) << result.message;
}

INSTANTIATE_TEST_SUITE_P(Emulated, CudaConformance, testing::ValuesIn(caseNames(lowering())),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

// A kernel for another product must not pass: nothing else here shows that numbers are compared.
TEST(CudaConformanceSuite, WrongProductsFail) {
  class Wrong : public PtxLowering {
    void target(SmallPlan &plan) const override { lowering().target(plan); }
    gc::runtime::Status matmul(SmallPlan &plan, const gc::runtime::cpu::MatMulSpec &spec,
                               const MatMulOperands &operands, int threads) const override {
      gc::runtime::cpu::MatMulSpec other = spec;
      other.k -= 1;
      return lowering().matmul(plan, other, operands, threads);
    }
  } wrong;
  CaseResult result = runCase("matmul.plain", "cuda", 1, &wrong);
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.message.find("expected"), std::string::npos) << result.message;
}

TEST(DeviceModels, AreFoundByComputeCapability) {
  using gc::cuda::deviceModelFor;
  EXPECT_EQ(deviceModelFor(70), nullptr);
  EXPECT_STREQ(deviceModelFor(75)->target, "sm_75");
  EXPECT_STREQ(deviceModelFor(87)->target, "sm_86");
  EXPECT_STREQ(deviceModelFor(103)->target, "sm_100");
  EXPECT_STREQ(deviceModelFor(121)->target, "sm_120");
}
