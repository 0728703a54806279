// A step as data for a page: buffers, commands, phases, and where saved values lie.
#include "runtime/report/StepData.h"
#include "runtime/plan/Plan_generated.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

using namespace gc::runtime;
namespace plan = gc::plan;
using Json = nlohmann::ordered_json;

namespace {

/// A network of one layer: its op writes `act`, a second one works in place of it, the loss ends
/// the forward pass; then the first op runs again, a gradient is made and the weight changes.
class ExamplePlan {
public:
  ExamplePlan() {
    source.model = "net";
    source.target = std::make_unique<plan::TargetT>();
    source.memory = std::make_unique<plan::MemoryT>();
    source.arena_bytes = 1024;
    source.micro_batches = 2;
    source.micro_batch = std::make_unique<plan::CommandListT>();
    source.step = std::make_unique<plan::CommandListT>();
    weight = buffer("l.weight", plan::BufferKind_Parameter, 64, 0, 6);
    act = buffer("l:conv2d", plan::BufferKind_Activation, 256, 0, 1);
    loss = buffer("loss:cross_entropy", plan::BufferKind_Metric, 4, 2, 6);
    again = buffer("l:conv2d", plan::BufferKind_Activation, 256, 3, 4);
    gradient = buffer("l:conv2d_grad", plan::BufferKind_Gradient, 64, 4, 5);
    part = buffer("l:conv2d", plan::BufferKind_Activation, 256, 0, 1);
    source.buffers[part]->part_of = static_cast<int>(act);
    source.buffers[buffer("other", plan::BufferKind_Activation, 8, 0, 1)]->evaluate = true;
    variable("l.weight", weight, plan::VariableRole_Parameter);
    auto metric = std::make_unique<plan::MetricT>();
    metric->name = "loss";
    metric->buffer = loss;
    source.metrics.push_back(std::move(metric));
    command(*source.micro_batch, "l:conv2d", 0, part); // a view counts as what it is a view of
    command(*source.micro_batch, "l:relu", 1, act);
    command(*source.micro_batch, "loss:cross_entropy", 2, loss);
    command(*source.micro_batch, "l:conv2d", 0, again).recomputed = true;
    command(*source.micro_batch, "l:conv2d_grad", 3, gradient);
    command(*source.micro_batch, "l:sgd", 4, weight).update = std::make_unique<plan::UpdateT>();
    command(*source.step, "l:clear", 0, gradient);
  }

  uint32_t buffer(const char *name, plan::BufferKind kind, uint64_t bytes, int first, int last) {
    auto made = std::make_unique<plan::BufferT>();
    made->name = name;
    made->kind = kind;
    made->shape = {static_cast<int64_t>(bytes / 4)};
    made->offset = 64 * source.buffers.size();
    made->bytes = bytes;
    made->first_command = first;
    made->last_command = last;
    source.buffers.push_back(std::move(made));
    return static_cast<uint32_t>(source.buffers.size() - 1);
  }

  void variable(const char *name, uint32_t buffer, plan::VariableRole role) {
    auto made = std::make_unique<plan::VariableT>();
    made->name = name;
    made->buffer = buffer;
    made->role = role;
    source.variables.push_back(std::move(made));
  }

  plan::CommandT &command(plan::CommandListT &list, const char *name, int op, uint32_t writes) {
    auto made = std::make_unique<plan::CommandT>();
    made->name = name;
    made->op = op;
    made->seconds_predicted = 0.0012345678;
    plan::DispatchT dispatch;
    dispatch.buffers = {weight, writes};
    dispatch.access = {plan::Access_Read, plan::Access_Write};
    made->operation.Set(std::move(dispatch));
    list.commands.push_back(std::move(made));
    return *list.commands.back();
  }

  const plan::Plan &packed() {
    builder.Clear();
    builder.Finish(plan::Plan::Pack(builder, &source));
    return *plan::GetPlan(builder.GetBufferPointer());
  }

  plan::PlanT source;
  uint32_t weight, act, loss, again, gradient, part;

private:
  flatbuffers::FlatBufferBuilder builder;
};

SavedValue savedValue(int64_t op, int64_t result, uint64_t bytes) {
  SavedValue value;
  value.op = op;
  value.result = result;
  value.bytes = bytes;
  return value;
}

} // namespace

TEST(StepData, Phases) {
  ExamplePlan example;
  EXPECT_EQ(phasesOf(example.packed()), "fffrbuu");
  example.source.metrics.clear(); // without a loss nothing says where the forward pass ends
  EXPECT_EQ(phasesOf(example.packed()), "bbbrbuu");
}

TEST(StepData, CountingStepsIsNoBackwardPass) {
  ExamplePlan example;
  uint32_t count = example.buffer("count", plan::BufferKind_State, 8, 0, 6);
  example.command(*example.source.micro_batch, "advance", 5, count);
  EXPECT_EQ(phasesOf(example.packed()), "fffrbubu");
  example.variable("count", count, plan::VariableRole_Generator);
  EXPECT_EQ(phasesOf(example.packed()), "fffrbuuu");
}

