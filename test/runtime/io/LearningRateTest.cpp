// Schedules against the formulas of torch.optim.lr_scheduler's documentation, in double precision.
#include "runtime/trainer/LearningRate.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace gc::runtime;

namespace {

LearningRateOptions options(const char *schedule, uint64_t warmup = 0,
                            std::optional<double> minimum = {}) {
  return {{}, schedule, warmup, minimum};
}

/// All learning rates of a run with the base 0.1.
std::vector<float> rates(const LearningRateOptions &options, uint64_t steps) {
  auto made = LearningRate::create(options, 0.1, steps);
  EXPECT_TRUE(made.ok()) << made.error().message;
  std::vector<float> all;
  for (uint64_t step = 0; made && step < steps; ++step)
    all.push_back(static_cast<float>(made->at(step)));
  return all;
}

std::string textOf(const LearningRateOptions &options, uint64_t steps) {
  auto made = LearningRate::create(options, 0.1, steps);
  return made ? made->text() : made.error().message;
}

double cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(M_PI * share)) / 2;
}

} // namespace

TEST(LearningRate, IsThePlansUnlessAnotherIsAskedFor) {
  EXPECT_EQ(rates({}, 3), (std::vector<float>{0.1f, 0.1f, 0.1f}));
  EXPECT_EQ(rates({0.5, "constant", 0, {}}, 2), (std::vector<float>{0.5f, 0.5f}));
}

TEST(LearningRate, FallsInSteps) {
  EXPECT_EQ(rates(options("step:2:0.5"), 5),
            (std::vector<float>{0.1f, 0.1f, 0.05f, 0.05f, 0.025f}));
  EXPECT_EQ(rates(options("step:2"), 4), (std::vector<float>{0.1f, 0.1f, 0.01f, 0.01f}));
  EXPECT_EQ(rates(options("multi-step:1,3:0.5"), 5),
            (std::vector<float>{0.1f, 0.05f, 0.05f, 0.025f, 0.025f}));
  EXPECT_EQ(rates(options("step:1:0.5", 0, 0.04), 4),
            (std::vector<float>{0.1f, 0.05f, 0.04f, 0.04f}));
}

TEST(LearningRate, IsLinearToTheMinimum) {
  std::vector<float> all = rates(options("linear", 0, 0.02), 8);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(all[i], static_cast<float>(0.1 + (0.02 - 0.1) * i / 8));
}

TEST(LearningRate, IsACosineOverTheRun) {
  std::vector<float> all = rates(options("cosine", 0, 0.01), 10);
  for (int i = 0; i < 10; ++i)
    EXPECT_FLOAT_EQ(all[i], static_cast<float>(cosine(0.1, 0.01, i / 10.0)));
}

TEST(LearningRate, Restarts) {
  std::vector<float> all = rates(options("cosine:3"), 8);
  for (int i = 0; i < 8; ++i)
    EXPECT_FLOAT_EQ(all[i], static_cast<float>(cosine(0.1, 0, i % 3 / 3.0)));
  // 2 steps, then 4, then 8.
  all = rates(options("cosine:2:2"), 14);
  const int at[] = {0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7};
  const int length[] = {2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8};
  for (int i = 0; i < 14; ++i)
    EXPECT_FLOAT_EQ(all[i], static_cast<float>(cosine(0.1, 0, double(at[i]) / length[i])));
}

// OneCycleLR: from max / 25 to max at step 0.3 T - 1, then to max / 25 / 10^4 at T - 1.
TEST(LearningRate, HasOneCycle) {
  std::vector<float> all = rates(options("one-cycle"), 20);
  for (int i = 0; i < 20; ++i)
    EXPECT_FLOAT_EQ(all[i], static_cast<float>(i <= 5 ? cosine(0.004, 0.1, i / 5.0)
                                                      : cosine(0.1, 4e-7, (i - 5) / 14.0)));
  all = rates(options("one-cycle:0.5:10:100"), 20);
  EXPECT_FLOAT_EQ(all[0], 0.01f);
  EXPECT_FLOAT_EQ(all[9], 0.1f);
  EXPECT_FLOAT_EQ(all[19], 0.0001f);
}

