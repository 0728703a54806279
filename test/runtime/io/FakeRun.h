// The training loop on an executor of the test's own, without a device.
#ifndef GC_TEST_RUNTIME_IO_FAKERUN_H
#define GC_TEST_RUNTIME_IO_FAKERUN_H

#include "runtime/plan/Plan_generated.h"
#include "runtime/trainer/TrainOn.h"
#include "runtime/trainer/TrainPlan.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>

namespace gc::runtime {

/// Samples of two values, both the sample's number; labels its number mod 3.
struct Numbers final : Dataset {
  explicit Numbers(int64_t count) : count(count) {}
  int64_t size() const override { return count; }
  int64_t label(int64_t index) const override { return index % 3; }
  int64_t rows() const override { return 1; }
  Status read(int64_t index, int64_t, int64_t, float *sample, float *) const override {
    sample[0] = sample[1] = static_cast<float>(index);
    return {};
  }
  int64_t count;
};

/// Batch 4 in two micro-batches of two; one weight, which every step moves by the sum of what it
/// saw. Loss: the mean of the valid samples. Correct: those with label 0.
class FakeExecutor final : public StepExecutor {
public:
  explicit FakeExecutor(bool weighsWindows = false) {
    using namespace plan;
    auto buffer = [&](const char *name, DType dtype, std::vector<int64_t> shape) {
      uint64_t bytes = dtype == DType_I64 ? 8 : 4;
      for (int64_t dimension : shape)
        bytes *= static_cast<uint64_t>(dimension);
      buffers.push_back(
          CreateBufferDirect(builder, name, BufferKind_Input, dtype, &shape, 0, bytes));
      memory.emplace_back(bytes);
    };
    for (int slot = 0; slot < 2; ++slot) {
      buffer("image", DType_F32, {2, 2});
      buffer("label", DType_I64, {2});
    }
    for (const char *name :
         {"loss", "correct", "evaluate_loss", "evaluate_correct", "weight", "window_scale"})
      buffer(name, DType_F32, {1});
    buffer("learning_rate", DType_F32, {kRing});
    set(9, 1);
    std::vector<uint32_t> imageSlots = {0, 2}, labelSlots = {1, 3};
    std::vector<flatbuffers::Offset<Input>> inputs = {
        CreateInputDirect(builder, "image", &imageSlots, InputRole_Image),
        CreateInputDirect(builder, "label", &labelSlots, InputRole_Label)};
    std::vector<flatbuffers::Offset<Metric>> metrics = {
        CreateMetricDirect(builder, "loss", 4), CreateMetricDirect(builder, "correct", 5),
        CreateMetricDirect(builder, "loss", 6, Reduction_Mean, true),
        CreateMetricDirect(builder, "correct", 7, Reduction_Sum, true)};
    std::vector<int64_t> one = {1};
    auto init = CreateInitializer(builder, InitKind_Constant, 0.5);
    std::vector<flatbuffers::Offset<Variable>> variables = {
        CreateVariableDirect(builder, "weight", 8, VariableRole_Parameter, init, &one)};
    if (weighsWindows)
      variables.push_back(CreateVariableDirect(builder, "window_scale", 9, VariableRole_Accumulator,
                                               CreateInitializer(builder, InitKind_Constant, 1),
                                               &one));
    variables.push_back(CreateVariableDirect(builder, "learning_rate", 10, VariableRole_Schedule,
                                             CreateInitializer(builder, InitKind_Constant, 0.25)));
    auto target = CreateTargetDirect(builder, "fake");
    auto memoryTable = CreateMemory(builder, 4);
    builder.Finish(CreatePlanDirect(builder, "fake", target, 4, 2, 1, 100, memoryTable, &buffers,
                                    &variables, &inputs, &metrics, 0, weighsWindows ? 1 : -1, -1, 3,
                                    0, 0, 0, 0, 0, 0, 0, weighsWindows ? 2 : 1));
  }
  Result<std::byte *> map(uint32_t buffer) override { return memory.at(buffer).data(); }
  Status unmap(uint32_t, bool) override { return {}; }
  const plan::Plan &plan() const override { return *plan::GetPlan(builder.GetBufferPointer()); }
  int threads() const override { return 1; }
  Result<std::byte *> inputSlot(size_t input, size_t slot) override {
    return memory[2 * slot + input].data();
  }
  Status runOnce() override { return {}; }
  bool stagesInput() const override { return staged; }
  Status upload(size_t slot) override {
    calls.push_back("upload " + std::to_string(slot));
    uploaded[slot] = {memory[2 * slot], memory[2 * slot + 1]};
    return {};
  }
  Status startMicroBatch(size_t slot) override { return start(slot, false); }
  Status startEvaluate(size_t slot) override { return start(slot, true); }
  bool overlaps() const override { return overlapping; }
  bool hasStep() const override { return true; }
  Status startStep() override {
    calls.push_back("start step");
    started.push_back(kStep);
    return {};
  }
  Status finishStep() override {
    calls.push_back("finish step");
    EXPECT_EQ(started.front(), kStep);
    started.pop_front();
    return runStep();
  }
  Status finishMicroBatch() override {
    if (started.empty() || started.front() == kStep) {
      ADD_FAILURE() << "no micro-batch was started first";
      return {};
    }
    size_t slot = started.front();
    started.pop_front();
    calls.push_back("finish " + std::to_string(slot));
    if (staged) {
      EXPECT_EQ(uploaded[slot][0], memory[2 * slot]) << "overwritten while it was computed";
      EXPECT_EQ(uploaded[slot][1], memory[2 * slot + 1]) << "overwritten while it was computed";
      uploaded.erase(slot);
    }
    compute(slot, evaluating ? 6 : 4);
    if (evaluating)
      return {};
    sum += number(9, 0) * (number(2 * slot, 0) + number(2 * slot, 2));
    if (onMicroBatch)
      onMicroBatch();
    return {};
  }
  Status runStep() override {
    rates.push_back(number(10, (stepsBefore + steps) % kRing));
    set(8, number(8, 0) + sum);
    sum = 0;
    ++steps;
    return {};
  }
  Result<float> readMetric(uint32_t buffer) override { return number(buffer, 0); }
  MemoryMeasurement memoryUse() override { return {100, 0, 7, 1000, 1100}; }
  std::vector<CommandTime> commandTimes() const override { return {}; }

