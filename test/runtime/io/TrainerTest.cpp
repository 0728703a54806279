// The training loop on an executor of the test's own: what it does with data, metrics, interrupts
// and failures, without a device.
#include "runtime/process/Interrupt.h"
#include "test/runtime/io/FakeRun.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <utility>

using namespace gc::runtime;

TEST(Trainer, EpochsDropTheIncompleteBatch) {
  FakeRun run; // 10 samples are two steps of 4
  run.options.schedule.epochs = 2;
  ASSERT_TRUE(run.go().ok());
  EXPECT_EQ(run.executor.steps, 4u);
  // Samples 0..3 have the mean 1.5, 4..7 have 5.5.
  EXPECT_EQ(run.report.loss, (std::vector<float>{1.5, 5.5, 1.5, 5.5}));
  EXPECT_EQ(run.report.stepSeconds.size(), 4u);
  EXPECT_DOUBLE_EQ(*run.report.accuracy, 3 / 8.0); // 0, 3 and 6 have the label 0
  EXPECT_EQ(run.report.memory.measured.peakBytes, 100u);
  EXPECT_FALSE(run.report.interrupted);
}

TEST(Trainer, CopiesOneSlotWhileAnotherIsComputed) {
  FakeRun plain, run;
  for (FakeRun *each : {&plain, &run}) {
    each->options.schedule.epochs = 1;
    each->options.schedule.evaluate = true;
    each->executor.staged = each == &run;
    ASSERT_TRUE(each->go().ok());
  }
  EXPECT_EQ(run.report.loss, plain.report.loss);
  EXPECT_EQ(run.report.evaluations[0].loss, plain.report.evaluations[0].loss);
  // Four micro-batches of training, then three of evaluation, which uploads anew.
  EXPECT_EQ(run.executor.calls,
            (std::vector<std::string>{"upload 0", "start 0",  "upload 1", "finish 0", "start 1",
                                      "upload 0", "finish 1", "start 0",  "upload 1", "finish 0",
                                      "start 1",  "finish 1", //
                                      "upload 0", "start 0",  "upload 1", "finish 0", "start 1",
                                      "upload 0", "finish 1", "start 0",  "finish 0"}));
}

TEST(Trainer, StartsAListBeforeTheOneBeforeItIsFinished) {
  FakeRun plain, run;
  for (FakeRun *each : {&plain, &run}) {
    each->options.schedule.epochs = 2;
    each->options.schedule.evaluate = true;
    each->executor.staged = each->executor.overlapping = each == &run;
    ASSERT_TRUE(each->go().ok());
  }
  EXPECT_EQ(run.report.loss, plain.report.loss);
  EXPECT_EQ(run.report.stepSeconds.size(), 4u);
  EXPECT_EQ(run.report.accuracy, plain.report.accuracy);
  EXPECT_EQ(run.report.evaluations[1].loss, plain.report.evaluations[1].loss);
  EXPECT_EQ(run.executor.number(8, 0), plain.executor.number(8, 0)) << "the weight";
  run.executor.calls.resize(16);
  // Two steps of two micro-batches; the epoch's last step is finished before its evaluation.
  EXPECT_EQ(run.executor.calls,
            (std::vector<std::string>{"upload 0", "start 0", "upload 1", "start 1", "finish 0", //
                                      "start step", "finish 1",                                 //
                                      "upload 0", "start 0", "finish step",                     //
                                      "upload 1", "start 1", "finish 0",                        //
                                      "start step", "finish 1", "finish step"}));
}

TEST(Trainer, OverlappingStepsHaveShortWindowsNumbersAndInterruptsToo) {
  FakeRun windows(11, 0, true);
  windows.executor.staged = windows.executor.overlapping = true;
  windows.options.schedule.epochs = 2;
  ASSERT_TRUE(windows.go().ok());
  EXPECT_EQ(windows.report.loss, (std::vector<float>{1.5, 5.5, 8.5, 1.5, 5.5, 8.5}));
  EXPECT_EQ(windows.executor.number(8, 0), 0.5f + 2 * (6 + 22 + 2 * 17));
  EXPECT_EQ(windows.executor.number(9, 0), 1.0f);

  FakeRun bad(100);
  bad.executor.staged = bad.executor.overlapping = true;
  bad.options.schedule.steps = 9;
  bad.executor.onMicroBatch = [&] {
    if (bad.executor.steps == 2)
      bad.executor.set(4, NAN);
  };
  Status result = bad.go();
  ASSERT_FALSE(result.ok());
  EXPECT_CONTAINS(result.error().message, "nan at step 3 (epoch 1)");
  EXPECT_EQ(bad.report.loss.size(), 3u) << "the step after it was started and is not told";

  FakeRun stopped(100);
  stopped.executor.staged = stopped.executor.overlapping = true;
  stopped.options.schedule.steps = 1000;
  int microBatches = 0;
  stopped.executor.onMicroBatch = [&] {
    if (++microBatches == 5)
      std::raise(SIGINT);
  };
  (void)stopped.go();
  EXPECT_TRUE(stopped.report.interrupted);
  EXPECT_EQ(stopped.report.steps, stopped.executor.steps) << "every step that was started is told";
  EXPECT_EQ(stopped.report.loss.size(), stopped.executor.steps);
}

