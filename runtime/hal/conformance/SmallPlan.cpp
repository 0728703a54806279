#include "runtime/hal/conformance/SmallPlan.h"
#include "runtime/plan/KernelLimits.h"

namespace gc::runtime::conformance {

using namespace gc::plan;

uint32_t SmallPlan::buffer(const std::string &name, BufferKind kind,
                           const std::vector<int64_t> &shape, uint64_t bytes, DType type) {
  if (bytes == 0) {
    bytes = elementBytes(type);
    for (int64_t size : shape)
      bytes *= static_cast<uint64_t>(size);
  }
  buffers_.push_back(
      CreateBufferDirect(builder_, name.c_str(), kind, type, &shape, end_ + misalign, bytes, 0, 0));
  end_ = (end_ + misalign + bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  return static_cast<uint32_t>(buffers_.size() - 1);
}

int32_t SmallPlan::workspace(uint64_t bytes) {
  if (bytes == 0)
    return -1;
  return static_cast<int32_t>(
      buffer("workspace", BufferKind_Workspace, {static_cast<int64_t>(bytes)}, bytes, DType_U8));
}

void SmallPlan::transients() {
  transients_ = static_cast<int32_t>(buffer("library-transients", BufferKind_Workspace,
                                            {static_cast<int64_t>(cpu::kTransientPoolBytes)},
                                            cpu::kTransientPoolBytes, DType_U8));
}

void SmallPlan::command(Operation type, flatbuffers::Offset<void> operation, const char *name) {
  commands_.push_back(
      CreateCommandDirect(builder_, type, operation, name_.empty() ? name : name_.c_str()));
}

void SmallPlan::convolution(const cpu::ConvolutionSpec &spec, uint32_t src, uint32_t weights,
                            uint32_t dst, int32_t bias, int32_t residual, int32_t workspace) {
  auto what = ConvolutionSpec::Pack(builder_, &spec);
  auto table = CreateConvolution(builder_, what, src, weights, dst, bias, residual, workspace);
  command(Operation_Convolution, table.Union(), "convolution");
}

void SmallPlan::matmul(const cpu::MatMulSpec &spec, View a, View b, View c, int32_t bias,
                       int32_t residual, int32_t workspace) {
  auto what = MatMulSpec::Pack(builder_, &spec);
  auto table = CreateMatMul(builder_, what, &a, &b, &c, bias, residual, workspace);
  command(Operation_MatMul, table.Union(), "matmul");
}

void SmallPlan::dispatch(uint32_t kernel, const std::vector<uint32_t> &buffers, uint64_t items,
                         uint64_t grain) {
  command(Operation_Dispatch,
          CreateDispatchDirect(builder_, kernel, &buffers, items, grain).Union(), "dispatch");
}

void SmallPlan::launch(uint32_t kernel, const std::vector<uint32_t> &buffers, Extent grid,
                       Extent block, uint32_t sharedBytes) {
  std::vector<uint8_t> access(buffers.size() - (dropAccess ? 1 : 0), Access_ReadWrite);
  command(
      Operation_Launch,
      CreateLaunchDirect(builder_, kernel, &buffers, &access, &grid, &block, sharedBytes).Union(),
      "launch");
}

void SmallPlan::graphCall(uint32_t graph, const std::vector<int64_t> &ids,
                          const std::vector<View> &buffers, const std::vector<Scalar> &scalars,
                          int32_t workspace) {
  std::vector<uint8_t> access(buffers.size() - (dropAccess ? 1 : 0), Access_ReadWrite);
  std::vector<int64_t> scalarIds;
  std::vector<float> values;
  for (const Scalar &scalar : scalars) {
    scalarIds.push_back(scalar.id);
    values.push_back(scalar.value);
  }
  command(Operation_GraphCall,
          CreateGraphCallDirect(builder_, graph, &ids, &buffers, &access, &scalarIds, &values,
                                workspace)
              .Union(),
          "graph");
}

void SmallPlan::fill(uint32_t buffer, uint8_t value) {
  command(Operation_Fill, CreateFill(builder_, buffer, value).Union(), "fill");
}

void SmallPlan::copy(View source, View target, uint64_t bytes) {
  command(Operation_Copy, CreateCopy(builder_, &source, &target, bytes).Union(), "copy");
}

void SmallPlan::input(const std::string &name, const std::vector<uint32_t> &slots) {
  inputs_.push_back(CreateInputDirect(builder_, name.c_str(), &slots));
}

void SmallPlan::variable(const std::string &name, uint32_t buffer,
                         const std::vector<int64_t> &fileShape, const std::vector<int64_t> &split,
                         const std::vector<int32_t> &permutation, int32_t gradient) {
  variables_.push_back(CreateVariableDirect(builder_, name.c_str(), buffer, VariableRole_Parameter,
                                            0, &fileShape, &split, &permutation, gradient));
}

void SmallPlan::kernels(std::span<const uint8_t> object, const std::vector<std::string> &symbols) {
  object_.assign(object.begin(), object.end());
  symbols_.clear();
  for (const std::string &symbol : symbols)
    symbols_.push_back(builder_.CreateString(symbol));
}

void SmallPlan::image(const std::string &ptx, const std::vector<std::string> &symbols,
                      const std::vector<uint8_t> &cubin) {
  images_.push_back(CreateKernelImageDirect(builder_, static_cast<uint32_t>(symbols_.size()),
                                            ptx.c_str(), cubin.empty() ? nullptr : &cubin));
  for (const std::string &symbol : symbols)
    symbols_.push_back(builder_.CreateString(symbol));
}

uint32_t SmallPlan::graph(const std::string &name, const std::string &plan,
                          uint64_t workspaceBytes) {
  graphs_.push_back(CreateLibraryGraphDirect(builder_, name.c_str(), plan.c_str(), workspaceBytes));
  return static_cast<uint32_t>(graphs_.size() - 1);
}

std::vector<std::byte> SmallPlan::finish() {
  std::vector<flatbuffers::Offset<flatbuffers::String>> names;
  for (const std::string &feature : features)
    names.push_back(builder_.CreateString(feature));
  auto target = CreateTargetDirect(builder_, device.c_str(), nullptr, &names,
                                   libraryVersion.c_str(), architecture.c_str());
  auto memory = CreateMemory(builder_);
  auto list = CreateCommandListDirect(builder_, &commands_);
  auto buffers = builder_.CreateVector(buffers_);
  auto variables = builder_.CreateVector(variables_);
  auto inputs = builder_.CreateVector(inputs_);
  auto kernels = CreateKernelsDirect(builder_, &object_, &symbols_, &images_);
  auto graphs = builder_.CreateVector(graphs_);
  auto model = builder_.CreateString("small");
  std::vector<flatbuffers::Offset<Metric>> metrics;
  if (loss >= 0)
    metrics.push_back(CreateMetricDirect(builder_, "loss", static_cast<uint32_t>(loss)));
  auto metricList = builder_.CreateVector(metrics);
  PlanBuilder plan(builder_);
  plan.add_model(model);
  plan.add_target(target);
  plan.add_batch(batch);
  plan.add_micro_batches(microBatches);
  plan.add_arena_bytes(arenaBytes ? arenaBytes : end_);
  plan.add_memory(memory);
  plan.add_buffers(buffers);
  plan.add_variables(variables);
  plan.add_inputs(inputs);
  plan.add_metrics(metricList);
  plan.add_transients(transients_);
  plan.add_micro_batch(list);
  plan.add_kernels(kernels);
  plan.add_graphs(graphs);
  FinishPlanBuffer(builder_, plan.Finish());
  PlanT whole;
  GetPlan(builder_.GetBufferPointer())->UnPackTo(&whole);
  setKernelLimits(whole);
  flatbuffers::FlatBufferBuilder finished;
  FinishPlanBuffer(finished, Plan::Pack(finished, &whole));
  return sealPlan({finished.GetBufferPointer(), finished.GetSize()});
}

} // namespace gc::runtime::conformance
