#include "runtime/session/Session.h"
#include "runtime/hal/conformance/Runner.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace gc::runtime;
using conformance::SmallPlan;

namespace {

/// y = x · w with two slots for x, and the loss is the first element of y.
struct Net {
  SmallPlan plan;
  uint32_t x0, x1, w, y;
  Net() {
    cpu::MatMulSpec s;
    s.m = 64, s.n = 64, s.k = 64, s.a_strides = {64, 1}, s.b_strides = {64, 1},
    s.c_strides = {64, 1};
    x0 = plan.buffer("x.0", gc::plan::BufferKind_Input, {64, 64});
    x1 = plan.buffer("x.1", gc::plan::BufferKind_Input, {64, 64});
    w = plan.buffer("w", gc::plan::BufferKind_Parameter, {64, 64});
    y = plan.buffer("y", gc::plan::BufferKind_Metric, {64, 64});
    plan.transients();
    int32_t workspace = plan.workspace(*cpu::workspaceBytes(s, 2));
    plan.input("x", {x0, x1});
    plan.variable("w", w, {64, 64});
    plan.matmul(s, {x0, 0}, {w, 0}, {y, 0}, -1, -1, workspace);
    plan.loss = static_cast<int32_t>(y);
  }
};

void set(std::span<std::byte> bytes, float value) {
  auto *floats = reinterpret_cast<float *>(bytes.data());
  std::fill(floats, floats + bytes.size() / 4, value);
}

std::span<std::byte> bytesOf(std::vector<float> &values) {
  return std::as_writable_bytes(std::span(values));
}

} // namespace

TEST(Session, RunsSlotsAndReadsMetrics) {
  Net net;
  auto plan = PlanFile::fromMemory(net.plan.finish());
  ASSERT_TRUE(plan) << plan.error().message;
  auto session = Session::create(*plan, {.threads = 2, .profile = true});
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->slots(), 2u);
  EXPECT_FALSE((*session)->stagesInput());
  std::vector<float> weights(64 * 64, 0.5f), back(64 * 64);
  EXPECT_EQ((*session)->writeVariable("nonsense", bytesOf(weights)).error().exitCode(), 2);
  EXPECT_EQ((*session)->readGradient("w", bytesOf(back)).error().exitCode(), 2);
  EXPECT_EQ((*session)->writeVariable("w", bytesOf(weights).first(8)).error().exitCode(), 2);
  ASSERT_TRUE((*session)->writeVariable("w", bytesOf(weights)));
  ASSERT_TRUE((*session)->readVariable("w", bytesOf(back)));
  EXPECT_EQ(back, weights);
  EXPECT_EQ((*session)->hostView(net.w).size(), 64u * 64 * 4);
  EXPECT_EQ((*session)->input("x", 1).data(), (*session)->hostView(net.x1).data())
      << "no copy of the input where the host sees the arena";
  EXPECT_TRUE((*session)->input("x", 2).empty());
  set((*session)->input("x", 0), 1.0f);
  set((*session)->input("x", 1), 2.0f);
  ASSERT_TRUE((*session)->runOnce());
  ASSERT_TRUE((*session)->runMicroBatch(0));
  EXPECT_EQ((*session)->metrics().loss, 32.0);
  ASSERT_TRUE((*session)->runMicroBatch(1));
  EXPECT_EQ((*session)->metrics().loss, 64.0);
  EXPECT_EQ(*(*session)->metric(net.y), 64.0f);
  EXPECT_FALSE((*session)->metric(net.w));
  ASSERT_TRUE((*session)->finishStep());
  EXPECT_EQ((*session)->allocationsInStep(), 0u);
  EXPECT_FALSE((*session)->finishMicroBatch()) << "none was started";
  Status outside = (*session)->runMicroBatch(2);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().exitCode(), 2);
  Status evaluate = (*session)->evaluateMicroBatch(0);
  ASSERT_FALSE(evaluate);
  auto profile = (*session)->profile();
  ASSERT_EQ(profile.size(), 1u);
  EXPECT_EQ(profile[0].executions, 2u);
  EXPECT_GT(profile[0].seconds, 0.0);
  // Of two executions the median is the mean; times are kept in single precision.
  EXPECT_NEAR(profile[0].medianSeconds, profile[0].seconds / 2, 1e-6 * profile[0].seconds);
  EXPECT_EQ((*session)->describe("micro_batch").size(), 1u);
}

TEST(Session, TimesAFewEarlyExecutions) {
  Net net;
  auto plan = PlanFile::fromMemory(net.plan.finish());
  ASSERT_TRUE(plan) << plan.error().message;
  uint64_t most = 0;
  // What others disturb does not count, so that one session may have timed less.
  for (int attempt = 0; attempt < 100 && most < kFirstExecutions; ++attempt) {
    auto session = Session::create(*plan, {.threads = 1, .timeFirstSteps = true});
    ASSERT_TRUE(session) << session.error().message;
    ASSERT_TRUE((*session)->runOnce());
    ASSERT_TRUE((*session)->runMicroBatch(0));
    ASSERT_EQ((*session)->profile().size(), 1u);
    EXPECT_EQ((*session)->profile()[0].executions, 0u) << "the first one finds nothing in place";
    for (uint32_t i = 1; i < 8; ++i)
      ASSERT_TRUE((*session)->runMicroBatch(i % 2));
    CommandTime time = (*session)->profile()[0];
    EXPECT_EQ((*session)->allocationsInStep(), 0u);
    EXPECT_LE(time.executions, kFirstExecutions);
    EXPECT_EQ(time.medianSeconds > 0, time.executions > 0);
    EXPECT_LE(time.leastSeconds, time.medianSeconds);
    most = std::max(most, time.executions);
  }
  EXPECT_EQ(most, kFirstExecutions);
}

TEST(Session, MeasuresWhatTheArenaCosts) {
  SmallPlan small;
  const int64_t n = 16 * 1024 * 1024; // 64 MiB
  small.fill(small.activation("a", {n}), 1);
  auto plan = PlanFile::fromMemory(small.finish());
  ASSERT_TRUE(plan) << plan.error().message;
  auto session = Session::create(*plan, {.threads = 2});
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE((*session)->runMicroBatch(0));
  MemoryMeasurement memory = (*session)->memory();
  EXPECT_EQ(memory.arenaBytes, static_cast<uint64_t>(n) * 4);
  // The process grew by the arena and little else (2 % and 8 MiB are the promise).
  EXPECT_GE(memory.peakBytes + (1 << 20), memory.arenaBytes);
  EXPECT_LE(memory.peakBytes, memory.arenaBytes * 1.02 + (8 << 20));
  EXPECT_GT(memory.rssBeforeBytes, 0u);
  EXPECT_GE(memory.rssPeakBytes, memory.rssBeforeBytes);
}

TEST(Session, StopFlag) {
  SmallPlan small;
  small.fill(small.activation("a", {16}), 1);
  auto plan = PlanFile::fromMemory(small.finish());
  ASSERT_TRUE(plan);
  auto session = Session::create(*plan, {.device = "null"});
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_FALSE((*session)->stopRequested());
  (*session)->requestStop();
  EXPECT_TRUE((*session)->stopRequested());
}

TEST(Session, MissingDevice) {
  SmallPlan small;
  small.fill(small.activation("a", {16}), 1);
  auto plan = PlanFile::fromMemory(small.finish());
  ASSERT_TRUE(plan);
  auto session = Session::create(*plan, {.device = "toaster"});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().exitCode(), 4);
}