TEST(Trainer, AShortLastWindowWeighsAsAWholeOne) {
  FakeRun run(11, 0, true); // two whole windows, one of a single micro-batch, one sample dropped
  run.options.schedule.epochs = 2;
  ASSERT_TRUE(run.go().ok());
  EXPECT_EQ(run.executor.steps, 6u);
  EXPECT_EQ(run.report.loss, (std::vector<float>{1.5, 5.5, 8.5, 1.5, 5.5, 8.5}));
  EXPECT_DOUBLE_EQ(*run.report.accuracy, 4 / 10.0); // 0, 3, 6 and 9
  // Samples 8 and 9 count twice, for the micro-batch that is missing; then the scale is 1 again.
  EXPECT_EQ(run.executor.number(8, 0), 0.5f + 2 * (6 + 22 + 2 * 17));
  EXPECT_EQ(run.executor.number(9, 0), 1.0f);
}

// The plan holds fewer learning rates than the run has steps.
TEST(Trainer, SetsTheLearningRateOfEveryStep) {
  for (bool overlapping : {false, true}) {
    FakeRun run(100);
    run.executor.staged = run.executor.overlapping = overlapping;
    run.options.schedule.steps = 11;
    run.options.schedule.learningRate.schedule = "linear";
    run.options.schedule.learningRate.lr = 0.5;
    ASSERT_TRUE(run.go().ok());
    std::vector<double> expected;
    for (int step = 0; step < 11; ++step)
      expected.push_back(0.5 - 0.5 * step / 11);
    EXPECT_EQ(run.executor.rates, std::vector<float>(expected.begin(), expected.end()));
    EXPECT_EQ(run.report.learningRate, expected);
    EXPECT_EQ(run.report.schedule, "linear over 11 steps to 0");
  }
  FakeRun plain(100);
  plain.options.schedule.steps = 5;
  ASSERT_TRUE(plain.go().ok());
  EXPECT_EQ(plain.executor.rates, std::vector<float>(5, 0.25f)) << "the plan's";

  FakeRun bad(100);
  bad.options.schedule.steps = 5;
  bad.options.schedule.learningRate.schedule = "step:7";
  Status result = bad.go();
  EXPECT_BAD_INPUT(result, "--schedule=step:7: EVERY 7 has no effect in a run of 5 steps");
  EXPECT_EQ(bad.executor.steps, 0u);
}

TEST(Trainer, EvaluationCountsEverySampleOnce) {
  FakeRun run; // test: 0..4, so the last micro-batch holds one sample and one of padding
  run.options.schedule.epochs = 2;
  run.options.schedule.evaluate = true;
  ASSERT_TRUE(run.go().ok());
  ASSERT_EQ(run.report.evaluations.size(), 2u);
  EXPECT_DOUBLE_EQ(run.report.evaluations[1].loss, 2); // mean of 0..4
  EXPECT_DOUBLE_EQ(*run.report.evaluations[1].accuracy, 2 / 5.0);
  EXPECT_EQ(run.report.evaluations[1].samples, 5);
  EXPECT_EQ(run.report.loss, (std::vector<float>{1.5, 5.5, 1.5, 5.5})) << "evaluating moved data";
}

TEST(Trainer, NoStepsOnlyEvaluates) {
  FakeRun run;
  run.options.schedule.steps = 0;
  run.options.schedule.evaluate = true;
  ASSERT_TRUE(run.go().ok());
  EXPECT_EQ(run.executor.steps, 0u);
  ASSERT_EQ(run.report.evaluations.size(), 1u);
  EXPECT_DOUBLE_EQ(run.report.evaluations[0].loss, 2);
}

