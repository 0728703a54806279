// When the loop validates, saves and stops, and that a run that goes on decides as one run does.
#include "runtime/process/Interrupt.h"
#include "test/runtime/io/FakeRun.h"
#include "test/runtime/io/TestFiles.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <utility>

using namespace gc::runtime;

namespace {

/// Both samples are the loss of the next validation; training does not read them.
struct Script final : Dataset {
  explicit Script(std::vector<float> losses) : losses(std::move(losses)) {}
  int64_t size() const override { return 2; }
  int64_t label(int64_t) const override { return 0; }
  int64_t rows() const override { return 1; }
  Status read(int64_t, int64_t, int64_t, float *sample, float *) const override {
    sample[0] = sample[1] = losses.at(next++ / 2);
    return {};
  }
  std::vector<float> losses;
  mutable size_t next = 0;
};

/// 16 samples, an epoch of four steps, and a validation that says what the test wants.
struct ValidatedRun : FakeRun {
  explicit ValidatedRun(std::vector<float> losses, size_t from = 0) : FakeRun(16) {
    auto script = std::make_unique<Script>(std::move(losses));
    script->next = 2 * from;
    data.validation = std::move(script);
    options.schedule.validation.emplace();
  }
  ValidationSchedule &validation() { return *options.schedule.validation; }
  std::vector<uint64_t> validatedSteps() const {
    std::vector<uint64_t> steps;
    for (const EvaluationReport &e : report.validations)
      steps.push_back(e.step);
    return steps;
  }
};

using Steps = std::vector<uint64_t>;

} // namespace

TEST(Validation, AfterEpochsOrSteps) {
  ValidatedRun epochs({3, 2, 1});
  epochs.options.schedule.epochs = 3;
  ASSERT_TRUE(epochs.go().ok());
  EXPECT_EQ(epochs.validatedSteps(), (Steps{4, 8, 12}));
  EXPECT_EQ(epochs.report.validations[1].loss, 2);
  EXPECT_EQ(epochs.report.best->step, 12u);
  ValidatedRun second({3, 2, 1});
  second.options.schedule.epochs = 5;
  second.validation().every = 2;
  ASSERT_TRUE(second.go().ok());
  EXPECT_EQ(second.validatedSteps(), (Steps{8, 16, 20})) << "and at the end";
  ValidatedRun steps({3, 2, 1});
  steps.options.schedule.steps = 8;
  steps.validation().every = 3;
  steps.validation().countsSteps = true;
  ASSERT_TRUE(steps.go().ok());
  EXPECT_EQ(steps.validatedSteps(), (Steps{3, 6, 8}));
}

TEST(Validation, ChangesNothingAboutTraining) {
  FakeRun plain(16);
  ValidatedRun validated({9, 8, 7, 6, 5, 4, 3, 2, 1});
  for (FakeRun *run : {&plain, static_cast<FakeRun *>(&validated)}) {
    run->options.schedule.epochs = 3;
    run->options.schedule.shuffle = true;
  }
  validated.validation().every = 3;
  validated.validation().countsSteps = true;
  ASSERT_TRUE(plain.go().ok());
  ASSERT_TRUE(validated.go().ok());
  EXPECT_EQ(validated.report.loss, plain.report.loss);
  EXPECT_EQ(validated.executor.number(8, 0), plain.executor.number(8, 0));
}

