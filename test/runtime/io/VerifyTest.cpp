// Comparing runs to the bit: tensors that only look alike are found out, and so is a plan that
// computes something else.
#include "runtime/trainer/Verify.h"

#include "runtime/plan/GradientCopies.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

using namespace gc::runtime;
namespace plan = gc::plan;

namespace {

TensorBits floats(const std::vector<float> &values, std::string name = "gradient of 'w'") {
  return {std::move(name), plan::DType_F32, std::as_bytes(std::span(values))};
}

std::optional<Difference> compared(const std::vector<float> &reference,
                                   const std::vector<float> &tested) {
  auto result = compareBits(floats(reference), floats(tested));
  EXPECT_TRUE(result.ok()) << result.error().message;
  return *result;
}

} // namespace

TEST(CompareBits, EqualBitsAreEqual) {
  float nan = std::bit_cast<float>(0x7fc00001u);
  EXPECT_FALSE(compared({1, -0.0f, nan, INFINITY}, {1, -0.0f, nan, INFINITY}));
  EXPECT_FALSE(compared({}, {}));
}

TEST(CompareBits, OneBitIsADifference) {
  std::vector<float> reference = {1, 2, 3, 4}, tested = reference;
  tested[2] = std::nextafter(3.0f, 4.0f);
  auto difference = compared(reference, tested);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->index, 2u);
  EXPECT_EQ(difference->differing, 1u);
  EXPECT_EQ(difference->elements, 4u);
  EXPECT_EQ(difference->reference, "3 (0x40400000)");
  EXPECT_EQ(difference->tested, "3.0000002 (0x40400001)");
}

TEST(CompareBits, WhatComparesEqualMayDiffer) {
  auto zero = compared({0.0f, 5}, {-0.0f, 6}); // == says that the first are equal
  ASSERT_TRUE(zero);
  EXPECT_EQ(zero->index, 0u);
  EXPECT_EQ(zero->differing, 2u);
  EXPECT_EQ(zero->reference, "0 (0x00000000)");
  EXPECT_EQ(zero->tested, "-0 (0x80000000)");
  auto nan = compared({std::bit_cast<float>(0x7fc00000u)}, {std::bit_cast<float>(0x7fc00001u)});
  ASSERT_TRUE(nan);
  EXPECT_EQ(nan->reference, "nan (0x7fc00000)");
  EXPECT_EQ(nan->tested, "nan (0x7fc00001)");
}

TEST(CompareBits, OnlyCounterparts) {
  std::vector<float> one = {1}, two = {1, 1};
  EXPECT_FALSE(compareBits(floats(one), floats(two)).ok());
  EXPECT_FALSE(compareBits(floats(one), floats(one, "gradient of 'v'")).ok());
  TensorBits integer = floats(one);
  integer.dtype = plan::DType_I32;
  EXPECT_FALSE(compareBits(floats(one), integer).ok());
}

TEST(StateRecord, FindsTheFirstStepAndTensor) {
  StateRecord record;
  std::vector<float> loss = {2}, weight = {1, 2};
  std::vector<int64_t> generator = {7, 0};
  auto state = [&] {
    return std::vector<TensorBits>{
        floats(loss, "the loss"),
        floats(weight, "parameter 'w'"),
        {"generator 'g'", plan::DType_I64, std::as_bytes(std::span(generator))}};
  };
  record.add(state());
  generator[1] = 1;
  record.add(state());
  EXPECT_EQ(record.steps(), 2u);
  ASSERT_TRUE(record.compare(2, state()).ok());
  EXPECT_FALSE(*record.compare(2, state()));
  auto first = record.compare(1, state()); // copies, or the first step would have changed too
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_EQ(differenceText(**first), "generator 'g' differs after step 1: element 1 is 0 without "
                                     "recomputation and 1 with it; 1 of 2 elements differ");
  weight[1] = 3;
  auto two = record.compare(1, state());
  ASSERT_TRUE(two.ok() && *two);
  EXPECT_EQ((*two)->tensor, "parameter 'w'");
  EXPECT_CONTAINS(differenceText(**two), "1 of 2 elements differ, and so do 1 other tensors");
  EXPECT_FALSE(record.compare(3, state()).ok()) << "there is no third step";
  std::vector<TensorBits> less = state();
  less.pop_back();
  EXPECT_FALSE(record.compare(2, less).ok());
}

