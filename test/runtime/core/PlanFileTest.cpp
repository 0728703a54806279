#include "test/runtime/core/SoundPlans.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>

using namespace gc::runtime;
using namespace gc::test;
using conformance::SmallPlan;
using gc::plan::View;

namespace {

std::function<void(SmallPlan &)> launchWith(gc::plan::Extent grid, gc::plan::Extent block,
                                            uint32_t shared = 0) {
  return [=](SmallPlan &p) {
    p.image(".version 7.0", {"k"});
    p.launch(0, {}, grid, block, shared);
  };
}

/// A graph that needs 128 bytes of workspace, and a buffer of 16 floats.
std::function<void(SmallPlan &)> graphWith(std::function<void(SmallPlan &, uint32_t)> call) {
  return [=](SmallPlan &p) {
    uint32_t a = p.activation("a", {16});
    p.graph("g", "{}", 128);
    call(p, a);
  };
}

/// A plan that breaks one rule, and a part of the message that says so.
struct Broken {
  const char *name;
  std::function<void(SmallPlan &)> build;
  const char *message;
};

const Broken kBroken[] = {
    {"microBatches", [](SmallPlan &p) { p.microBatches = 0; }, "micro-batches"},
    {"arenaHuge", [](SmallPlan &p) { p.arenaBytes = uint64_t(1) << 60; }, "address space"},
    {"alignment",
     [](SmallPlan &p) {
       p.misalign = 4;
       p.activation("a", {4});
     },
     "multiple of 64"},
    {"outsideArena",
     [](SmallPlan &p) {
       p.activation("a", {100});
       p.arenaBytes = 64;
     },
     "arena of 64"},
    {"overflowingBytes",
     [](SmallPlan &p) {
       p.buffer("a", gc::plan::BufferKind_Activation, {1}, ~uint64_t(0) - 100);
       p.arenaBytes = 4096;
     },
     "arena of 4096"},
    {"shapeTooLarge",
     [](SmallPlan &p) { p.buffer("a", gc::plan::BufferKind_Activation, {1000}, 64); },
     "does not fit"},
    {"shapeOverflow",
     [](SmallPlan &p) {
       p.buffer("a", gc::plan::BufferKind_Activation, {int64_t(1) << 40, int64_t(1) << 40}, 64);
     },
     "does not fit"},
    {"negativeShape",
     [](SmallPlan &p) { p.buffer("a", gc::plan::BufferKind_Activation, {-1}, 64); },
     "does not fit"},
    {"symbolTwice",
     [](SmallPlan &p) {
       p.kernels(conformance::kernelObject().first(64), {"k", "k"});
     },
     "kernel 'k' is there twice"},
    {"emptySymbol", [](SmallPlan &p) { p.kernels(conformance::kernelObject().first(64), {""}); },
     "has no name"},
    {"noObject", [](SmallPlan &p) { p.kernels({}, {"k"}); }, "no object code"},
    {"variableBuffer", [](SmallPlan &p) { p.variable("v", 7, {1}); }, "names buffer 7"},
    {"variableTwice",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {4});
       p.variable("v", a, {4});
       p.variable("v", a, {4});
     },
     "twice"},
    {"variableElements", [](SmallPlan &p) { p.variable("v", p.activation("a", {4}), {5}); },
     "number of elements"},
    {"variablePermutation",
     [](SmallPlan &p) {
       p.variable("v", p.activation("a", {4}), {2, 2}, {2, 2}, {0, 0});
     },
     "file layout"},
    {"variableSplit",
     [](SmallPlan &p) {
       p.variable("v", p.activation("a", {4}), {2, 2}, {2, 3}, {1, 0});
     },
     "file layout"},
    {"gradientBuffer",
     [](SmallPlan &p) { p.variable("v", p.activation("a", {4}), {4}, {}, {}, 9); },
     "gradient buffer 9"},
    {"gradientShape",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {4}), g = p.activation("g", {5});
       p.variable("v", a, {4}, {}, {}, static_cast<int32_t>(g));
     },
     "gradient of another shape"},
    {"inputNoSlots", [](SmallPlan &p) { p.input("x", {}); }, "no slots"},
    {"inputBuffer", [](SmallPlan &p) { p.input("x", {3}); }, "names buffer 3"},
    {"inputSlotsDiffer",
     [](SmallPlan &p) {
       uint32_t a = p.buffer("a", gc::plan::BufferKind_Input, {4});
       uint32_t b = p.buffer("b", gc::plan::BufferKind_Input, {5});
       p.input("x", {a, b});
     },
     "different kinds, sizes"},
    {"metricBuffer", [](SmallPlan &p) { p.loss = 5; }, "metric 'loss' names buffer 5"},
    {"metricType",
     [](SmallPlan &p) {
       p.loss = static_cast<int32_t>(
           p.buffer("l", gc::plan::BufferKind_Metric, {8}, 0, gc::plan::DType_U8));
     },
     "not one f32"},
    {"kernelIndex", [](SmallPlan &p) { p.dispatch(0, {}, 1, 1); }, "kernel 0 of 0"},
    {"kernelOperand",
     [](SmallPlan &p) {
       p.kernels(conformance::kernelObject().first(64), {"k"});
       p.dispatch(0, {4}, 1, 1);
     },
     "names buffer 4"},
    {"dispatchOfAGpuKernel",
     [](SmallPlan &p) {
       p.image(".version 7.0", {"k"});
       p.dispatch(0, {}, 1, 1);
     },
     "not for a CPU"},
    {"imageOrder",
     [](SmallPlan &p) {
       p.image(".version 7.0", {"k"});
       p.image(".version 7.0", {});
     },
     "image 1 starts at kernel 1 of 1"},
    {"imageTwice",
     [](SmallPlan &p) {
       p.image(".version 7.0", {});
       p.image(".version 7.0", {"k"});
     },
     "image 1 starts at kernel 0 of 1"},
    {"imageText", [](SmallPlan &p) { p.image("", {"k"}); }, "no text"},
    {"imageCubin",
     [](SmallPlan &p) {
       p.image(".version 7.0", {"k"}, {1, 2, 3});
     },
     "truncated"},
    {"imageCubinSections",
     [](SmallPlan &p) {
       std::vector<uint8_t> cubin(conformance::kernelObject().begin(),
                                  conformance::kernelObject().end());
       cubin.resize(cubin.size() / 2);
       p.image(".version 7.0", {"k"}, cubin);
     },
     "truncated"},
    {"launchKernel",
     [](SmallPlan &p) {
       p.launch(0, {}, {1, 1, 1}, {1, 1, 1});
     },
     "kernel 0 of 0"},
    {"launchOfACpuKernel",
     [](SmallPlan &p) {
       p.kernels(conformance::kernelObject().first(64), {"k"});
       p.launch(0, {}, {1, 1, 1}, {1, 1, 1});
     },
     "not for a GPU"},
    {"launchOperand",
     [](SmallPlan &p) {
       p.image(".version 7.0", {"k"});
       p.launch(0, {4}, {1, 1, 1}, {1, 1, 1});
     },
     "names buffer 4"},
    {"launchAccess",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {16});
       p.image(".version 7.0", {"k"});
       p.dropAccess = true;
       p.launch(0, {a, a}, {1, 1, 1}, {1, 1, 1});
     },
     "2 buffers, but access to 1"},
    {"launchParameters",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {16});
       p.image(".version 7.0", {"k"});
       p.launch(0, std::vector<uint32_t>(513, a), {1, 1, 1}, {1, 1, 1});
     },
     "more than 512"},
    {"launchGrid", launchWith({0, 1, 1}, {1, 1, 1}), "grid of 0"},
    {"launchGridY", launchWith({1, 65536, 1}, {1, 1, 1}), "grid of 1 x 65536"},
    {"launchGridX", launchWith({0x80000000, 1, 1}, {1, 1, 1}), "grid of 2147483648"},
    {"launchBlock", launchWith({1, 1, 1}, {32, 0, 1}), "block of 32 x 0"},
    {"launchBlockZ", launchWith({1, 1, 1}, {1, 1, 65}), "block of 1 x 1 x 65"},
    {"launchBlockProduct", launchWith({1, 1, 1}, {64, 32, 1}), "block of 64 x 32"},
    {"launchBlockOverflow", launchWith({1, 1, 1}, {0x10000, 0x10000, 1}), "block of 65536"},
    {"launchShared", launchWith({1, 1, 1}, {1, 1, 1}, 300000), "300000 bytes of shared"},
    {"graphText", [](SmallPlan &p) { p.graph("g", "", 0); }, "graph 'g' is empty"},
    {"graphIndex", [](SmallPlan &p) { p.graphCall(0, {}, {}, {}, -1); }, "graph 0 of 0"},
    {"graphIds", graphWith([](SmallPlan &p, uint32_t a) { p.graphCall(0, {1}, {}, {}, -1); }),
     "as many ids"},
    {"graphIdTwice", graphWith([](SmallPlan &p, uint32_t a) {
       p.graphCall(0, {1}, {View(a, 0)}, {{1, 0.5f}}, -1);
     }),
     "id 1 is bound twice"},
    {"graphOperand",
     graphWith([](SmallPlan &p, uint32_t a) { p.graphCall(0, {1}, {View(9, 0)}, {}, -1); }),
     "names buffer 9"},
    {"graphView",
     graphWith([](SmallPlan &p, uint32_t a) { p.graphCall(0, {1}, {View(a, 16)}, {}, -1); }),
     "behind the end"},
    {"graphViewOverflow", graphWith([](SmallPlan &p, uint32_t a) {
       p.graphCall(0, {1}, {View(a, uint64_t(1) << 62)}, {}, -1);
     }),
     "behind the end"},
    {"graphAccess", graphWith([](SmallPlan &p, uint32_t a) {
       p.dropAccess = true;
       p.graphCall(0, {1}, {View(a, 0)}, {}, -1);
     }),
     "access to 0"},
    {"graphNoWorkspace",
     graphWith([](SmallPlan &p, uint32_t a) { p.graphCall(0, {1}, {View(a, 0)}, {}, -1); }),
     "needs 128 bytes"},
    {"graphSmallWorkspace", graphWith([](SmallPlan &p, uint32_t a) {
       p.graphCall(0, {1}, {View(a, 0)}, {}, p.workspace(127));
     }),
     "has 127"},
    {"graphWorkspaceKind", graphWith([](SmallPlan &p, uint32_t a) {
       p.graphCall(0, {1}, {View(a, 0)}, {}, static_cast<int32_t>(a));
     }),
     "another kind"},
    {"fillBuffer", [](SmallPlan &p) { p.fill(2, 0); }, "fill names buffer 2"},
    {"copyRange",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {16});
       p.copy({a, 8}, {a, 0}, 64);
     },
     "beyond the end"},
    {"copyOverflow",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {16});
       p.copy({a, ~uint64_t(0) / 2}, {a, 0}, 64);
     },
     "beyond the end"},
    {"convolutionOperand",
     [](SmallPlan &p) { p.convolution(smallConvolution(), 0, 1, 2, -1, -1, -1); },
     "src names buffer 0"},
    {"convolutionSmallBuffer",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {32}), w = p.activation("w", {10}),
                y = p.activation("y", {48});
       p.convolution(smallConvolution(), a, w, y, -1, -1, -1);
     },
     "weights"},
    {"convolutionGeometry",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.out_h = 9;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "output size does not follow"},
    {"convolutionSize",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.stride_h = 0;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "not possible"},
    {"convolutionResidual",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.direction = gc::plan::Direction_BackwardData, s.residual = true;
       p.convolution(s, a, a, a, -1, static_cast<int32_t>(a), -1);
     },
     "belong to the forward"},
    {"convolutionWorkspace",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       p.convolution(smallConvolution(), a, a, a, -1, -1, static_cast<int32_t>(a));
     },
     "another kind"},
    {"convolutionBiasWithoutBuffer",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.bias = true;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "its spec has a bias, its buffers say otherwise"},
    {"convolutionResidualOfNobody",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       p.convolution(smallConvolution(), a, a, a, -1, static_cast<int32_t>(a), -1);
     },
     "its spec has no residual, its buffers say otherwise"},
    {"convolutionGroups",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.groups = 3;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "3 groups do not divide"},
    {"convolutionDilation",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.dilation_w = 0;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "a size of 0 is not possible"},
    {"convolutionType",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.type = gc::plan::DType_F16;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "computes f16 with sums in f32 and results in f32; products are of f32 or bf16"},
    {"matmulStrides",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::MatMulSpec s = smallMatMul();
       s.a_strides = {1};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "need 2 strides"},
    {"matmulOutOfBounds",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.a_strides = {100, 1};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "a 'a' has"},
    {"matmulViewOffset",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       p.matmul(smallMatMul(), {a, 20}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "a 'a' has"},
    {"matmulStrideOverflow",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.b_strides = {int64_t(1) << 62, int64_t(1) << 62};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "b 'a' has"},
    {"matmulNegativeStride",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.a_strides = {-6, 1};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "a 'a' has"},
    {"matmulZeroStrideOfC",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.c_strides = {0, 1};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "written twice"},
    {"matmulBias",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30}), b = p.activation("b", {2});
       cpu::MatMulSpec s = smallMatMul();
       s.bias = true;
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, static_cast<int32_t>(b), -1, -1);
     },
     "bias 'b' has"},
    {"matmulBiasWithoutBuffer",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.bias = true;
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "its spec has a bias, its buffers say otherwise"},
    {"matmulResidualOfNobody",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       p.matmul(smallMatMul(), {a, 0}, {a, 0}, {a, 0}, -1, static_cast<int32_t>(a), -1);
     },
     "its spec has no residual, its buffers say otherwise"},
    {"matmulType",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.type = gc::plan::DType_F16;
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "computes f16 with sums in f32 and results in f32; products are of f32 or bf16"},
    {"matmulOfAnotherType",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.type = gc::plan::DType_BF16;
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "a 'a' is not bf16"},
    {"matmulAccumulatesHalves",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.type = s.result = gc::plan::DType_BF16;
       s.accumulate = true;
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "adds to what is there in bf16; only f32 accumulates"},
    {"matmulAccumulator",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.accumulator = static_cast<gc::plan::DType>(99);
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "sums in unknown type 99"},
};

} // namespace