TEST(Validation, StopsEarlyAndKeepsTheBest) {
  TestDirectory directory;
  ValidatedRun run({5, 3, 4, 4, 1});
  run.options.schedule.epochs = 9;
  run.validation().watch.patience = 2;
  run.options.checkpoint = directory.file("c");
  ASSERT_TRUE(run.go().ok());
  EXPECT_EQ(run.executor.steps, 16u);
  ASSERT_TRUE(run.report.earlyStop);
  EXPECT_EQ(run.report.earlyStop->step, 16u);
  EXPECT_CONTAINS(run.report.earlyStop->reason, "has not improved in 2 validations");
  EXPECT_FALSE(run.report.interrupted);
  EXPECT_EQ(run.report.best->file, directory.file("c/step-00000008.safetensors"));
  auto list = nlohmann::json::parse(directory.read("c/checkpoints.json"));
  EXPECT_EQ(list["best"], "step-00000008.safetensors");
  EXPECT_EQ(list["last"], "step-00000016.safetensors");
  EXPECT_EQ(list["checkpoints"].size(), 2u);

  ValidatedRun again({9, 9, 9, 9, 9, 9, 9});
  again.options.schedule.epochs = 9;
  again.validation().watch.patience = 2;
  again.options.resume = directory.file("c");
  ASSERT_TRUE(again.go().ok());
  EXPECT_EQ(again.executor.steps, 0u) << "it was stopped, and is";
  EXPECT_TRUE(again.report.earlyStop);
  ValidatedRun patient({9, 9, 9, 9, 9, 9, 9});
  patient.options.schedule.epochs = 9;
  patient.validation().watch.patience = 3;
  patient.options.resume = directory.file("c");
  ASSERT_TRUE(patient.go().ok());
  EXPECT_EQ(patient.executor.steps, 4u);
  EXPECT_EQ(patient.report.best->value, 3) << "of the run before";
}

TEST(Validation, NotANumberEndsARunThatMayStop) {
  ValidatedRun run({1, NAN, 1});
  run.options.schedule.epochs = 3;
  run.validation().watch.patience = 2;
  Status done = run.go();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().exitCode(), 1);
  EXPECT_CONTAINS(done.error().message, "the validation loss is nan after step 8");
  EXPECT_EQ(run.report.validations.size(), 2u);
}

TEST(Validation, DecidesTheSameAfterAnInterruptAnywhere) {
  const std::vector<float> losses = {5, 3, 4, 4, 1, 1};
  auto configure = [](ValidatedRun &run) {
    run.options.schedule.epochs = 9;
    run.options.schedule.shuffle = true;
    run.validation().watch.patience = 2;
  };
  ValidatedRun whole(losses);
  configure(whole);
  ASSERT_TRUE(whole.go().ok());
  for (uint64_t step = 1; step <= 15; ++step) {
    TestDirectory directory;
    ValidatedRun first(losses);
    configure(first);
    first.options.checkpoint = directory.file("c");
    bool raised = false; // a second signal ends the process at once
    first.executor.onMicroBatch = [&] {
      if (first.executor.steps + 1 == step && !std::exchange(raised, true))
        std::raise(SIGTERM); // also while the step is one after which a validation is due
    };
    ASSERT_TRUE(first.go().ok());
    EXPECT_TRUE(first.report.interrupted) << step;
    // A validation that is due after the step does not take place: the next run begins with it.
    ValidatedRun second(losses, first.report.validations.size());
    configure(second);
    second.options.resume = directory.file("c");
    Status resumed = second.go();
    ASSERT_TRUE(resumed.ok()) << resumed.error().message;
    EXPECT_EQ(first.executor.steps + second.executor.steps, whole.executor.steps) << step;
    EXPECT_EQ(second.executor.number(8, 0), whole.executor.number(8, 0)) << step;
    EXPECT_EQ(second.report.best->step, whole.report.best->step) << step;
    EXPECT_EQ(second.report.earlyStop->step, whole.report.earlyStop->step) << step;
  }
}

TEST(Checkpoints, EverySoManySteps) {
  TestDirectory directory;
  FakeRun run(16);
  run.options.schedule.epochs = 2;
  run.options.schedule.checkpointEvery = 3;
  run.options.checkpoint = directory.file("c");
  run.options.keep = *parseKeepRule("all");
  ASSERT_TRUE(run.go().ok());
  auto list = nlohmann::json::parse(directory.read("c/checkpoints.json"));
  std::vector<uint64_t> steps;
  for (const auto &one : list["checkpoints"])
    steps.push_back(one["step"]);
  EXPECT_EQ(steps, (Steps{3, 4, 6, 8}));
  EXPECT_EQ(run.report.checkpoint->written, 4u);
  for (uint64_t step : steps) {
    FakeRun second(16), whole(16);
    second.options.schedule.epochs = whole.options.schedule.epochs = 3;
    second.options.resume = directory.file("c:" + std::to_string(step));
    ASSERT_TRUE(whole.go().ok());
    ASSERT_TRUE(second.go().ok());
    EXPECT_EQ(second.executor.steps, 12 - step);
    EXPECT_EQ(second.executor.number(8, 0), whole.executor.number(8, 0));
  }
}