namespace {

/// What a plan of the kind below computes: which sample of the two becomes loss, gradient, weight.
struct Computes {
  uint64_t loss = 0, gradient = 0, weight = 0;
};

/// Batch 2 of one value each. The gradient dies in the update, which is a copy, and its bytes are
/// used again: after the step nobody could read it there.
Result<PlanFile> copyingPlan(const Computes &from, uint64_t arena = 512) {
  using namespace plan;
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<Buffer>> buffers;
  auto buffer = [&](const char *name, BufferKind kind, DType dtype, std::vector<int64_t> shape,
                    uint64_t bytes, int first, int last) {
    buffers.push_back(CreateBufferDirect(builder, name, kind, dtype, &shape, 64 * buffers.size(),
                                         bytes, first, last));
  };
  buffer("image", BufferKind_Input, DType_F32, {2, 1, 1, 1}, 8, 0, 3); // 0
  buffer("label", BufferKind_Input, DType_I32, {2}, 8, 0, 3);          // 1
  buffer("loss", BufferKind_Metric, DType_F32, {}, 4, 0, 1);           // 2
  buffer("weight", BufferKind_Parameter, DType_F32, {1}, 4, 0, 3);     // 3
  buffer("dw", BufferKind_Gradient, DType_F32, {1}, 4, 2, 3);          // 4
  buffer("state", BufferKind_State, DType_F32, {1}, 4, 0, 3);          // 5
  auto copy = [&](uint32_t source, uint64_t offset, uint32_t to,
                  flatbuffers::Offset<Update> update = 0) {
    View from(source, offset), target(to, 0);
    return CreateCommandDirect(builder, Operation_Copy,
                               CreateCopy(builder, &from, &target, 4).Union(), "copy", 0, 0, 0,
                               false, -1, update);
  };
  std::vector<flatbuffers::Offset<Command>> none,
      micro = {copy(0, from.loss, 2), copy(0, from.weight, 5), copy(0, from.gradient, 4)},
      step = {copy(4, 0, 3, CreateUpdate(builder, 0, 4))};
  auto microList = CreateCommandListDirect(builder, &micro);
  auto stepList = CreateCommandListDirect(builder, &step);
  auto once = CreateCommandListDirect(builder, &none);
  std::vector<uint32_t> image = {0}, label = {1};
  std::vector<flatbuffers::Offset<Input>> inputs = {
      CreateInputDirect(builder, "image", &image, InputRole_Image),
      CreateInputDirect(builder, "label", &label, InputRole_Label)};
  std::vector<flatbuffers::Offset<Metric>> metrics = {CreateMetricDirect(builder, "loss", 2)};
  std::vector<int64_t> one = {1};
  auto init = CreateInitializer(builder, InitKind_Constant, 0.5);
  std::vector<flatbuffers::Offset<Variable>> variables = {
      CreateVariableDirect(builder, "weight", 3, VariableRole_Parameter, init, &one),
      CreateVariableDirect(builder, "state", 5, VariableRole_RunningStatistic, init, &one)};
  builder.Finish(CreatePlanDirect(builder, "copying", CreateTargetDirect(builder, "cpu"), 2, 1, 1,
                                  arena, CreateMemory(builder, 64, 64), &buffers, &variables,
                                  &inputs, &metrics, 0, -1, -1, 3, once, microList, stepList),
                 PlanIdentifier());
  return PlanFile::fromMemory(sealPlan({builder.GetBufferPointer(), builder.GetSize()}), "copying");
}

struct TwoRuns {
  TwoRuns() {
    options.data = directory.write(
        "b.safetensors",
        safetensorsBytes(R"({"label":{"dtype":"I64","shape":[4],"data_offsets":[0,32]},)"
                         R"("image":{"dtype":"F32","shape":[4,1,1,1],"data_offsets":[32,48]}})",
                         bytesOf<int64_t>({0, 1, 2, 0}) + bytesOf<float>({10, 10, 12, 13})));
    options.threads = 1;
    options.schedule.steps = 2;
    options.schedule.workers = 1;
  }
  /// The reference takes sample 0 everywhere; both samples of the first step are alike.
  VerifyReport against(const Computes &tested) {
    auto reference = copyingPlan(Computes{}), other = copyingPlan(tested, 1024);
    EXPECT_TRUE(reference.ok() && other.ok());
    auto record = recordSteps(*reference, options);
    EXPECT_TRUE(record.ok()) << record.error().message;
    Status done = compareSteps(*other, options, *record, report);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return report.verify.value_or(VerifyReport());
  }
  TestDirectory directory;
  TrainOptions options;
  TrainingReport report;
};

} // namespace

