// What the CPU's library has no kernels for, it refuses: nothing is computed as if groups or types
// had not been said.
#include "test/runtime/core/SoundPlans.h"

#include <gtest/gtest.h>
#include <set>

using namespace gc::runtime;
using namespace gc::test;

namespace {

template <typename Spec> void expectRefusal(const Spec &spec, const std::string &part) {
  Result<size_t> bytes = cpu::workspaceBytes(spec, 1);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().exitCode(), 2);
  EXPECT_NE(bytes.error().message.find(part), std::string::npos) << bytes.error().message;
}

} // namespace

TEST(LibrarySpecs, SmallOnesAreComputed) {
  EXPECT_TRUE(cpu::workspaceBytes(smallConvolution(), 1));
  EXPECT_TRUE(cpu::workspaceBytes(smallMatMul(), 1));
}

TEST(LibrarySpecs, RefusesGroupsThatDoNotDivide) {
  cpu::ConvolutionSpec spec = smallConvolution();
  for (int64_t groups : {int64_t(0), spec.in_c + 1}) {
    spec.groups = groups;
    expectRefusal(spec, std::to_string(groups) + " groups do not divide");
  }
}

TEST(LibrarySpecs, RefusesDilationsThatAreNone) {
  for (bool down : {true, false}) {
    cpu::ConvolutionSpec spec = smallConvolution();
    (down ? spec.dilation_h : spec.dilation_w) = 0;
    expectRefusal(spec, "a convolution needs positive sizes");
  }
}

TEST(LibrarySpecs, RefusesTypes) {
  for (gc::plan::DType type : {gc::plan::DType_F16, gc::plan::DType_I32}) {
    cpu::ConvolutionSpec convolution = smallConvolution();
    convolution.type = type;
    expectRefusal(convolution, gc::plan::EnumNameDType(type));
    cpu::MatMulSpec product = smallMatMul();
    product.type = type;
    expectRefusal(product, gc::plan::EnumNameDType(type));
    product.type = gc::plan::DType_F32, product.accumulator = type;
    expectRefusal(product, gc::plan::EnumNameDType(type));
  }
}

// What accumulates is f32, and so is what f32 gives.
TEST(LibrarySpecs, RefusesHalvesThatLoseSums) {
  cpu::MatMulSpec product = smallMatMul();
  product.result = gc::plan::DType_BF16;
  expectRefusal(product, "results in BF16");
  product.type = gc::plan::DType_BF16;
  EXPECT_TRUE(cpu::workspaceBytes(product, 1));
  product.accumulate = true;
  expectRefusal(product, "added to BF16");
}

// Workspaces are remembered by it, so it must tell apart what differs.
TEST(LibrarySpecs, KeysTellFieldsApart) {
  EXPECT_EQ(cpu::specKey(smallConvolution()), cpu::specKey(smallConvolution()));
  EXPECT_EQ(cpu::specKey(smallMatMul()), cpu::specKey(smallMatMul()));
  std::set<std::string> keys{cpu::specKey(smallConvolution()), cpu::specKey(smallMatMul())};
  size_t count = keys.size();
  auto add = [&](auto spec, auto change) {
    change(spec);
    keys.insert(cpu::specKey(spec));
    EXPECT_EQ(keys.size(), ++count);
  };
  add(smallConvolution(), [](auto &s) { s.direction = gc::plan::Direction_BackwardData; });
  add(smallConvolution(), [](auto &s) { s.groups = 2; });
  add(smallConvolution(), [](auto &s) { s.dilation_h = 2; });
  add(smallConvolution(), [](auto &s) { s.dilation_w = 2; });
  add(smallConvolution(), [](auto &s) { s.type = gc::plan::DType_F16; });
  add(smallConvolution(), [](auto &s) { s.accumulator = gc::plan::DType_F16; });
  add(smallConvolution(), [](auto &s) { s.result = gc::plan::DType_BF16; });
  add(smallConvolution(), [](auto &s) { s.native = true; });
  add(smallConvolution(), [](auto &s) { s.bias = true; });
  add(smallConvolution(), [](auto &s) { s.accumulate = true; });
  add(smallMatMul(), [](auto &s) { s.type = gc::plan::DType_F16; });
  add(smallMatMul(), [](auto &s) { s.accumulator = gc::plan::DType_F16; });
  add(smallMatMul(), [](auto &s) { s.scale = 1e-8f; });
  add(smallMatMul(), [](auto &s) { s.scale = 2e-8f; });
  add(smallMatMul(), [](auto &s) { s.b_strides = {1, 6}; });
  add(smallMatMul(), [](auto &s) { s.residual = true; });
}