  float number(size_t buffer, size_t index) const {
    return reinterpret_cast<const float *>(memory[buffer].data())[index];
  }
  void set(size_t buffer, float value) {
    *reinterpret_cast<float *>(memory[buffer].data()) = value;
  }

  static constexpr int64_t kRing = 4; // learning rates
  std::function<void()> onMicroBatch;
  uint64_t steps = 0, stepsBefore = 0; // run by it, and by others before it
  std::vector<float> rates;            // with which steps were run
  bool staged = false;                 // slots are copied to the device
  bool overlapping = false;            // two lists may be under way
  std::vector<std::string> calls;      // uploads, starts and finishes

private:
  Status start(size_t slot, bool evaluate) {
    if (staged && !uploaded.count(slot))
      (void)upload(slot);
    calls.push_back("start " + std::to_string(slot));
    started.push_back(slot);
    EXPECT_LE(started.size(), overlapping ? 2u : 1u);
    evaluating = evaluate;
    return {};
  }
  void compute(size_t slot, size_t metric) {
    const int64_t *labels = reinterpret_cast<const int64_t *>(memory[2 * slot + 1].data());
    float total = 0, valid = 0, correct = 0;
    for (size_t i = 0; i < 2; ++i) {
      if (labels[i] < 0)
        continue; // the contract about padding
      total += number(2 * slot, 2 * i);
      correct += labels[i] == 0;
      valid += 1;
    }
    set(metric, total / valid);
    set(metric + 1, correct);
  }
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<plan::Buffer>> buffers;
  std::vector<std::vector<std::byte>> memory;
  std::map<size_t, std::array<std::vector<std::byte>, 2>> uploaded; // by slot
  static constexpr size_t kStep = SIZE_MAX;
  std::deque<size_t> started; // slots, or kStep; not finished
  bool evaluating = false;
  float sum = 0;
};

struct FakeRun {
  explicit FakeRun(int64_t train = 10, int64_t test = 5, bool weighsWindows = false)
      : executor(weighsWindows) {
    data.description = "numbers";
    data.train = std::make_unique<Numbers>(train);
    if (test)
      data.test = std::make_unique<Numbers>(test);
    options.out = std::fopen("/dev/null", "w");
    options.schedule.workers = 1;
  }
  ~FakeRun() { std::fclose(options.out); }
  Status go() {
    auto inputs = findPlanInputs(executor.plan());
    EXPECT_TRUE(inputs.ok()) << inputs.error().message;
    return trainOn(executor, *inputs, data, options, report);
  }
  FakeExecutor executor;
  DataSource data;
  TrainOptions options;
  TrainingReport report;
};

} // namespace gc::runtime

#endif // GC_TEST_RUNTIME_IO_FAKERUN_H