TEST(GradientCopies, MoveNothing) {
  auto before = copyingPlan({}, 500); // not a multiple of 64
  ASSERT_TRUE(before.ok());
  auto after = withGradientCopies(*before);
  ASSERT_TRUE(after.ok()) << after.error().message;
  const plan::Plan &old = before->get(), &now = after->get();
  ASSERT_EQ(now.buffers()->size(), 7u);
  for (uint32_t i = 0; i < 6; ++i)
    EXPECT_EQ(now.buffers()->Get(i)->offset(), old.buffers()->Get(i)->offset());
  // Commands were: loss, state, dw | update. Now: loss, state, dw | copy, update.
  ASSERT_EQ(now.step()->commands()->size(), 2u);
  const plan::Copy &copy = *now.step()->commands()->Get(0)->operation_as_Copy();
  EXPECT_EQ(copy.source()->buffer(), 4u);
  EXPECT_EQ(copy.target()->buffer(), 6u);
  EXPECT_EQ(now.variables()->Get(0)->gradient_buffer(), 6);
  const plan::Buffer &made = *now.buffers()->Get(6);
  EXPECT_EQ(made.offset(), 512u);
  EXPECT_EQ(made.first_command(), 3);
  EXPECT_EQ(made.last_command(), 4);
  EXPECT_EQ(now.buffers()->Get(4)->last_command(), 4) << "dw lives until its update";
  EXPECT_EQ(now.buffers()->Get(0)->last_command(), 4);
  EXPECT_EQ(now.arena_bytes(), 576u);
  EXPECT_EQ(now.memory()->gradients(), 64u + 76u);
}

TEST(Verify, TheSamePlanIsIdentical) {
  TwoRuns runs;
  VerifyReport verify = runs.against({});
  EXPECT_TRUE(verify.identical);
  EXPECT_EQ(verify.steps, 2u);
  EXPECT_EQ(verify.compared, 2u * 4); // loss, gradient, weight, state
  EXPECT_EQ(verify.bytes, 2u * 16);
  EXPECT_EQ(runs.report.loss, (std::vector<float>{10, 12}));
}

TEST(Verify, FindsWhatDiffers) {
  std::pair<Computes, const char *> cases[] = {
      {{.loss = 1},
       "the loss differs after step 2: element 0 is 12 (0x41400000) without "
       "recomputation and 13 (0x41500000) with it; 1 of 1 elements differ"},
      {{.gradient = 1}, "gradient of 'weight' differs after step 2: "},
      {{.weight = 1}, "running statistic 'state' differs after step 2: "}};
  for (const auto &[computes, text] : cases) {
    TwoRuns runs;
    VerifyReport verify = runs.against(computes);
    EXPECT_FALSE(verify.identical);
    EXPECT_EQ(verify.steps, 2u);
    EXPECT_CONTAINS(verify.difference, text);
  }
}

TEST(Verify, AFailedRunIsNoVerdict) {
  TwoRuns runs;
  auto plan = copyingPlan(Computes{});
  ASSERT_TRUE(plan.ok());
  runs.options.load = runs.directory.file("nothing");
  EXPECT_FALSE(recordSteps(*plan, runs.options).ok());
  EXPECT_FALSE(compareSteps(*plan, runs.options, StateRecord(), runs.report).ok());
  EXPECT_FALSE(runs.report.verify.has_value());
}