TEST(Trainer, StepsAndLimit) {
  FakeRun run(100);
  run.options.schedule.steps = 3;
  run.options.schedule.limit = 4;
  ASSERT_TRUE(run.go().ok());
  EXPECT_EQ(run.report.loss, (std::vector<float>{1.5, 1.5, 1.5}));
}

TEST(Trainer, RefusesSchedulesThatDoNotFit) {
  FakeRun small(3);
  EXPECT_BAD_INPUT(small.go(), "3 samples are less than one batch of 4");
  FakeRun noTest(10, 0);
  noTest.options.schedule.evaluate = true;
  EXPECT_BAD_INPUT(noTest.go(), "needs a test split");
  FakeRun endless;
  endless.options.schedule.epochs = UINT64_MAX;
  EXPECT_BAD_INPUT(endless.go(), "more steps than can be counted");
  FakeRun gradients;
  gradients.options.dumpGradients = "g";
  EXPECT_BAD_INPUT(gradients.go(), "keeps no gradients");
  FakeRun resume;
  resume.options.resume = "/nowhere";
  EXPECT_BAD_INPUT(resume.go(), "no checkpoint");
}

TEST(Trainer, StopsWhereTheLossIsNotANumber) {
  TestDirectory directory;
  FakeRun run;
  run.options.schedule.steps = 9;
  run.options.save = directory.write("w.safetensors", "old");
  run.options.report = directory.file("r.json");
  run.executor.onMicroBatch = [&] {
    if (run.executor.steps == 2)
      run.executor.set(4, NAN);
  };
  Status result = run.go();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().exitCode(), 1);
  EXPECT_CONTAINS(result.error().message, "nan at step 3 (epoch 2)");
  EXPECT_CONTAINS(result.error().message, "--lr");
  EXPECT_EQ(directory.read("w.safetensors"), "old");
  auto report = nlohmann::json::parse(directory.read("r.json"));
  EXPECT_EQ(report["steps"], 3);
}

TEST(Trainer, InterruptFinishesTheStepAndSaves) {
  TestDirectory directory;
  FakeRun run;
  run.options.schedule.steps = 1000;
  run.options.save = directory.file("w.safetensors");
  run.options.report = directory.file("r.json");
  int microBatches = 0;
  run.executor.onMicroBatch = [&] {
    if (++microBatches == 5) // the first half of step 3
      std::raise(SIGINT);
  };
  Status result = run.go();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(microBatches, 6);
  EXPECT_EQ(run.executor.steps, 3u);
  EXPECT_TRUE(std::filesystem::exists(run.options.save));
  auto report = nlohmann::json::parse(directory.read("r.json"));
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_EQ(report["steps"], 3);
}

TEST(TrainerDeathTest, TheSecondInterruptKills) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        FakeRun run;
        run.options.schedule.steps = 1000;
        run.executor.onMicroBatch = [] {
          std::raise(SIGINT);
          std::raise(SIGINT);
        };
        (void)run.go();
      },
      testing::ExitedWithCode(130), "ended by SIGINT");
}

TEST(Trainer, EverySignalThatEndsIsNoted) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    FakeRun run;
    run.options.schedule.steps = 1000;
    run.executor.onMicroBatch = [&] {
      if (run.executor.steps == 0 && !interruptRequested())
        std::raise(signal);
    };
    ASSERT_TRUE(run.go().ok());
    EXPECT_TRUE(run.report.interrupted);
    EXPECT_EQ(interruptSignal(), signal);
    EXPECT_EQ(run.executor.steps, 1u);
  }
}

TEST(Trainer, IgnoredSignalsStayIgnored) { // nohup
  auto former = std::signal(SIGHUP, SIG_IGN);
  FakeRun run;
  run.options.schedule.steps = 3;
  run.executor.onMicroBatch = [] { std::raise(SIGHUP); };
  ASSERT_TRUE(run.go().ok());
  EXPECT_FALSE(run.report.interrupted);
  EXPECT_EQ(run.executor.steps, 3u);
  std::signal(SIGHUP, former);
}

