#include "runtime/hal/Registry.h"
#include "runtime/hal/conformance/SmallPlan.h"
#include "runtime/hal/null/NullDevice.h"

#include <gtest/gtest.h>

using namespace gc::runtime;

TEST(Registry, MakesBuiltInDevices) {
  for (const char *name : {"cpu", "null", "cpu:0"}) {
    auto device = hal::createDevice(name);
    ASSERT_TRUE(device) << device.error().message;
  }
}

TEST(Registry, UnknownDeviceIsADeviceError) {
  for (const char *name : {"toaster", "", "../etc/x", "cpu:1"}) {
    auto device = hal::createDevice(name);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().exitCode(), 4) << name;
  }
}

TEST(Registry, MalformedOrdinalIsBadInput) {
  for (const char *name : {"cpu:", "cpu:x", "cpu:-1", "cpu:1x"}) {
    auto device = hal::createDevice(name);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().exitCode(), 2) << name;
  }
}

static conformance::SmallPlan cudaPlan() {
  conformance::SmallPlan small;
  small.device = "cuda";
  uint32_t a = small.activation("a", {16}), b = small.activation("b", {16});
  small.image(".version 7.0", {"k"});
  small.launch(0, {a, b}, {2, 3, 1}, {32, 1, 1});
  uint32_t graph = small.graph("product", "{}", 64);
  small.graphCall(graph, {1}, {gc::plan::View(b, 0)}, {}, small.workspace(64));
  return small;
}

TEST(NullDevice, LogsWhatAGpuWouldRun) {
  auto plan = PlanFile::fromMemory(cudaPlan().finish());
  ASSERT_TRUE(plan) << plan.error().message;
  auto device = hal::createDevice("null");
  ASSERT_TRUE(device);
  auto executable = (*device)->load(plan->get());
  ASSERT_TRUE(executable);
  hal::Recording recording{&plan->get(), plan->get().micro_batch(), executable->get(), 0};
  auto commands = (*device)->record(recording);
  ASSERT_TRUE(commands);
  EXPECT_EQ((*commands)->describe(0), "Launch launch: k grid=2x3x1 block=32x1x1 buffer=a buffer=b");
  EXPECT_EQ((*commands)->describe(1), "GraphCall graph: product buffer=b workspace=workspace");
  recording.executable = nullptr;
  EXPECT_FALSE((*device)->record(recording)) << "its kernels are not loaded";
}

TEST(CpuDevice, RefusesAPlanForCuda) {
  auto device = hal::createDevice("cpu", {.threads = 1});
  ASSERT_TRUE(device);
  auto plan = PlanFile::fromMemory(cudaPlan().finish());
  ASSERT_TRUE(plan) << plan.error().message;
  auto executable = (*device)->load(plan->get());
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().exitCode(), 4);
  EXPECT_NE(executable.error().message.find("compiled for device 'cuda'"), std::string::npos);
  // A plan that says it is for the cpu, and is not.
  conformance::SmallPlan liar = cudaPlan();
  liar.device = "cpu";
  plan = PlanFile::fromMemory(liar.finish());
  ASSERT_TRUE(plan) << plan.error().message;
  auto commands = (*device)->record({&plan->get(), plan->get().micro_batch(), nullptr, 0});
  ASSERT_FALSE(commands);
  EXPECT_EQ(commands.error().exitCode(), 4);
  EXPECT_NE(commands.error().message.find("compiled for cuda"), std::string::npos);
}

TEST(NullDevice, LogsWhatWouldRun) {
  conformance::SmallPlan small;
  uint32_t a = small.activation("a", {16}), b = small.activation("b", {16});
  small.fill(a, 1);
  small.copy({a, 0}, {b, 0}, 64);
  auto plan = PlanFile::fromMemory(small.finish());
  ASSERT_TRUE(plan) << plan.error().message;
  auto device = hal::createDevice("null");
  ASSERT_TRUE(device);
  auto commands = (*device)->record({&plan->get(), plan->get().micro_batch(), nullptr, 0});
  ASSERT_TRUE(commands);
  auto arena = (*device)->createArena(plan->get());
  ASSERT_TRUE(arena);
  ASSERT_TRUE((*commands)->bind(**arena));
  auto event = (*device)->createEvent();
  ASSERT_TRUE(event);
  ASSERT_TRUE((*device)->submit(**commands, **event));
  EXPECT_EQ(hal::submissions(**device),
            (std::vector<std::string>{"Fill fill: buffer=a", "Copy copy: source=a target=b"}));
}
