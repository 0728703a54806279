// Whole runs on the cpu device of a plan that only copies, so that every number can be foretold.
#include "runtime/trainer/TrainPlan.h"

#include "runtime/plan/PlanFile.h"
#include "runtime/weights/Safetensors.h"
#include "test/runtime/io/CopyingPlan.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace gc::runtime;

namespace {

struct PlanRun {
  PlanRun() : plan(copyingPlan()) {
    // Samples 10, 11, 12, 13: two steps an epoch, whose first values are 10 and 12.
    options.data = directory.write(
        "b.safetensors",
        safetensorsBytes(R"({"label":{"dtype":"I64","shape":[4],"data_offsets":[0,32]},)"
                         R"("image":{"dtype":"F32","shape":[4,1,1,1],"data_offsets":[32,48]}})",
                         bytesOf<int64_t>({0, 1, 2, 0}) + bytesOf<float>({10, 11, 12, 13})));
    options.out = std::fopen("/dev/null", "w");
    options.threads = 1;
    options.report = directory.file("r.json");
  }
  ~PlanRun() { std::fclose(options.out); }
  Status go() {
    EXPECT_TRUE(plan.ok()) << plan.error().message;
    return trainPlan(*plan, options);
  }
  TestDirectory directory;
  Result<PlanFile> plan;
  TrainOptions options;
};

float onlyValue(const std::string &path) {
  auto file = SafetensorsFile::open(path);
  float value = -1;
  EXPECT_TRUE(file.ok() && file->tensors().size() == 1 &&
              file->readFloats(*file->find("weight"), 0, &value, 1).ok());
  return value;
}

} // namespace

TEST(TrainPlan, RunsOnTheCpuDevice) {
  PlanRun run;
  run.options.schedule.steps = 5;
  run.options.save = run.directory.file("w");
  run.options.dumpGradients = run.directory.file("g");
  run.options.checkpoint = run.directory.file("c");
  run.options.logDir = run.directory.file("log");
  run.options.trace = run.directory.file("t.json");
  run.options.profile = run.directory.file("p.json");
  run.options.html = run.directory.file("h.html");
  Status done = run.go();
  ASSERT_TRUE(done.ok()) << done.error().message;
  auto report = nlohmann::json::parse(run.directory.read("r.json"));
  EXPECT_EQ(report["loss"], (std::vector<float>{10, 12, 10, 12, 10})); // both slots were used
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["threads"], 1);
  EXPECT_EQ(report["memory"]["arena_bytes"], 512);
  EXPECT_EQ(report["memory"]["allocations_in_step"], 0);
  EXPECT_GT(report["memory"]["process_rss_before_bytes"], 0);
  EXPECT_EQ(onlyValue(run.options.save), 10);
  EXPECT_EQ(onlyValue(run.options.dumpGradients), 10);
  EXPECT_EQ(nlohmann::json::parse(run.directory.read("p.json"))["ops"].size(), 3u);
  EXPECT_FALSE(nlohmann::json::parse(run.directory.read("t.json"))["traceEvents"].empty());
  EXPECT_CONTAINS(run.directory.read("h.html"), "weight.gradient");

  PlanRun second; // goes on in the middle of the third epoch
  second.options.resume = run.options.checkpoint;
  second.options.schedule.steps = 6;
  ASSERT_TRUE(second.go().ok());
  EXPECT_EQ(nlohmann::json::parse(second.directory.read("r.json"))["loss"],
            (std::vector<float>{12}));
}

TEST(TrainPlan, LoadsWhatItSaved) {
  PlanRun run;
  run.options.schedule.steps = 0;
  run.options.save = run.directory.file("w");
  ASSERT_TRUE(run.go().ok());
  EXPECT_EQ(onlyValue(run.options.save), 0.5f); // the initial value
  PlanRun second;
  second.options.load = second.directory.write(
      "in", safetensorsBytes(R"({"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                             bytesOf<float>({7})));
  second.options.schedule.steps = 0;
  second.options.save = second.directory.file("w");
  ASSERT_TRUE(second.go().ok());
  EXPECT_EQ(onlyValue(second.options.save), 7);
}

TEST(TrainPlan, RefusesBeforeItTrains) {
  PlanRun nowhere;
  nowhere.options.save = nowhere.directory.file("no/such/w");
  EXPECT_BAD_INPUT(nowhere.go(), "--save");
  PlanRun directory;
  directory.options.html = directory.directory.path;
  EXPECT_BAD_INPUT(directory.go(), "not a regular file");
  PlanRun weights;
  weights.options.load = weights.options.data; // a safetensors file, but not of weights
  EXPECT_BAD_INPUT(weights.go(), "it lacks weight; the model does not have image, label");
  PlanRun device;
  device.options.device = "nonesuch";
  Status done = device.go();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().exitCode(), 4);
}
