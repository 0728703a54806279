#include "runtime/hal/Device.h"
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
  ASSERT_TRUE((*device)->submit(**commands, *event));
  EXPECT_EQ(hal::submissions(**device),
            (std::vector<std::string>{"Fill fill: buffer=a", "Copy copy: source=a target=b"}));
}
