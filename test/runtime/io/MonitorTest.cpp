#include "runtime/monitor/Monitor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

using namespace gc::runtime;
using namespace std::chrono_literals;

TEST(Monitor, SeesMemoryGrow) {
  Monitor monitor(2ms);
  monitor.start();
  std::this_thread::sleep_for(20ms);
  uint64_t before = processMemoryBytes();
  const size_t bytes = 64 << 20;
  {
    std::unique_ptr<char[]> memory(new char[bytes]);
    std::memset(memory.get(), 1, bytes);
    std::this_thread::sleep_for(40ms);
    ASSERT_EQ(memory[bytes / 2], 1);
  }
  monitor.stop();
  MonitorSummary summary = monitor.summary();
  EXPECT_GE(summary.memoryMaxBytes, before + bytes * 9 / 10);
  EXPECT_GT(summary.memoryMeanBytes, 0u);
  EXPECT_LT(summary.memoryMeanBytes, summary.memoryMaxBytes);
  EXPECT_GE(summary.samples.size(), 5u);
}

TEST(Monitor, SeesABusyCore) {
  Monitor monitor(10ms);
  monitor.start();
  double used = processCpuSeconds();
  while (processCpuSeconds() < used + 0.15) // however long a shared machine takes for it
    ;
  monitor.stop();
  MonitorSummary summary = monitor.summary();
  EXPECT_NEAR(summary.cpusMean * summary.seconds, 0.15, 0.03);
  EXPECT_GE(summary.cpusMax, summary.cpusMean);
}

TEST(Monitor, SeriesIsBounded) {
  Monitor monitor(1ms, 8);
  monitor.start();
  std::this_thread::sleep_for(150ms);
  monitor.stop();
  MonitorSummary summary = monitor.summary();
  EXPECT_LE(summary.samples.size(), 8u);
  EXPECT_GE(summary.samples.size(), 4u);
  EXPECT_GT(summary.periodSeconds, 0.002);
  for (size_t i = 1; i < summary.samples.size(); ++i)
    EXPECT_GT(summary.samples[i].seconds, summary.samples[i - 1].seconds);
  EXPECT_GT(summary.samples.back().seconds, summary.seconds / 2) << "the late half is lost";
}
