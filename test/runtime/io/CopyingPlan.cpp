#include "test/runtime/io/CopyingPlan.h"

namespace plan = gc::plan;
using namespace gc::runtime;

Result<PlanFile> copyingPlan(const char *device) {
  using namespace plan;
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<Buffer>> buffers;
  auto buffer = [&](const char *name, BufferKind kind, DType dtype, std::vector<int64_t> shape,
                    uint64_t bytes) {
    buffers.push_back(
        CreateBufferDirect(builder, name, kind, dtype, &shape, 64 * buffers.size(), bytes, 0, 2));
  };
  for (int slot = 0; slot < 2; ++slot) {
    buffer("image", BufferKind_Input, DType_F32, {2, 1, 1, 1}, 8); // 0, 2
    buffer("label", BufferKind_Input, DType_I32, {2}, 8);          // 1, 3
  }
  buffer("loss", BufferKind_Metric, DType_F32, {}, 4);               // 4
  buffer("evaluate_loss", BufferKind_Metric, DType_F32, {}, 4);      // 5
  buffer("weight", BufferKind_Parameter, DType_F32, {1}, 4);         // 6
  buffer("weight.gradient", BufferKind_Gradient, DType_F32, {1}, 4); // 7
  auto copy = [&](uint32_t from, uint32_t to) {
    View source(from, 0), target(to, 0);
    return CreateCommandDirect(builder, Operation_Copy,
                               CreateCopy(builder, &source, &target, 4).Union(), "copy");
  };
  auto list = [&](std::vector<flatbuffers::Offset<Command>> commands) {
    return CreateCommandListDirect(builder, &commands);
  };
  auto micro = list({copy(0, 4), copy(0, 7)}), step = list({copy(7, 6)}), eval = list({copy(0, 5)});
  auto once = list({});
  std::vector<uint32_t> imageSlots = {0, 2}, labelSlots = {1, 3};
  std::vector<flatbuffers::Offset<Input>> inputs = {
      CreateInputDirect(builder, "image", &imageSlots, InputRole_Image),
      CreateInputDirect(builder, "label", &labelSlots, InputRole_Label)};
  std::vector<flatbuffers::Offset<Metric>> metrics = {
      CreateMetricDirect(builder, "loss", 4),
      CreateMetricDirect(builder, "loss", 5, Reduction_Mean, true)};
  std::vector<int64_t> one = {1};
  auto init = CreateInitializer(builder, InitKind_Constant, 0.5);
  std::vector<flatbuffers::Offset<Variable>> variables = {CreateVariableDirect(
      builder, "weight", 6, VariableRole_Parameter, init, &one, nullptr, nullptr, 7)};
  auto target = CreateTargetDirect(builder, device);
  auto memory = CreateMemory(builder, 64, 64);
  builder.Finish(CreatePlanDirect(builder, "copying", target, 2, 1, 1, 512, memory, &buffers,
                                  &variables, &inputs, &metrics, 0, -1, -1, 3, once, micro, step,
                                  eval),
                 PlanIdentifier());
  return PlanFile::fromMemory(sealPlan({builder.GetBufferPointer(), builder.GetSize()}), "copying");
}
