// The conformance suite on the emulated GPU, products included; CTest sets where its driver is.
#include "runtime/hal/conformance/Conformance.h"
#include "compiler/cuda/DeviceModel.h"
#include "runtime/hal/Registry.h"
#include "tools/selftest/CudaLowering.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

// What kernels cannot compute yet is refused, not computed as if it had not been said.
TEST(CudaConformanceSuite, RefusesGroupsAndTypes) {
  gc::runtime::cpu::ConvolutionSpec sound;
  sound.batch = 1, sound.in_h = sound.in_w = sound.out_h = sound.out_w = 4;
  sound.in_c = sound.out_c = 2, sound.kernel_h = sound.kernel_w = 1;
  auto refusal = [](const gc::runtime::cpu::ConvolutionSpec &spec) {
    SmallPlan plan;
    ConvolutionOperands operands{plan.activation("src", {32}), plan.activation("weights", {4}),
                                 plan.activation("dst", {32})};
    gc::runtime::Status done = lowering().convolution(plan, spec, operands, 1);
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(refusal(sound), "");
  gc::runtime::cpu::ConvolutionSpec spec = sound;
  spec.groups = 3;
  EXPECT_NE(refusal(spec).find("3 groups do not divide 2 input"), std::string::npos);
  spec = sound, spec.type = gc::plan::DType_BF16;
  EXPECT_NE(refusal(spec).find("BF16"), std::string::npos);

  gc::runtime::cpu::MatMulSpec product;
  product.m = product.n = product.k = 4;
  product.a_strides = product.b_strides = product.c_strides = {4, 1};
  product.type = gc::plan::DType_F16;
  SmallPlan plan;
  uint32_t a = plan.activation("a", {16});
  gc::runtime::Status done = lowering().matmul(plan, product, {{a, 0}, {a, 0}, {a, 0}}, 1);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("F16"), std::string::npos) << done.error().message;
}

TEST(DeviceModels, AreFoundByCard) {
  using gc::cuda::findDeviceModel;
  EXPECT_EQ(findDeviceModel("NVIDIA GeForce RTX 4090")->target, "sm_89");
  EXPECT_EQ(findDeviceModel("rtx-2080-ti")->multiprocessors, 68);
  EXPECT_EQ(findDeviceModel("t4"), findDeviceModel("Tesla T4"));
  EXPECT_EQ(findDeviceModel("rtx"), nullptr);
  // A card serves itself; an architecture serves its largest card.
  EXPECT_EQ(findDeviceModel("RTX 3060")->servedMultiprocessors, 28);
  EXPECT_EQ(findDeviceModel("sm_86")->multiprocessors, 82);
  EXPECT_EQ(findDeviceModel("sm_86")->servedMultiprocessors, 84);
}

TEST(DeviceModels, AreTakenFromTheDriver) {
  std::string reason;
  auto device = gc::runtime::hal::createDevice("cuda");
  ASSERT_TRUE(device) << device.error().message;
  auto properties = (*device)->propertiesJson();
  ASSERT_TRUE(properties);
  auto model = gc::cuda::describedDevice(*properties, reason);
  ASSERT_TRUE(model) << reason;
  EXPECT_EQ(model->target, "sm_120"); // the emulated one is 12.9
  EXPECT_EQ(model->multiprocessors, 16);
  EXPECT_EQ(model->servedMultiprocessors, 16);
  EXPECT_EQ(model->memoryBytes, int64_t(2) << 30);
  EXPECT_EQ(model->memoryBusBits, 128);
  // Some tell nothing of their memory's speed.
  auto untold = nlohmann::json::parse(*properties);
  for (const char *attribute :
       {"clock_rate_khz", "memory_clock_rate_khz", "global_memory_bus_width", "l2_cache_size"})
    untold["attributes"][attribute] = 0;
  auto assumed = gc::cuda::describedDevice(untold.dump(), reason);
  ASSERT_TRUE(assumed) << reason;
  EXPECT_EQ(assumed->multiprocessors, 16);
  EXPECT_EQ(assumed->bytesPerSecond(), gc::cuda::findDeviceModel("sm_120")->bytesPerSecond());
  EXPECT_EQ(assumed->clockKHz, gc::cuda::findDeviceModel("sm_120")->clockKHz);
  EXPECT_FALSE(gc::cuda::describedDevice("{}", reason));
  EXPECT_FALSE(gc::cuda::describedDevice("nonsense", reason));
  EXPECT_FALSE(gc::cuda::describedDevice(
      R"({"name": "old", "compute_capability": "7.0", "attributes": {}})", reason));
  EXPECT_EQ(reason, "(old) has compute capability 7.0, and code is generated from sm_75 on");
}

TEST(DeviceModels, AreFoundByComputeCapability) {
  using gc::cuda::deviceModelFor;
  EXPECT_EQ(deviceModelFor(70), nullptr);
  EXPECT_EQ(deviceModelFor(75)->target, "sm_75");
  EXPECT_EQ(deviceModelFor(87)->target, "sm_86");
  EXPECT_EQ(deviceModelFor(103)->target, "sm_100");
  EXPECT_EQ(deviceModelFor(121)->target, "sm_120");
}
