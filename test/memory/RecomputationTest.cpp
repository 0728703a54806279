//===- RecomputationTest.cpp - budgets kept, and not a bit changed --------===//
//
// Random networks, policies, budgets and micro-batches from the text to trained weights: plans pass
// the replay, keep their budget, run in the arena that they predict, and compute with recomputation
// what they compute without. Linked once for the cpu and once for cuda, on an emulated driver.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"
#include "runtime/trainer/Verify.h"
#include "test/memory/RandomModel.h"
#include "test/memory/TestDevice.h"
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

using namespace gc::runtime;

namespace gc::test {
namespace {

constexpr int threads = 2;
bool onCuda() { return deviceUnderTest == std::string_view("cuda"); }

CompileResult compile(const std::string &text, CompileOptions options) {
  options.check = true;
  options.threads = threads;
  options.device = deviceUnderTest;
  if (onCuda()) {
    options.target = "sm_80";
    options.cudaLibrary = "none"; // the emulated driver executes PTX, not what a library brings
    options.assemble = false;
  }
  return compileModel(text, "random", options);
}

TrainOptions training(uint64_t seed) {
  TrainOptions options;
  options.data = "synthetic";
  options.schedule.steps = 2;
  options.schedule.seed = seed;
  options.schedule.workers = 1;
  options.threads = threads;
  return options;
}

// The budget that a refusal names.
uint64_t namedBudget(const std::string &error) {
  size_t at = error.find("try --budget=");
  return at == std::string::npos ? 0 : std::stoull(error.substr(at + 13));
}

class Recomputation : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    random.seed(GetParam());
    text = randomModel(random);
    constexpr const char *optimizers[] = {"sgd", "adam", "adamw"};
    options.optimizer.name = optimizers[random() % 3];
    // Updates that wait for all gradients, and such as change one variable more.
    if (random() % 3 == 0)
      options.optimizer.clipNorm = 0.25;
    if (random() % 3 == 0)
      options.optimizer.ema = 0.5;
    options.accumulate = 1 << random() % 3;
    CompileResult compiled = compile(text, options);
    ASSERT_EQ(compiled.exitCode, 0) << compiled.error;
    plain = PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)), "random");
    ASSERT_TRUE(plain->ok());
  }

  void expectSame(const CompileResult &compiled) {
    auto plan = PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)), "random");
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ((*plan)->micro_batches(), options.accumulate);
    std::optional<StateRecord> &reference = references[splitOf(compiled)];
    if (!reference) {
      ASSERT_NO_FATAL_FAILURE(record(compiled, reference));
    }
    TrainingReport report;
    Status done = compareSteps(*plan, training(GetParam()), *reference, report);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(report.verify->identical) << report.verify->difference;
    EXPECT_EQ(report.verify->steps, 2u);
    EXPECT_EQ(report.memory.measured.allocationsInStep, 0u);
    if (onCuda()) { // the host's memory holds none of it
      ASSERT_TRUE(report.memory.device);
      constexpr uint64_t granule = 2 << 20; // drivers hand out memory in such pieces
      EXPECT_GE(report.memory.device->driver.arena, report.memory.arenaBytes);
      EXPECT_LT(report.memory.device->driver.arena, report.memory.arenaBytes + granule);
      return;
    }
    // What the system charged: the arena, whole pages of it, and little else.
    double predicted = static_cast<double>(report.memory.arenaBytes);
    EXPECT_GE(report.memory.measured.peakBytes, report.memory.arenaBytes);
    EXPECT_LE(static_cast<double>(report.memory.measured.peakBytes), 1.02 * predicted + (8 << 20));
  }

  // Runs the steps with the same parts of the batch, which decide the order of sums, and without
  // recomputation.
  void record(const CompileResult &compiled, std::optional<StateRecord> &reference) {
    if (nlohmann::json::parse(compiled.report)["split"]["parts"] == 1) {
      Result<StateRecord> recorded = recordSteps(**plain, training(GetParam()));
      ASSERT_TRUE(recorded) << recorded.error().message;
      reference = std::move(*recorded);
      return;
    }
    CompileOptions plainParts = options;
    plainParts.remat = "none";
    plainParts.budgetBytes = 0;
    nlohmann::json split = nlohmann::json::parse(compiled.report)["split"];
    plainParts.split = {false, split["parts"], split["chains"]};
    CompileResult made = compile(text, plainParts);
    ASSERT_EQ(made.exitCode, 0) << made.error;
    auto plan = PlanFile::fromMemory(std::as_bytes(std::span(made.plan)), "random");
    ASSERT_TRUE(plan) << plan.error().message;
    Result<StateRecord> recorded = recordSteps(*plan, training(GetParam()));
    ASSERT_TRUE(recorded) << recorded.error().message;
    reference = std::move(*recorded);
  }
  // The parts and the chains.
  static std::string splitOf(const CompileResult &compiled) {
    return nlohmann::json::parse(compiled.report)["split"].dump();
  }

  static uint64_t arenaBytes(const CompileResult &compiled) {
    return nlohmann::json::parse(compiled.report)["arena_bytes"];
  }
  static double seconds(const CompileResult &compiled) {
    return nlohmann::json::parse(compiled.report)["step_seconds_predicted"];
  }

  std::mt19937 random;
  std::string text;
  CompileOptions options;
  std::optional<Result<PlanFile>> plain;
  std::map<std::string, std::optional<StateRecord>> references; // by splitOf()
};

TEST_P(Recomputation, PoliciesChangeNoBit) {
  const std::string policies[] = {"all", "sqrt", "checkpoints:" + std::to_string(1 + random() % 3)};
  options.remat = policies[random() % 3];
  SCOPED_TRACE(options.remat);
  CompileResult compiled = compile(text, options);
  ASSERT_EQ(compiled.exitCode, 0) << compiled.error;
  expectSame(compiled);
}

TEST_P(Recomputation, BudgetsAreKeptAndChangeNoBit) {
  options.budgetBytes = 1;
  CompileResult refused = compile(text, options);
  ASSERT_EQ(refused.exitCode, 3) << refused.error;
  uint64_t least = namedBudget(refused.error), most = (**plain)->arena_bytes();
  ASSERT_GT(least, 0u) << refused.error;
  ASSERT_LE(least, most);

  options.budgetBytes = least;
  CompileResult tight = compile(text, options);
  ASSERT_EQ(tight.exitCode, 0) << tight.error;
  EXPECT_LE(arenaBytes(tight), least);
  expectSame(tight);

  options.budgetBytes = std::uniform_int_distribution<uint64_t>(least, most)(random);
  CompileResult between = compile(text, options);
  ASSERT_EQ(between.exitCode, 0) << between.error;
  EXPECT_LE(arenaBytes(between), options.budgetBytes);
  EXPECT_LE(seconds(between), seconds(tight));
  expectSame(between);
}

// Every chain that is found, whatever stands between two of them.
TEST_P(Recomputation, PartsOfTheBatchChangeNoBit) {
  options.accumulate = 1; // a micro-batch is not split again
  options.split = {false, 2 << (random() % 3), ""};
  CompileResult plainParts = compile(text, options);
  if (plainParts.exitCode == 2 &&
      plainParts.error.find("works on each sample alone") != std::string::npos)
    return;
  ASSERT_EQ(plainParts.exitCode, 0) << plainParts.error;
  expectSame(plainParts);
  options.remat = "all";
  CompileResult again = compile(text, options);
  ASSERT_EQ(again.exitCode, 0) << again.error;
  expectSame(again);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Recomputation, testing::Range(0, onCuda() ? 6 : 12));

} // namespace
} // namespace gc::test