// The weight lives always, the results of both runs of the op, the gradient and the loss each for a
// while; a view and what belongs to inference mode count nowhere.
TEST(StepData, WhatIsAliveAtEachCommand) {
  ExamplePlan example;
  StepPhases step = stepPhasesOf(example.packed());
  EXPECT_EQ(step.phases, "fffrbuu");
  std::map<std::string, std::vector<int64_t>> alive;
  for (const ArenaUse &use : step.alive)
    alive[use.kind] = use.bytes;
  EXPECT_EQ(alive["parameter"], (std::vector<int64_t>(7, 64)));
  EXPECT_EQ(alive["activation"], (std::vector<int64_t>{256, 256, 0, 256, 256, 0, 0}));
  EXPECT_EQ(alive["gradient"], (std::vector<int64_t>{0, 0, 0, 0, 64, 64, 0}));
  EXPECT_EQ(alive["metric"], (std::vector<int64_t>{0, 0, 4, 4, 4, 4, 4}));
  EXPECT_EQ(alive["workspace"], (std::vector<int64_t>(7, 0)));
}

TEST(StepData, Modules) {
  EXPECT_EQ(moduleOfOp("layer1.0.conv1:conv2d"), "layer1.0.conv1");
  EXPECT_EQ(moduleOfOp("conv2d@model.mlir:12"), "") << "a file and a line are no module";
  EXPECT_EQ(moduleOfOp("image"), "");
}

TEST(StepData, WhereSavedValuesLie) {
  ExamplePlan example;
  const plan::Plan &plan = example.packed();
  // The conv's result: written once to `act` (through a view), once more to `again`; the ReLU's is
  // in place.
  auto held = heldValues(plan, {savedValue(0, 0, 256), savedValue(1, 0, 256)});
  EXPECT_EQ(held[example.act], (std::vector<size_t>{0, 1}));
  EXPECT_EQ(held[example.again], (std::vector<size_t>{0}));
  EXPECT_TRUE(held[example.part].empty());
  EXPECT_TRUE(held[example.weight].empty());
  // The number of a result counts where sizes agree, else the size alone; what fits nothing is
  // nowhere.
  EXPECT_EQ(heldValues(plan, {savedValue(0, 3, 256)})[example.act].size(), 1u);
  for (const auto &none : heldValues(plan, {savedValue(0, 0, 128), savedValue(77, 0, 256)}))
    EXPECT_TRUE(none.empty());
}

TEST(StepData, Columns) {
  ExamplePlan example;
  auto step = stepData(example.packed(), "{}");
  ASSERT_TRUE(step.ok());
  const Json &data = *step, &buffers = data["buffers"], &strings = data["strings"];
  EXPECT_EQ(data["model"], "net");
  EXPECT_EQ(data["arena"], 1024);
  EXPECT_EQ(data["microBatches"], 2);
  EXPECT_EQ(data["microCommands"], 6);
  EXPECT_EQ(data["commands"]["phase"], "fffrbuu");
  EXPECT_EQ(data["commands"]["op"], Json({0, 1, 2, 0, 3, 4, -1}));
  EXPECT_EQ(data["commands"]["seconds"][0], 0.001235);
  // Five buffers: not the view, not the one of inference mode.
  for (const char *column :
       {"name", "module", "type", "kind", "offset", "bytes", "first", "last", "holds"})
    EXPECT_EQ(buffers[column].size(), 5u) << column;
  auto text = [&](const char *column, size_t at) {
    return strings[buffers[column][at].get<size_t>()];
  };
  EXPECT_EQ(text("name", 0), "l.weight");
  EXPECT_EQ(text("module", 0), "l");
  EXPECT_EQ(text("type", 1), "f32 64");
  EXPECT_EQ(text("module", 1), "l");
  EXPECT_EQ(data["kinds"][buffers["kind"][1].get<size_t>()], "activation");
  EXPECT_EQ(buffers["first"][3], 3);
  EXPECT_EQ(buffers["last"][3], 4);
  EXPECT_EQ(buffers["name"][1], buffers["name"][3]) << "each text once";
  EXPECT_TRUE(data["saved"].is_null()) << "not told";
  EXPECT_TRUE(data["timeline"].is_null());
}

TEST(StepData, Reasons) {
  ExamplePlan example;
  Json report = {{"saved",
                  {{{"op", 0},
                    {"name", "l:conv2d"},
                    {"result", 0},
                    {"bytes", 256},
                    {"kept", false},
                    {"executions", 2},
                    {"seconds", 0.001},
                    {"repeatable", true},
                    {"at_peak", true}}}}};
  auto step = stepData(example.packed(), report.dump());
  ASSERT_TRUE(step.ok());
  EXPECT_EQ((*step)["saved"]["reason"], Json({"recomputed: frees 256 bytes at the peak for 2 ms"}));
  EXPECT_EQ((*step)["saved"]["kept"], Json({0}));
  EXPECT_EQ((*step)["buffers"]["holds"], Json({0, {0}, 0, {0}, 0}));
  report["saved"][0]["op"] = "x";
  EXPECT_BAD_INPUT(stepData(example.packed(), report.dump()), "'op'");
  EXPECT_BAD_INPUT(stepData(example.packed(), "{\"timeline\": 3}"), "'persistent_bytes'");
}

// A state and a gradient that belong to a parameter are of its module.
TEST(StepData, ModulesOfVariables) {
  ExamplePlan example;
  uint32_t state = example.buffer("a.b.weight.exp_avg", plan::BufferKind_OptimizerState, 8, 0, 6);
  example.variable("a.b.weight.exp_avg", state, plan::VariableRole_OptimizerState);
  example.variable("a.b.weight", example.buffer("a.b.weight", plan::BufferKind_Parameter, 8, 0, 6),
                   plan::VariableRole_Parameter);
  auto step = stepData(example.packed(), "");
  ASSERT_TRUE(step.ok());
  const Json &modules = (*step)["buffers"]["module"];
  EXPECT_EQ((*step)["strings"][modules[5].get<size_t>()], "a.b");
  EXPECT_EQ(modules[5], modules[6]);
}
