// Where a device's memory went and what NVML saw, as JSON, text and page.
#include "runtime/report/DeviceReport.h"
#include "runtime/report/CommandFiles.h"
#include "runtime/report/RunCharts.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace gc::runtime;
using nlohmann::json;

namespace {

constexpr uint64_t MiB = 1 << 20;

/// 1000 = 100 before + 250 context + 40 libraries + 600 arena + 10.
DeviceMemoryReport memory() {
  DeviceMemoryReport report;
  report.driver.total = 8192 * MiB;
  report.driver.usedWithContext = 350 * MiB;
  report.driver.context = 250 * MiB;
  report.driver.libraries = 40 * MiB;
  report.driver.arena = 600 * MiB;
  report.driver.used = 995 * MiB;
  report.nvmlUsedPeakBytes = 1000 * MiB;
  return report;
}

DeviceSample sampleOf(double bytes, std::optional<double> watts) {
  DeviceSample sample;
  sample[static_cast<size_t>(DeviceQuantity::MemoryUsed)] = bytes;
  sample[static_cast<size_t>(DeviceQuantity::Power)] = watts;
  return sample;
}

/// Two samples; power in one of them, nothing else but memory.
MonitorSummary seen() {
  MonitorSummary summary;
  summary.beginSeconds = 100;
  summary.samples = {{1, 0.5, 11}, {2, 1.5, 12}};
  summary.device.emplace();
  summary.device->taken = 2;
  summary.device->ranges[static_cast<size_t>(DeviceQuantity::MemoryUsed)] = {2, 10, 15, 20};
  summary.device->ranges[static_cast<size_t>(DeviceQuantity::Power)] = {1, 250, 250, 250};
  summary.device->samples = {sampleOf(10, 250), sampleOf(20, std::nullopt)};
  return summary;
}

NvmlReport nvml() {
  NvmlReport report;
  report.device = {"A <GPU>", "GPU-1", 4096 * MiB, std::nullopt};
  report.failures[static_cast<size_t>(DeviceQuantity::Power)] = "lost, once";
  report.failures[static_cast<size_t>(DeviceQuantity::Clock)] = "Not Supported, 2 times";
  return report;
}

} // namespace

TEST(DeviceMemory, AddsUp) {
  EXPECT_EQ(deviceMemoryText(memory()),
            "total used 1000.0 MiB = before 100.0 MiB + context 250.0 MiB + libraries 40.0 MiB + "
            "arena 600.0 MiB + remainder 10.0 MiB");
  json out = deviceMemoryJson(memory());
  EXPECT_EQ(out["used_bytes"], 1000 * MiB);
  EXPECT_EQ(out["used_bytes"].get<int64_t>(),
            out["before_bytes"].get<int64_t>() + out["context_bytes"].get<int64_t>() +
                out["libraries_bytes"].get<int64_t>() + out["arena_bytes"].get<int64_t>() +
                out["remainder_bytes"].get<int64_t>());
  EXPECT_EQ(out["nvml_used_peak_bytes"], 1000 * MiB);
  EXPECT_CONTAINS(deviceMemoryHtml(memory()), "context 250.0 MiB");
}

TEST(DeviceMemory, WithoutNvml) {
  DeviceMemoryReport report = memory();
  report.driver.context.reset();
  report.nvmlUsedPeakBytes.reset();
  EXPECT_EQ(
      deviceMemoryText(report),
      "total used 995.0 MiB = before and context 350.0 MiB + libraries 40.0 MiB + arena 600.0 "
      "MiB + remainder 5.0 MiB");
  json out = deviceMemoryJson(report);
  EXPECT_TRUE(out["before_bytes"].is_null());
  EXPECT_TRUE(out["context_bytes"].is_null());
  EXPECT_TRUE(out["nvml_used_peak_bytes"].is_null());
  EXPECT_EQ(out["before_and_context_bytes"], 350 * MiB);
}

TEST(DeviceMemory, TheContextIsNeverMoreThanWhatIsUsed) {
  DeviceMemoryReport report = memory();
  report.driver.context = 400 * MiB; // more than the driver counts in all
  EXPECT_EQ(report.beforeBytes(), uint64_t(0));
}

