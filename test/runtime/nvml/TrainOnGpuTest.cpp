// A run of the cuda device on the emulated driver, watched by the emulated NVML: the same device,
// the same bytes. A program of its own: once a driver is loaded, it stays.
#include "runtime/trainer/TrainPlan.h"
#include "test/runtime/io/CopyingPlan.h"
#include "test/runtime/io/TestFiles.h"
#include "test/runtime/nvml/EmulatedNvmlSetting.h"

#include <nlohmann/json.hpp>

using namespace gc::runtime;
using nlohmann::json;

TEST(TrainOnGpu, MemoryAddsUpAndNvmlAgrees) {
  // Under the names by which the runtime looks for them.
  ASSERT_NE(::dlopen(GC_EMULATED_DRIVER, RTLD_NOW), nullptr) << ::dlerror();
  ASSERT_NE(::dlopen(GC_EMULATED_NVML, RTLD_NOW), nullptr) << ::dlerror();
  TestDirectory directory;
  Result<PlanFile> plan = copyingPlan("cuda");
  ASSERT_TRUE(plan.ok());
  TrainOptions options;
  options.schedule.steps = 3;
  options.report = directory.file("r.json");
  options.out = std::fopen(directory.file("out").c_str(), "w");
  Status done = trainPlan(*plan, options);
  std::fclose(options.out);
  ASSERT_TRUE(done.ok()) << done.error().message;
  json report = json::parse(directory.read("r.json"));
  EXPECT_EQ(report["steps"], 3);
  const json &nvml = report["nvml"];
  EXPECT_EQ(nvml["available"], true) << nvml["reason"];
  EXPECT_EQ(nvml["uuid"], kEmulatedUuid);
  const json &memory = report["memory"]["device"];
  EXPECT_EQ(memory["before_bytes"], 0);
  EXPECT_GT(memory["context_bytes"], 0);
  EXPECT_GE(memory["arena_bytes"], 512);
  EXPECT_EQ(memory["used_bytes"], nvml["memory_used_peak_bytes"]);
  EXPECT_EQ(memory["used_bytes"], memory["driver_used_bytes"]);
  EXPECT_EQ(memory["remainder_bytes"], 0) << memory;
  EXPECT_CONTAINS(directory.read("out"), "device memory total used ");
  EXPECT_EQ(openInitializations(), 0);
}
