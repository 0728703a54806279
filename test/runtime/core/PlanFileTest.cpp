#include "runtime/plan/PlanFile.h"
#include "runtime/hal/conformance/Runner.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace gc::runtime;
using conformance::SmallPlan;
using gc::plan::View;

namespace {

cpu::ConvolutionSpec smallConvolution() {
  cpu::ConvolutionSpec s;
  s.batch = 1, s.inH = s.inW = s.outH = s.outW = 4, s.inC = 2, s.outC = 3;
  s.kernelH = s.kernelW = 3, s.padH = s.padW = 1;
  return s;
}

cpu::MatMulSpec smallMatMul() {
  cpu::MatMulSpec s;
  s.m = 4, s.n = 5, s.k = 6, s.aStrides = {6, 1}, s.bStrides = {5, 1}, s.cStrides = {5, 1};
  return s;
}

/// One of everything.
std::vector<std::byte> soundPlan() {
  SmallPlan p;
  uint32_t x = p.buffer("x", gc::plan::BufferKind_Input, {1, 4, 4, 2});
  uint32_t w = p.buffer("w", gc::plan::BufferKind_Parameter, {3, 3, 3, 2});
  uint32_t y = p.activation("y", {1, 4, 4, 3});
  uint32_t a = p.activation("a", {4, 6}), b = p.activation("b", {6, 5}),
           c = p.activation("c", {4, 5});
  p.input("x", {x});
  p.variable("w", w, {3, 2, 3, 3}, {3, 2, 3, 3}, {0, 2, 3, 1});
  p.kernels(conformance::kernelObject().first(128), {"k"});
  p.convolution(smallConvolution(), x, w, y, -1, -1, p.workspace(4096));
  p.matmul(smallMatMul(), {a, 0}, {b, 0}, {c, 0}, -1, -1, -1);
  p.dispatch(0, {a, b}, 4, 1);
  p.fill(a, 0);
  p.copy({a, 0}, {b, 0}, 96);
  p.loss = static_cast<int32_t>(c);
  return p.finish();
}

/// A plan that breaks one rule, and a part of the message that says so.
struct Broken {
  const char *name;
  std::function<void(SmallPlan &)> build;
  const char *message;
};

const Broken kBroken[] = {
    {"version", [](SmallPlan &p) { p.version = 99; }, "version 99"},
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
    {"metricBuffer", [](SmallPlan &p) { p.loss = 5; }, "metric names buffer 5"},
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
       s.outH = 9;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "output size does not follow"},
    {"convolutionSize",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.strideH = 0;
       p.convolution(s, a, a, a, -1, -1, -1);
     },
     "not possible"},
    {"convolutionResidual",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::ConvolutionSpec s = smallConvolution();
       s.direction = cpu::Direction::BackwardData;
       p.convolution(s, a, a, a, -1, static_cast<int32_t>(a), -1);
     },
     "belong to the forward"},
    {"convolutionWorkspace",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       p.convolution(smallConvolution(), a, a, a, -1, -1, static_cast<int32_t>(a));
     },
     "another kind"},
    {"matmulStrides",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {1000});
       cpu::MatMulSpec s = smallMatMul();
       s.aStrides = {1};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "need 2 strides"},
    {"matmulOutOfBounds",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.aStrides = {100, 1};
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
       s.bStrides = {int64_t(1) << 62, int64_t(1) << 62};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "b 'a' has"},
    {"matmulNegativeStride",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.aStrides = {-6, 1};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "a 'a' has"},
    {"matmulZeroStrideOfC",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30});
       cpu::MatMulSpec s = smallMatMul();
       s.cStrides = {0, 1};
       p.matmul(s, {a, 0}, {a, 0}, {a, 0}, -1, -1, -1);
     },
     "written twice"},
    {"matmulBias",
     [](SmallPlan &p) {
       uint32_t a = p.activation("a", {30}), b = p.activation("b", {2});
       p.matmul(smallMatMul(), {a, 0}, {a, 0}, {a, 0}, static_cast<int32_t>(b), -1, -1);
     },
     "bias"},
};

} // namespace

TEST(PlanFile, AcceptsASoundPlan) {
  auto plan = PlanFile::fromMemory(soundPlan());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->get().micro_batch()->commands()->size(), 5u);
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

TEST(PlanFile, EveryTruncationIsAnError) {
  std::vector<std::byte> bytes = soundPlan();
  for (size_t length = 0; length < bytes.size(); ++length) {
    auto plan = PlanFile::fromMemory({bytes.data(), length});
    ASSERT_FALSE(plan) << "the first " << length << " of " << bytes.size() << " bytes";
    EXPECT_EQ(plan.error().exitCode(), 2);
  }
}

// Most flips are caught; those that leave a sound plan (a letter of a name) may pass. None may
// crash, and what passes keeps every buffer inside its arena.
TEST(PlanFile, BitFlipsNeverCrash) {
  const std::vector<std::byte> bytes = soundPlan();
  std::mt19937 random(1);
  size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> damaged = bytes;
    for (int flips = 1 + round % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] ^= std::byte(1 << random() % 8);
    auto plan = PlanFile::fromMemory(damaged);
    if (!plan) {
      ++refused;
      continue;
    }
    for (const gc::plan::Buffer *buffer : *plan->get().buffers())
      ASSERT_LE(buffer->offset() + buffer->bytes(), plan->get().arena_bytes());
  }
  EXPECT_GT(refused, 5000u);
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