// SequentialLR([LinearLR(1 / 5, total_iters=4), ...], milestones=[4])
TEST(LearningRate, WarmsUpBeforeTheSchedule) {
  std::vector<float> all = rates(options("cosine", 4), 10);
  for (int i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(all[i], static_cast<float>(0.1 * (1 + i) / 5));
  for (int i = 4; i < 10; ++i)
    EXPECT_FLOAT_EQ(all[i], static_cast<float>(cosine(0.1, 0, (i - 4) / 6.0)));
  EXPECT_EQ(rates(options("step:2:0.5", 1), 5),
            (std::vector<float>{0.05f, 0.1f, 0.1f, 0.05f, 0.05f}));
}

TEST(LearningRate, SaysWhatDecidesAboutIt) {
  EXPECT_EQ(textOf({}, 10), "constant");
  EXPECT_EQ(textOf({0.5, "constant", 0, {}}, 20), "constant");
  EXPECT_EQ(textOf(options("cosine", 4), 10), "cosine over 6 steps to 0 after 4 of warm-up");
  EXPECT_NE(textOf(options("cosine"), 10), textOf(options("cosine"), 11));
  // What does not follow the run's length may go on.
  EXPECT_EQ(textOf(options("step:2"), 10), textOf(options("step:2:0.1"), 11));
  EXPECT_EQ(textOf(options("multi-step:2,4:0.5"), 10), "at steps 2, 4, times 0.5");
}

TEST(LearningRate, RefusesWhatIsNoSchedule) {
  auto refuse = [](const LearningRateOptions &options, uint64_t steps, const char *message) {
    EXPECT_BAD_INPUT(LearningRate::create(options, 0.1, steps), message);
  };
  refuse(options("cosin"), 9, "--schedule=cosin: expected constant, step:EVERY[:FACTOR]");
  refuse(options("cosin"), 9, "did you mean 'cosine'?");
  refuse(options(""), 9, "--schedule=: expected constant");
  refuse(options("step"), 9, "--schedule=step: expected step:EVERY[:FACTOR]");
  refuse(options("step:"), 9, "expected EVERY as a number of steps from 1 on, got ''");
  refuse(options("step:0"), 9, "expected EVERY as a number of steps from 1 on, got '0'");
  refuse(options("step:2:0"), 9, "expected FACTOR as a number above 0, got '0'");
  refuse(options("step:2:nan"), 9, "expected FACTOR as a number above 0, got 'nan'");
  refuse(options("step:2:1:1"), 9, "expected step:EVERY[:FACTOR]");
  refuse(options("multi-step:2,,3"), 9, "expected step as a number of steps from 1 on, got ''");
  refuse(options("multi-step:3,2"), 9, "step 2 must come after step 3");
  refuse(options("cosine:2:0"), 9, "expected TIMES as a whole number from 1 on, got '0'");
  refuse(options("cosine:2:1.5"), 9, "got '1.5'");
  refuse(options("one-cycle:1"), 9, "expected RISING as a number above 0 and below 1, got '1'");
  refuse(options("linear:3"), 9, "expected linear");
  refuse(options("constant", 0, 0.1), 9, "--min-lr has no effect with --schedule=constant");
  refuse(options("one-cycle", 0, 0.1), 9, "--min-lr has no effect with --schedule=one-cycle");
  refuse(options("cosine", 0, 0.1), 9, "--min-lr=0.1: expected a number from 0 on, below");
  refuse(options("cosine", 0, -1.0), 9, "--min-lr=-1");
}

TEST(LearningRate, RefusesWhatARunIsTooShortFor) {
  auto refuse = [](const LearningRateOptions &options, uint64_t steps, const char *message) {
    EXPECT_BAD_INPUT(LearningRate::create(options, 0.1, steps), message);
  };
  refuse(options("step:9"), 9, "EVERY 9 has no effect in a run of 9 steps");
  refuse(options("multi-step:2,9"), 9, "step 9 has no effect in a run of 9 steps");
  refuse(options("multi-step:6", 3), 9, "step 6 has no effect in a run of 6 steps after its warm");
  refuse(options("cosine:10"), 9, "FIRST 10 has no effect in a run of 9 steps");
  refuse(options("one-cycle"), 3, "a run of 3 steps is too short to rise in 0.3 of it");
  refuse(options("cosine", 9), 9, "--warmup=9: a run of 9 steps would end within its warm-up");
  EXPECT_TRUE(LearningRate::create(options("cosine:9"), 0.1, 9).ok());
  EXPECT_TRUE(LearningRate::create(options("step:8"), 0.1, 9).ok());
  // Nothing is trained, so that nothing is too short.
  EXPECT_TRUE(LearningRate::create(options("step:9"), 0.1, 0).ok());
}
