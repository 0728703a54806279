#include "runtime/trainer/PlanInputs.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <functional>

namespace plan = gc::plan;
using namespace gc::runtime;

namespace {

/// A plan for four samples with two labels each, in two slots, as far as inputs go.
plan::PlanT planForTwoLabels() {
  plan::PlanT p;
  p.model = "two labels";
  p.batch = 8;
  p.micro_batches = 2;
  p.target = std::make_unique<plan::TargetT>();
  p.target->device = "cpu";
  p.memory = std::make_unique<plan::MemoryT>();
  auto buffer = [&](plan::DType dtype, std::vector<int64_t> shape, uint64_t bytes) {
    auto made = std::make_unique<plan::BufferT>();
    made->name = "buffer";
    made->dtype = dtype;
    made->shape = std::move(shape);
    made->bytes = bytes;
    p.buffers.push_back(std::move(made));
    return static_cast<uint32_t>(p.buffers.size() - 1);
  };
  auto input = [&](const char *name, plan::InputRole role, plan::DType dtype,
                   const std::vector<int64_t> &shape, uint64_t bytes) {
    auto made = std::make_unique<plan::InputT>();
    made->name = name;
    made->role = role;
    made->slots = {buffer(dtype, shape, bytes), buffer(dtype, shape, bytes)};
    p.inputs.push_back(std::move(made));
  };
  input("image", plan::InputRole_Image, plan::DType_F32, {4, 3}, 48);
  input("label", plan::InputRole_Label, plan::DType_I32, {4}, 16);
  input("mixed_label", plan::InputRole_MixedLabel, plan::DType_I32, {4}, 16);
  input("share", plan::InputRole_Share, plan::DType_F32, {}, 4);
  auto loss = std::make_unique<plan::MetricT>();
  loss->name = "loss";
  loss->buffer = buffer(plan::DType_F32, {}, 4);
  p.metrics.push_back(std::move(loss));
  return p;
}

Result<PlanInputs> found(const plan::PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(plan::Plan::Pack(builder, &plan));
  return findPlanInputs(*plan::GetPlan(builder.GetBufferPointer()));
}

} // namespace

TEST(PlanInputs, FindsOneLabelOrTwo) {
  plan::PlanT plan = planForTwoLabels();
  Result<PlanInputs> two = found(plan);
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(two->mixedLabel, 2u);
  EXPECT_EQ(two->share, 3u);
  EXPECT_EQ(two->microBatch, 4);
  plan.inputs.resize(2);
  Result<PlanInputs> one = found(plan);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_FALSE(one->mixedLabel || one->share);
}

TEST(PlanInputs, RefusesWhatCannotBeFilled) {
  struct Change {
    std::function<void(plan::PlanT &)> make;
    const char *message;
  };
  // Buffers: 4 and 5 are slots of the mixed label, 6 and 7 of the share.
  const Change changes[] = {
      {[](auto &p) { p.inputs.pop_back(); }, "a mixed label without a share"},
      {[](auto &p) { p.inputs.erase(p.inputs.begin() + 2); }, "a mixed label without a share"},
      {[](auto &p) { p.inputs[3]->slots.pop_back(); }, "the slots of its inputs differ in number"},
      {[](auto &p) { p.inputs[2]->slots[1] = 99; }, "an input's slot is not among its buffers"},
      {[](auto &p) { p.buffers[5]->shape = {3}; }, "a slot of the mixed label is not like one"},
      {[](auto &p) { p.buffers[4]->dtype = plan::DType_I64; }, "the mixed label is not like one"},
      {[](auto &p) { p.buffers[4]->bytes = 12; }, "a slot of the mixed label is not like one"},
      {[](auto &p) { p.buffers[7]->shape = {2}; }, "a slot of the share is not one f32"},
      {[](auto &p) { p.buffers[6]->bytes = 2; }, "a slot of the share is not one f32"},
      {[](auto &p) { p.inputs[3]->role = plan::InputRole_Other; }, "it has an input 'share'"}};
  for (const Change &change : changes) {
    plan::PlanT plan = planForTwoLabels();
    change.make(plan);
    EXPECT_BAD_INPUT(found(plan), change.message);
  }
}
