// Whole runs of a device that NVML knows (or should know): every file that a run writes says what
// was seen or why nothing was, and training never depends on it.
#include "runtime/data/OpenData.h"
#include "runtime/trainer/SessionExecutor.h"
#include "runtime/trainer/TrainOn.h"
#include "runtime/trainer/TrainPlan.h"
#include "test/runtime/io/CopyingPlan.h"
#include "test/runtime/io/TestFiles.h"
#include "test/runtime/nvml/EmulatedNvmlSetting.h"

#include <nlohmann/json.hpp>

using namespace gc::runtime;
using nlohmann::json;

namespace {

constexpr uint64_t MiB = 1 << 20;

/// The cpu device under another name, with memory of its own: 100 before, 200 context, 30
/// libraries, 150 arena, 485 in use in the end.
struct WatchedExecutor final : SessionExecutor {
  using SessionExecutor::SessionExecutor;
  WatchedDevice watchedDevice() const override { return {kEmulatedUuid, ""}; }
  MemoryMeasurement memoryUse() override {
    MemoryMeasurement use = SessionExecutor::memoryUse();
    hal::DeviceMemory &device = use.device.emplace();
    device.total = 2048 * MiB;
    device.context = 200 * MiB;
    device.usedWithContext = 300 * MiB;
    device.libraries = 30 * MiB;
    device.arena = 150 * MiB;
    device.used = 485 * MiB;
    return use;
  }
};

struct WatchedRun {
  explicit WatchedRun(const char *library = GC_EMULATED_NVML) : plan(copyingPlan()) {
    options.nvmlLibrary = library;
    options.schedule.steps = 5;
    options.threads = 1;
    options.report = directory.file("r.json");
    options.logDir = directory.file("log");
    options.trace = directory.file("t.json");
    options.html = directory.file("h.html");
    options.out = std::fopen(directory.file("out").c_str(), "w");
  }
  json go() {
    Result<PlanInputs> inputs = findPlanInputs(plan->get());
    Result<DataSource> data = openData("synthetic", inputs->model, 0);
    auto session = Session::create(*plan, {.threads = 1});
    EXPECT_TRUE(inputs.ok() && data.ok() && session.ok());
    WatchedExecutor executor(**session);
    Status done = trainOn(executor, *inputs, *data, options, report);
    std::fclose(options.out);
    EXPECT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(report.steps, 5);
    EXPECT_EQ(openInitializations(), 0);
    return json::parse(directory.read("r.json"));
  }
  std::string events() const {
    for (const auto &entry : std::filesystem::directory_iterator(directory.file("log"))) {
      if (entry.path().filename().string().find("tfevents") == std::string::npos)
        continue; // metrics.csv and metrics.jsonl hold none of the device's
      std::ifstream in(entry.path(), std::ios::binary);
      return {std::istreambuf_iterator<char>(in), {}};
    }
    return "no event file";
  }
  TestDirectory directory;
  Result<PlanFile> plan;
  TrainOptions options;
  TrainingReport report;
};

} // namespace

TEST(TrainWatched, TellsWhatItSaw) {
  EmulatedNvmlSetting memory("MEMORY", std::to_string(500 * MiB));
  WatchedRun run;
  json report = run.go();
  const json &nvml = report["nvml"];
  EXPECT_EQ(nvml["available"], true);
  EXPECT_EQ(nvml["uuid"], kEmulatedUuid);
  EXPECT_EQ(nvml["memory_used_peak_bytes"], 500 * MiB);
  EXPECT_GE(nvml["samples_taken"], 1);
  for (const DeviceQuantityName &quantity : kDeviceQuantityNames) {
    EXPECT_EQ(nvml[quantity.key]["samples"], nvml["samples_taken"]) << quantity.key;
    EXPECT_CONTAINS(run.events(), std::string("nvml/") + quantity.key);
    EXPECT_CONTAINS(run.directory.read("t.json"), quantity.key);
  }
  EXPECT_TRUE(nvml["failures"].empty());
  EXPECT_CONTAINS(run.directory.read("h.html"), "The device as NVML saw it");
  EXPECT_CONTAINS(run.directory.read("out"), "nvml        Emulated GPU 0, memory used 500.0 MiB");
  EXPECT_EQ(report["memory"]["device"]["nvml_used_peak_bytes"], 500 * MiB);
  const char *equation = "total used 500.0 MiB = before 100.0 MiB + context 200.0 MiB + libraries "
                         "30.0 MiB + arena 150.0 MiB + remainder 20.0 MiB";
  EXPECT_CONTAINS(run.directory.read("out"), std::string("device memory ") + equation);
  EXPECT_CONTAINS(run.directory.read("h.html"), equation);
}

TEST(TrainWatched, TrainsWithoutALibraryAndSaysSo) {
  WatchedRun run("libno-such-nvml.so.1");
  json report = run.go();
  EXPECT_EQ(report["nvml"]["available"], false);
  EXPECT_CONTAINS(report["nvml"]["reason"].get<std::string>(), "cannot load NVML");
  EXPECT_FALSE(report["nvml"].contains("power_watts"));
  EXPECT_CONTAINS(run.directory.read("h.html"), "cannot load NVML");
  EXPECT_CONTAINS(run.directory.read("out"), "nvml        none: cannot load NVML");
  EXPECT_EQ(run.events().find("nvml/"), std::string::npos);
  EXPECT_TRUE(report["memory"]["device"]["nvml_used_peak_bytes"].is_null());
  EXPECT_EQ(report["memory"]["device"]["used_bytes"], 485 * MiB);
  EXPECT_EQ(report["memory"]["device"]["remainder_bytes"], 5 * MiB);
}

TEST(TrainWatched, TrainsWhateverFails) {
  for (const char *function :
       {"nvmlInit_v2", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetName",
        "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature",
        "nvmlDeviceGetComputeRunningProcesses_v3"}) {
    EmulatedNvmlSetting fail("FAIL", std::string(function) + ":*=999");
    WatchedRun run;
    json nvml = run.go()["nvml"];
    if (function == std::string("nvmlDeviceGetName"))
      EXPECT_TRUE(nvml["name"].is_null());
    else
      EXPECT_CONTAINS(nvml.value("available", false) ? nvml["failures"].dump()
                                                     : nvml["reason"].get<std::string>(),
                      std::string(function) + ": Unknown Error (999)");
  }
}

TEST(TrainWatched, ADeviceThatNobodyWatches) {
  WatchedRun run;
  run.options.data = "synthetic";
  ASSERT_TRUE(trainPlan(*run.plan, run.options).ok());
  std::fclose(run.options.out);
  json report = json::parse(run.directory.read("r.json"));
  EXPECT_TRUE(report["nvml"].is_null());
  EXPECT_TRUE(report["memory"]["device"].is_null());
}