TEST(DeviceMemory, OthersFreedMeanwhile) {
  DeviceMemoryReport report = memory();
  report.nvmlUsedPeakBytes = 980 * MiB;
  EXPECT_CONTAINS(deviceMemoryText(report), "arena 600.0 MiB - remainder 10.0 MiB");
  EXPECT_EQ(deviceMemoryJson(report)["remainder_bytes"], -10 * static_cast<int64_t>(MiB));
}

TEST(NvmlReport, Json) {
  json out = nvmlJson(nvml(), seen());
  EXPECT_EQ(out["available"], true);
  EXPECT_TRUE(out["reason"].is_null());
  EXPECT_EQ(out["name"], "A <GPU>");
  EXPECT_EQ(out["memory_used_peak_bytes"], 20);
  EXPECT_TRUE(out["memory_reserved_bytes"].is_null());
  EXPECT_EQ(out["memory_used_bytes"],
            (json{{"min", 10}, {"mean", 15}, {"max", 20}, {"samples", 2}}));
  EXPECT_EQ(out["power_watts"]["samples"], 1);
  EXPECT_TRUE(out["clock_mhz"].is_null()) << "absent is not zero";
  EXPECT_EQ(out["failures"],
            (json{{"power_watts", "lost, once"}, {"clock_mhz", "Not Supported, 2 times"}}));
  EXPECT_EQ(out["samples"]["seconds"], (json{1, 2}));
  EXPECT_EQ(out["samples"]["memory_used_bytes"], (json{10, 20}));
  EXPECT_EQ(out["samples"]["power_watts"], (json{250, nullptr}));
}

TEST(NvmlReport, TextAndPage) {
  EXPECT_EQ(nvmlText(nvml(), seen()),
            "A <GPU>, memory used 20 bytes, power 250 W; not told: memory of this process, "
            "utilization, memory utilization, clock, memory clock, temperature");
  std::string page = nvmlHtml(nvml(), seen());
  EXPECT_CONTAINS(page, "A &lt;GPU&gt;");
  EXPECT_CONTAINS(page, "10 bytes to 20 bytes, mean 15 bytes");
  EXPECT_CONTAINS(page, "250 W to 250 W, mean 250 W; not always: lost, once");
  EXPECT_CONTAINS(page, "absent: Not Supported, 2 times");
}

TEST(NvmlReport, Charts) {
  std::vector<Chart> charts = nvmlCharts(seen());
  ASSERT_EQ(charts.size(), 1u) << "power was seen once, the others never";
  EXPECT_EQ(charts[0].title, "Device: memory used");
  EXPECT_EQ(charts[0].y.unit, "bytes");
  EXPECT_EQ(charts[0].series.at(0).x, (std::vector<double>{1, 2}));
  EXPECT_EQ(charts[0].series.at(0).y, (std::vector<double>{10, 20}));
  EXPECT_TRUE(nvmlCharts(MonitorSummary()).empty());
}

TEST(NvmlReport, NoneAndWhy) {
  NvmlReport none;
  none.reason = "no <library>";
  MonitorSummary unwatched;
  EXPECT_EQ(nvmlJson(none, unwatched), (json{{"available", false}, {"reason", "no <library>"}}));
  EXPECT_EQ(nvmlText(none, unwatched), "none: no <library>");
  EXPECT_CONTAINS(nvmlHtml(none, unwatched), "no &lt;library&gt;");
}

TEST(Trace, CountersOfTheRun) {
  TestDirectory directory;
  MonitorSummary summary = seen();
  ASSERT_TRUE(writeTrace(directory.file("t"), "net", {}, {}, &summary).ok());
  std::map<std::string, std::vector<std::pair<double, double>>> counters;
  json trace = json::parse(directory.read("t"));
  for (const json &event : trace["traceEvents"])
    if (event["ph"] == "C")
      counters[event["name"]].push_back({event["ts"], event["args"]["value"]});
  using Points = std::vector<std::pair<double, double>>;
  // On the clock of the commands: the monitor began 100 seconds into it.
  EXPECT_EQ(counters["rss_bytes"], (Points{{101e6, 11}, {102e6, 12}}));
  EXPECT_EQ(counters["cpus"], (Points{{101e6, 0.5}, {102e6, 1.5}}));
  EXPECT_EQ(counters["memory_used_bytes"], (Points{{101e6, 10}, {102e6, 20}}));
  EXPECT_EQ(counters["power_watts"], (Points{{101e6, 250}}));
  EXPECT_EQ(counters.size(), 4u);
}