TEST(Trainer, ResumingGivesWhatOneRunGives) {
  TestDirectory directory;
  auto configure = [&](FakeRun &run, uint64_t steps) {
    run.options.schedule.steps = steps;
    run.options.schedule.shuffle = true;
    run.options.schedule.seed = 42;
  };
  FakeRun whole(40), first(40), second(40);
  configure(whole, 25); // an epoch has 10 steps
  ASSERT_TRUE(whole.go().ok());
  configure(first, 13);
  first.options.checkpoint = directory.file("c");
  ASSERT_TRUE(first.go().ok());
  configure(second, 25);
  second.options.schedule.seed = 1; // the checkpoint's counts
  second.options.resume = directory.file("c");
  Status resumed = second.go();
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_EQ(second.executor.steps, 12u);
  std::vector<float> joined = first.report.loss;
  joined.insert(joined.end(), second.report.loss.begin(), second.report.loss.end());
  EXPECT_EQ(joined, whole.report.loss);
  EXPECT_EQ(second.executor.number(8, 0), whole.executor.number(8, 0));
}

TEST(Trainer, ResumesWithTheLearningRateOfTheStep) {
  TestDirectory directory;
  auto configure = [&](FakeRun &run, const char *schedule) {
    run.options.schedule.steps = 11;
    run.options.schedule.learningRate.schedule = schedule;
    run.options.schedule.learningRate.warmup = 2;
    run.options.resume = directory.file("c");
  };
  FakeRun whole(100), first(100), second(100), other(100);
  configure(whole, "linear");
  whole.options.resume.clear();
  ASSERT_TRUE(whole.go().ok());
  configure(first, "linear");
  first.options.checkpoint = std::exchange(first.options.resume, "");
  int microBatches = 0;
  first.executor.onMicroBatch = [&] {
    if (++microBatches == 12)
      std::raise(SIGINT);
  };
  ASSERT_TRUE(first.go().ok());
  ASSERT_EQ(first.executor.steps, 6u) << "in the middle of the ring";
  configure(second, "linear");
  second.executor.stepsBefore = 6;
  ASSERT_TRUE(second.go().ok());
  std::vector<float> joined = first.executor.rates;
  joined.insert(joined.end(), second.executor.rates.begin(), second.executor.rates.end());
  EXPECT_EQ(joined, whole.executor.rates);
  configure(other, "cosine");
  EXPECT_BAD_INPUT(other.go(), "its learning rate was linear over 9 steps to 0 after 2 of warm-up, "
                               "here cosine over 9 steps to 0 after 2 of warm-up (--schedule");
}

TEST(Trainer, ResumesOnlyTheSameRun) {
  TestDirectory directory;
  auto configure = [&](FakeRun &run, uint64_t steps) {
    run.options.schedule.steps = steps;
    run.options.resume = directory.file("c");
  };
  FakeRun first(40);
  configure(first, 13);
  first.options.resume.clear();
  first.options.checkpoint = directory.file("c");
  first.report.optimizer = "sgd lr 0.1";
  ASSERT_TRUE(first.go().ok());

  FakeRun otherData(44);
  configure(otherData, 20);
  EXPECT_BAD_INPUT(otherData.go(), "it has 40 samples in use (--limit), here 44; it has 10 steps "
                                   "in an epoch, here 11");
  FakeRun limited(40);
  configure(limited, 20);
  limited.options.schedule.limit = 20;
  EXPECT_BAD_INPUT(limited.go(), "it has 40 samples in use (--limit), here 20");
  FakeRun shuffled(40);
  configure(shuffled, 20);
  shuffled.options.schedule.shuffle = true;
  EXPECT_BAD_INPUT(shuffled.go(), "it was trained without --shuffle, here with it");
  FakeRun fewer(40);
  configure(fewer, 12);
  EXPECT_BAD_INPUT(fewer.go(), "stands at step 13, beyond the 12");
  FakeRun done(40); // the same command once more
  configure(done, 13);
  EXPECT_TRUE(done.go().ok());
  EXPECT_EQ(done.executor.steps, 0u);
  FakeRun nothing(40);
  configure(nothing, 13);
  nothing.options.trace = directory.file("t");
  EXPECT_BAD_INPUT(nothing.go(), "no step to take it from (13 of 13 are done)");

  FakeRun faster(40);
  configure(faster, 14);
  faster.report.optimizer = "sgd lr 0.01";
  testing::internal::CaptureStderr();
  EXPECT_TRUE(faster.go().ok());
  EXPECT_CONTAINS(testing::internal::GetCapturedStderr(),
                  "was trained with sgd lr 0.1; this run goes on with sgd lr 0.01");
}