TEST(PlanFile, AcceptsASoundPlan) {
  auto plan = PlanFile::fromMemory(soundPlan());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->get().micro_batch()->commands()->size(), 5u);
}

TEST(PlanFile, AcceptsASoundCudaPlan) {
  auto plan = PlanFile::fromMemory(soundCudaPlan());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->get().micro_batch()->commands()->size(), 2u);
}

TEST(PlanFile, LoadsFiles) {
  std::string path = testing::TempDir() + "small.plan";
  std::vector<std::byte> bytes = soundPlan();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(PlanFile::load(path));
  std::remove(path.c_str());
  for (const std::string &bad : {path, testing::TempDir()}) {
    auto plan = PlanFile::load(bad);
    ASSERT_FALSE(plan) << bad;
    EXPECT_EQ(plan.error().exitCode(), 2);
    EXPECT_NE(plan.error().message.find(bad), std::string::npos);
  }
}

TEST(PlanFile, EveryRuleIsChecked) {
  for (const Broken &broken : kBroken) {
    SmallPlan small;
    broken.build(small);
    auto plan = PlanFile::fromMemory(small.finish());
    ASSERT_FALSE(plan) << broken.name << " was accepted";
    EXPECT_EQ(plan.error().exitCode(), 2) << broken.name;
    EXPECT_NE(plan.error().message.find(broken.message), std::string::npos)
        << broken.name << ": " << plan.error().message;
  }
}
