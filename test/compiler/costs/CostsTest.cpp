// Files of measured costs: what fits is used, what does not is told apart. Nothing is run: profiles
// are made from the commands of a plan, with seconds of our own.
#include "compiler/Calibrate.h"
#include "compiler/Compile.h"
#include "runtime/plan/PlanFile.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace gc;
using nlohmann::json;

namespace {

std::string modelText(const std::string &name) {
  std::ifstream file(GC_MODELS_DIR "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

CompileOptions options(const std::string &costs = "") {
  CompileOptions options;
  options.threads = 2;
  options.costs = costs;
  return options;
}

runtime::PlanFile planOf(const CompileResult &result) {
  EXPECT_EQ(result.exitCode, 0) << result.error;
  auto plan = runtime::PlanFile::fromMemory(std::as_bytes(std::span(result.plan)));
  EXPECT_TRUE(plan.ok());
  return std::move(*plan);
}

std::vector<const plan::Command *> commandsOf(const runtime::PlanFile &plan) {
  std::vector<const plan::Command *> all;
  for (const plan::CommandList *list : {plan->micro_batch(), plan->step()})
    for (uint32_t i = 0; list && list->commands() && i < list->commands()->size(); ++i)
      all.push_back(list->commands()->Get(i));
  return all;
}

/// Seconds of an op in the profiles below: different ones, so that a mix-up shows.
double secondsOf(int op) { return 1e-3 * (op + 1); }

/// What gc-run --profile would write, each command with an equal part of its op's seconds.
json profileOf(const runtime::PlanFile &plan) {
  json profile = {{"model", plan->model()->str()},
                  {"device", "cpu"},
                  {"threads", 2},
                  {"batch", plan->batch()},
                  {"micro_batches", plan->micro_batches()},
                  {"ops", json::array()}};
  auto add = [&](const char *name, const plan::CommandList *list) {
    std::map<int, int> commands;
    for (uint32_t i = 0; list && list->commands() && i < list->commands()->size(); ++i)
      ++commands[list->commands()->Get(i)->op()];
    for (uint32_t i = 0; list && list->commands() && i < list->commands()->size(); ++i) {
      const plan::Command &command = *list->commands()->Get(i);
      profile["ops"].push_back(
          {{"op", command.op()},
           {"name", command.name()->str()},
           {"list", name},
           {"median_seconds", secondsOf(command.op()) / commands[command.op()]},
           {"flops", command.flops()},
           {"bytes_moved", command.bytes_moved()},
           {"recomputed", command.recomputed()}});
    }
  };
  add("micro_batch", plan->micro_batch());
  add("step", plan->step());
  return profile;
}

class Costs : public testing::Test {
protected:
  void SetUp() override {
    const auto *test = testing::UnitTest::GetInstance()->current_test_info();
    path = (std::filesystem::temp_directory_path() /
            (std::string("gc-costs-") + test->name() + std::to_string(::getpid())))
               .string();
    text = modelText("convnet.mlir");
    profile = profileOf(planOf(compileModel(text, "convnet", options())));
    ASSERT_GT(profile["ops"].size(), 20u);
  }
  void TearDown() override { std::filesystem::remove(path); }

  void write(const std::string &content) { std::ofstream(path) << content; }
  CompileResult compileWith(const json &costs) {
    write(costs.dump());
    return compileModel(text, "convnet", options(path));
  }
  void expectRefused(const json &costs, std::initializer_list<const char *> parts) {
    write(costs.dump());
    expectFileRefused(parts);
  }
  void expectFileRefused(std::initializer_list<const char *> parts) {
    CompileResult result = compileModel(text, "convnet", options(path));
    EXPECT_EQ(result.exitCode, 2);
    for (const char *part : parts)
      EXPECT_NE(result.error.find(part), std::string::npos) << part << "\nin " << result.error;
    EXPECT_EQ(result.error.find('\n'), std::string::npos) << result.error;
  }

  std::string path, text;
  json profile;
};

} // namespace

TEST_F(Costs, EveryOpOfTheStepHasItsMeasuredSeconds) {
  runtime::PlanFile plan = planOf(compileWith(profile));
  std::map<int, double> predicted;
  for (const plan::Command *command : commandsOf(plan))
    predicted[command->op()] += command->seconds_predicted();
  for (auto [op, seconds] : predicted)
    EXPECT_NEAR(seconds, secondsOf(op), 1e-9) << "op " << op;
}

TEST_F(Costs, TheOrderOfEntriesDoesNotMatter) {
  std::reverse(profile["ops"].begin(), profile["ops"].end());
  runtime::PlanFile plan = planOf(compileWith(profile));
  // The first command of an op has its prediction.
  EXPECT_NEAR(commandsOf(plan)[0]->seconds_predicted(), secondsOf(0), 1e-9);
}

TEST_F(Costs, WhatABudgetAddedIsLeftOut) {
  json again = profile["ops"][0];
  again["recomputed"] = true;
  again["median_seconds"] = 100;
  profile["ops"].push_back(again);
  json added = profile["ops"][1];
  added["op"] = -1;
  profile["ops"].push_back(added);
  runtime::PlanFile plan = planOf(compileWith(profile));
  EXPECT_NEAR(commandsOf(plan)[0]->seconds_predicted(), secondsOf(0), 1e-9);
}

TEST_F(Costs, TheProfileOfARecomputingPlanServesThePlainOne) {
  CompileOptions all = options();
  all.remat = "all";
  json recomputing = profileOf(planOf(compileModel(text, "convnet", all)));
  ASSERT_GT(recomputing["ops"].size(), profile["ops"].size());
  EXPECT_EQ(compileWith(recomputing).exitCode, 0);
}

TEST_F(Costs, OtherThreadsAreAWarning) {
  profile["threads"] = 7;
  CompileResult result = compileWith(profile);
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_NE(result.warnings.find("measured with 7 threads, this plan is for 2"), std::string::npos)
      << result.warnings;
}

TEST_F(Costs, AnotherNetworkIsRefused) {
  write(profileOf(planOf(compileModel(modelText("mlp.mlir"), "mlp", options()))).dump());
  expectFileRefused({"is a profile of another step", "of model 'mlp', this is 'convnet'",
                     "gc-run MODEL --profile=FILE"});
}

TEST_F(Costs, AnotherBatchIsRefused) {
  profile["batch"] = 7;
  profile["micro_batches"] = 7;
  expectRefused(profile, {"its batch is 7 in 7 micro-batches, this one's "});
}

TEST_F(Costs, AnotherOptimizerIsRefused) {
  CompileOptions adam = options();
  adam.optimizer.name = "adam";
  expectRefused(profileOf(planOf(compileModel(text, "convnet", adam))),
                {" here and ", " there; ", " ops match"});
}

TEST_F(Costs, AMissingOpIsNamed) {
  json &ops = profile["ops"];
  int last = ops.back()["op"];
  std::string name = ops.back()["name"];
  while (ops.back()["op"] == last)
    ops.erase(ops.size() - 1);
  expectRefused(profile, {name.c_str(), "here and missing there"});
}

TEST_F(Costs, AnOpTooManyIsRefused) {
  json more = profile["ops"].back();
  more["op"] = 100000;
  profile["ops"].push_back(more);
  expectRefused(profile, {"is a profile of another step: it has "});
}

TEST_F(Costs, OtherWorkUnderTheSameNameIsRefused) {
  profile["ops"][0]["flops"] = 12345;
  expectRefused(profile, {"op 0 of micro_batch is ", "(12345 FLOP, "});
}

TEST_F(Costs, SecondsMustBeANumberFromZeroOn) {
  for (const json &bad : {json(-1e-3), json(nullptr), json("fast"), json::array()}) {
    json broken = profile;
    broken["ops"][3]["median_seconds"] = bad;
    expectRefused(broken, {profile["ops"][3]["name"].get<std::string>().c_str(), "the seconds ",
                           "expected a number from 0 on"});
  }
  json none = profile;
  none["ops"][3].erase("median_seconds");
  expectRefused(none, {"the seconds none: expected a number from 0 on"});
}

TEST_F(Costs, WhatIsNotAProfileIsRefused) {
  std::string whole = profile.dump();
  for (size_t size : {size_t(0), size_t(1), whole.size() / 2, whole.size() - 1}) {
    write(whole.substr(0, size));
    expectFileRefused({"is not JSON, or only a part of it", "gc-run MODEL --profile=FILE"});
  }
  write("{\"model\": NaN}");
  expectFileRefused({"is not JSON"});
  for (const json &other : {json::object(), json::array(), json(3), json{{"loss", 1}}})
    expectRefused(other, {"is neither a profile nor a calibration"});
  expectRefused({{"ops", 3}}, {"has no list of ops"});
  expectRefused({{"ops", {3}}}, {"has an op that is no table"});
  expectRefused({{"ops", {{{"name", "x"}, {"median_seconds", 1}}}}},
                {"does not say which op 'x' is"});
  std::filesystem::remove(path);
  expectFileRefused({"cannot read '", path.c_str()});
}

TEST_F(Costs, CalibrationFindsTheRatesBehindAProfile) {
  // Seconds by the built-in roofline with every rate halved: that is what calibration must find.
  for (json &entry : profile["ops"])
    entry["median_seconds"] = 0.0;
  runtime::PlanFile plan = planOf(compileModel(text, "convnet", options()));
  double total = 0;
  std::vector<const plan::Command *> commands = commandsOf(plan);
  for (size_t i = 0; i < commands.size(); ++i) {
    profile["ops"][i]["median_seconds"] = 2 * commands[i]->seconds_predicted();
    total += 2 * commands[i]->seconds_predicted();
  }
  write(profile.dump());
  Calibration calibration = calibrate({{text, {path, path}}}, options());
  ASSERT_EQ(calibration.error, "");
  ASSERT_EQ(calibration.fits.size(), 1u);
  EXPECT_EQ(calibration.fits[0].model, "convnet");
  EXPECT_NEAR(calibration.fits[0].measuredSeconds, total, 1e-6 * total);
  EXPECT_NEAR(calibration.fits[0].predictedSeconds, total, 0.03 * total);

  // And what it writes is what --costs reads.
  write(calibration.json("machine", 2));
  double predicted = 0;
  runtime::PlanFile calibrated = planOf(compileModel(text, "convnet", options(path)));
  for (const plan::Command *command : commandsOf(calibrated))
    predicted += command->seconds_predicted();
  EXPECT_NEAR(predicted, total, 0.03 * total);

  json rates = json::parse(calibration.json("machine", 2));
  for (const json &bad : {json(0), json(-1), json(nullptr), json("many")}) {
    json broken = rates;
    broken["roofline"]["matmul_flops_per_second"] = bad;
    expectRefused(broken,
                  {"gives matmul_flops_per_second the value ", "expected a number above 0"});
  }
  rates["roofline"] = 3;
  expectRefused(rates, {"has a roofline that is no table"});
}

/// A profile of a plan for CUDA with these times as many times as predicted; an entry for each part
/// of a command that is several ops.
static json cudaProfileOf(const runtime::PlanFile &plan, double times) {
  json profile = {{"model", plan->model()->str()},
                  {"device", "cuda"},
                  {"threads", 2},
                  {"batch", plan->batch()},
                  {"micro_batches", plan->micro_batches()},
                  {"ops", json::array()}};
  auto add = [&](const char *name, const auto &one) {
    profile["ops"].push_back({{"op", one.op()},
                              {"name", one.name()->str()},
                              {"list", name},
                              {"median_seconds", times * one.seconds_predicted()},
                              {"flops", one.flops()},
                              {"bytes_moved", one.bytes_moved()},
                              {"implementation", "kernel"}});
  };
  auto addList = [&](const char *name, const plan::CommandList *list) {
    for (uint32_t i = 0; list && list->commands() && i < list->commands()->size(); ++i) {
      const plan::Command &command = *list->commands()->Get(i);
      if (!command.parts() || command.parts()->size() == 0)
        add(name, command);
      for (uint32_t p = 0; command.parts() && p < command.parts()->size(); ++p)
        add(name, *command.parts()->Get(p));
    }
  };
  addList("micro_batch", plan->micro_batch());
  addList("step", plan->step());
  return profile;
}

namespace {
double predictedSeconds(const CompileResult &result) {
  return json::parse(result.report)["prediction"]["step_seconds"].get<double>();
}
} // namespace

// Predictions for a GPU count launches, bytes of partial sums and idle multiprocessors. A
// calibration that did not would find them in the rates, and predictions would count them twice.
TEST_F(Costs, CalibrationOfAGpuCountsIdleMultiprocessorsOnce) {
  CompileOptions cuda = options();
  cuda.device = "cuda";
  cuda.target = "sm_86";
  cuda.cudaLibrary = "none";
  runtime::PlanFile plan = planOf(compileModel(text, "convnet", cuda));
  double total = 0;
  for (const plan::Command *command : commandsOf(plan))
    total += 2 * command->seconds_predicted();
  write(cudaProfileOf(plan, 2).dump());
  Calibration calibration = calibrate({{text, {path}}}, cuda, /*startSeconds=*/2 / 4e5);
  ASSERT_EQ(calibration.error, "");
  EXPECT_NEAR(calibration.rates[0].second, 4e5 / 2, 1) << "the measured start counts";
  EXPECT_EQ(calibration.ops.size(), 5u);
  EXPECT_EQ(calibration.classes.size(), 5u);
  for (const Calibration::ProductClass &one : calibration.classes) {
    EXPECT_FALSE(one.byLibrary) << one.name;
    EXPECT_NEAR(one.speed, 1, 0.05) << one.name;
    EXPECT_GT(one.flopsPerSecond, 0) << one.name;
  }

  json costs = json::parse(calibration.json("a GPU", 1));
  write(costs.dump());
  cuda.costs = path;
  double predicted = 0;
  runtime::PlanFile calibrated = planOf(compileModel(text, "convnet", cuda));
  for (const plan::Command *command : commandsOf(calibrated))
    predicted += command->seconds_predicted();
  EXPECT_NEAR(predicted, total, 0.03 * total);

  // How fast inputs arrive decides what it costs to have one buffer for them.
  auto withOneInputSlot = [&](double bytesPerSecond) {
    json rated = costs;
    rated["input_bytes_per_second"] = bytesPerSecond;
    write(rated.dump());
    CompileOptions small = cuda;
    small.budgetBytes = calibrated->arena_bytes() - 1;
    return predictedSeconds(compileModel(text, "convnet", small));
  };
  EXPECT_GT(withOneInputSlot(1e9), withOneInputSlot(1e15));

  expectRefused(costs, {"was measured on the cuda device, and this plan is for cpu"});
  auto expectRefusedOnCuda = [&](const json &broken, const char *why) {
    write(broken.dump());
    CompileResult result = compileModel(text, "convnet", cuda);
    EXPECT_EQ(result.exitCode, 2);
    EXPECT_NE(result.error.find(why), std::string::npos) << why << "\nin " << result.error;
  };
  json broken = costs;
  broken["product_classes"] = 3;
  expectRefusedOnCuda(broken, "has product_classes that are no list");
  broken = costs;
  broken["product_classes"][0]["way"] = "somehow";
  expectRefusedOnCuda(broken, "has an entry of product_classes without class or way");
  broken = costs;
  broken["measured_ops"][0]["seconds"] = 0;
  expectRefusedOnCuda(broken, "the seconds 0: expected a number above 0");
}

namespace {
/// Seconds of every op by what it does, `factor` times what is predicted without them.
std::map<std::string, double> opSecondsOf(const runtime::PlanFile &plan, double factor) {
  std::map<std::string, double> seconds;
  for (const plan::Command *command : commandsOf(plan))
    if (command->work())
      seconds[command->work()->str()] = factor * command->seconds_predicted();
  return seconds;
}

std::string ratesFrom(const CompileResult &result) {
  return json::parse(result.report)["prediction"]["rates_from"].get<std::string>();
}
} // namespace

TEST_F(Costs, RatesOfTheMachineAreUsedAndNamed) {
  CompileResult builtIn = compileModel(text, "convnet", options());
  EXPECT_EQ(ratesFrom(builtIn), "built-in");

  write(profile.dump());
  Calibration calibration = calibrate({{text, {path}}}, options());
  ASSERT_EQ(calibration.error, "");
  calibration.inputBytesPerSecond = 5e9;
  CompileOptions calibrated = options();
  calibrated.machine.name = "calibrated TEST, 2 threads";
  calibrated.machine.rates = calibration.json("machine", 2);
  CompileResult result = compileModel(text, "convnet", calibrated);
  EXPECT_EQ(ratesFrom(result), "calibrated TEST, 2 threads");
  // The profile's ops are milliseconds, those of the real ones microseconds.
  EXPECT_GT(predictedSeconds(result), 10 * predictedSeconds(builtIn));

  // A file that is asked for wins, and the same file gives the same prediction.
  write(calibrated.machine.rates);
  calibrated.machine.rates = "{}";
  calibrated.costs = path;
  CompileResult named = compileModel(text, "convnet", calibrated);
  EXPECT_EQ(ratesFrom(named), path);
  EXPECT_EQ(predictedSeconds(named), predictedSeconds(result));

  EXPECT_EQ(refuseCalibration(calibration.json("machine", 2), "x"), "");
  calibration.inputBytesPerSecond = 0;
  EXPECT_EQ(refuseCalibration(calibration.json("machine", 2), "x"), "");
  for (const char *bad : {"", "{}", "{\"ops\":[]}", "{\"roofline\":{}}"})
    EXPECT_NE(refuseCalibration(bad, "x"), "") << bad;
  json broken = json::parse(calibration.json("machine", 2));
  broken["input_bytes_per_second"] = -1;
  EXPECT_NE(refuseCalibration(broken.dump(), "x").find("gives input_bytes_per_second the value -1"),
            std::string::npos);
}

TEST_F(Costs, TimesOfEarlierRunsWinOverRates) {
  CompileResult plain = compileModel(text, "convnet", options());
  CompileOptions measured = options();
  measured.machine.opSeconds = opSecondsOf(planOf(plain), 3);
  CompileResult result = compileModel(text, "convnet", measured);
  EXPECT_EQ(ratesFrom(result), "profile of earlier runs (100 % of the step), else built-in");
  EXPECT_NEAR(predictedSeconds(result), 3 * predictedSeconds(plain),
              1e-6 * predictedSeconds(result));
  std::vector<const plan::Command *> before, after;
  runtime::PlanFile plainPlan = planOf(plain), plan = planOf(result);
  before = commandsOf(plainPlan), after = commandsOf(plan);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(after[i]->seconds_predicted(), 3 * before[i]->seconds_predicted(), 1e-12);

  // Another learning rate is the same work, another batch is not.
  measured.optimizer.lr = 0.5;
  EXPECT_EQ(ratesFrom(compileModel(text, "convnet", measured)), ratesFrom(result));
  measured.accumulate = 2;
  EXPECT_EQ(ratesFrom(compileModel(text, "convnet", measured)), "built-in");
}

// With momentum an update reads and writes the velocity, too.
TEST_F(Costs, AnUpdateOfMoreVariablesIsOtherWork) {
  CompileOptions momentum = options();
  momentum.optimizer.momentum = 0.9;
  auto plain = opSecondsOf(planOf(compileModel(text, "convnet", options())), 1);
  auto moving = opSecondsOf(planOf(compileModel(text, "convnet", momentum)), 1);
  int updates = 0;
  for (const auto &[work, seconds] : moving)
    if (work.starts_with("sgd ")) {
      ++updates;
      EXPECT_FALSE(plain.contains(work)) << work;
    }
  EXPECT_GT(updates, 0);
}

TEST_F(Costs, AnOpWithoutATimeIsCorrectedLikeOthers) {
  CompileResult plain = compileModel(text, "convnet", options());
  CompileOptions measured = options();
  measured.machine.opSeconds = opSecondsOf(planOf(plain), 3);
  auto shortest =
      std::min_element(measured.machine.opSeconds.begin(), measured.machine.opSeconds.end(),
                       [](auto &a, auto &b) { return a.second < b.second; });
  measured.machine.opSeconds.erase(shortest);
  CompileResult result = compileModel(text, "convnet", measured);
  EXPECT_NE(ratesFrom(result).find("profile of earlier runs ("), std::string::npos);
  EXPECT_NEAR(predictedSeconds(result), 3 * predictedSeconds(plain),
              1e-6 * predictedSeconds(result));
}

TEST_F(Costs, TimesOfAPartOfTheStepAreNotMixedWithRates) {
  CompileResult plain = compileModel(text, "convnet", options());
  CompileOptions measured = options();
  measured.machine.opSeconds = opSecondsOf(planOf(plain), 3);
  // Without the longest tenth and a little more.
  double left = 3 * 0.15 * predictedSeconds(plain);
  while (left > 0) {
    auto longest =
        std::max_element(measured.machine.opSeconds.begin(), measured.machine.opSeconds.end(),
                         [](auto &a, auto &b) { return a.second < b.second; });
    left -= longest->second;
    measured.machine.opSeconds.erase(longest);
  }
  CompileResult result = compileModel(text, "convnet", measured);
  EXPECT_EQ(ratesFrom(result), "built-in");
  EXPECT_EQ(predictedSeconds(result), predictedSeconds(plain));
}

TEST_F(Costs, AGpuIsPredictedByItsDataSheet) {
  CompileOptions cuda;
  cuda.device = "cuda";
  cuda.target = "sm_86";
  cuda.cudaLibrary = "none";
  cuda.machine = {"calibrated TEST, 2 threads", "{}", {}};
  CompileResult result = compileModel(text, "convnet", cuda);
  ASSERT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(ratesFrom(result).rfind("data sheet of ", 0), 0u) << ratesFrom(result);

  // Updates that are one command have one start, in every number of the report.
  json report = json::parse(result.report);
  EXPECT_GT(report["joined_updates"]["seconds_saved_predicted"], 0);
  EXPECT_EQ(report["step_seconds_predicted"], predictedSeconds(result));
  double commands = 0;
  runtime::PlanFile plan = planOf(result);
  for (const plan::Command *command : commandsOf(plan))
    commands += command->seconds_predicted();
  EXPECT_NEAR(predictedSeconds(result), commands, 1e-6 * commands);
}
