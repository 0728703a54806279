#include "runtime/report/CommandFiles.h"
#include "runtime/report/EventFile.h"
#include "runtime/report/Sizes.h"
#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/ConsoleText.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

using namespace gc::runtime;
using nlohmann::json;

TEST(Sizes, Parse) {
  std::pair<const char *, uint64_t> good[] = {{"0", 0},
                                              {"123", 123},
                                              {"1.5GB", 1500000000},
                                              {"1.5GiB", 1610612736},
                                              {"1.5 gib", 1610612736},
                                              {"2kB", 2000},
                                              {"2KiB", 2048},
                                              {"7B", 7},
                                              {"0.5MiB", 524288},
                                              {"3TB", 3000000000000},
                                              {"18446744073709551615", UINT64_MAX}};
  for (auto [text, bytes] : good) {
    auto size = parseSize(text);
    ASSERT_TRUE(size.ok()) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
  for (const char *bad : {"", "GB", "-1", "1.5.2", "1XB", "1 G B", "1e9", "18446744073709551616",
                          "99999999999TB", ".", "0x10", "1GBs"})
    EXPECT_BAD_INPUT(parseSize(bad), "is not a size");
}

TEST(Sizes, Text) {
  EXPECT_EQ(sizeText(512345678), "512345678 bytes (488.6 MiB)");
  EXPECT_EQ(sizeText(1023), "1023 bytes");
  EXPECT_EQ(shortSizeText(uint64_t{20} << 30), "20.0 GiB");
  EXPECT_EQ(shortSizeText(uint64_t{5} << 30), "5120.0 MiB");
  EXPECT_EQ(durationText(123.4), "2:03");
  EXPECT_EQ(durationText(3723), "1:02:03");
  EXPECT_EQ(durationText(INFINITY), "?");
  EXPECT_EQ(countText(11689512), "11,689,512");
  EXPECT_EQ(countText(512), "512");
}

TEST(Report, HasThePromisedKeys) {
  TrainingReport report;
  report.model = "net\xff"; // not UTF-8: must not throw
  report.batch = 10;
  report.loss = {2, NAN};
  report.stepSeconds = {4, 1, 2, 3};
  report.evaluations = {{1, 4, 100, 0.5, 0.75}};
  report.origin = {"1.2", "gc-run net\xff.plan", "box", "a CPU", R"({"lr": 0.5, "budget": null})"};
  json out = json::parse(reportJson(report));
  EXPECT_EQ(out["version"], "1.2");
  EXPECT_EQ(out["configuration"]["lr"], 0.5);
  EXPECT_TRUE(json::parse(reportJson({}))["configuration"].is_null()) << "not known";
  for (const char *key : {"model",
                          "device",
                          "threads",
                          "batch",
                          "micro_batches",
                          "parameters",
                          "steps",
                          "loss",
                          "accuracy",
                          "test_accuracy",
                          "step_seconds",
                          "samples_per_second",
                          "compile_seconds",
                          "memory",
                          "remat",
                          "split",
                          "precision",
                          "verify",
                          "prediction",
                          "epochs",
                          "loading",
                          "version",
                          "command_line",
                          "host",
                          "cpu",
                          "configuration",
                          "learning_rate",
                          "schedule",
                          "validation",
                          "best",
                          "early_stop",
                          "classification",
                          "checkpoint",
                          "load_partial",
                          "trainable_parameters"})
    EXPECT_TRUE(out.contains(key)) << key;
  for (const char *key :
       {"predicted_peak_bytes", "measured_peak_bytes", "lower_bound_bytes", "weights_bytes",
        "gradients_bytes", "optimizer_bytes", "activations_bytes", "workspace_bytes", "input_bytes",
        "arena_bytes", "master_bytes", "allocations_in_step", "library_bytes",
        "process_rss_before_bytes", "process_rss_peak_bytes"})
    EXPECT_TRUE(out["memory"].contains(key)) << key;
  for (const char *key :
       {"policy", "budget_bytes", "retained", "recomputed", "recompute_seconds_predicted",
        "recompute_fraction", "time_lower_bound", "gap"})
    EXPECT_TRUE(out["remat"].contains(key)) << key;
  EXPECT_TRUE(out["best"].is_null()) << "nothing was validated";
  EXPECT_EQ(out["validation"].size(), 0u);
  EXPECT_TRUE(out["evaluations"][0]["top5"].is_null());
  report.best = BestReport{"loss:min", 0.5, 2, 20, "run/step-00000020.safetensors"};
  report.checkpoint = CheckpointReport{"run", {"a", "b"}, {}, 64, 2, 0.5, 0.25};
  report.testClasses.emplace(3);
  json more = json::parse(reportJson(report));
  for (const char *key : {"metric", "value", "epoch", "step", "file"})
    EXPECT_TRUE(more["best"].contains(key)) << key;
  EXPECT_EQ(more["checkpoint"]["copy_bytes"], 64);
  EXPECT_EQ(more["classification"]["test"]["per_class"].size(), 3u);
  EXPECT_EQ(out["split"]["parts"], 1);
  EXPECT_EQ(out["split"]["chains"], "");
  EXPECT_TRUE(out["prediction"]["step_seconds"].is_null()) << "not known is not 0";
  EXPECT_EQ(out["prediction"]["rates_from"], "");
  for (const char *key : {"identical", "compared"})
    EXPECT_TRUE(out["verify"].contains(key)) << key;
  EXPECT_EQ(out["step_seconds"]["median"], 2.5);
  EXPECT_EQ(out["step_seconds"]["min"], 1);
  EXPECT_EQ(out["step_seconds"]["all"].size(), 4u);
  EXPECT_EQ(out["samples_per_second"], 4);
  EXPECT_EQ(out["test_accuracy"], 0.75);
  EXPECT_TRUE(out["loss"][1].is_null());
  EXPECT_TRUE(out["accuracy"].is_null());
}

TEST(EventFile, Crc32cKnownAnswers) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(EventFile, FramesItsRecords) {
  TestDirectory directory;
  {
    auto log = EventFile::create(directory.file("log"));
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE(log->scalar("loss/train", 300, 0.5f).ok());
  }
  auto entry = *std::filesystem::directory_iterator(directory.file("log"));
  EXPECT_CONTAINS(entry.path().filename().string(), "tfevents");
  std::ifstream in(entry.path(), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> events;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length;
    uint32_t lengthCrc, dataCrc;
    std::memcpy(&length, &bytes[at], 8);
    std::memcpy(&lengthCrc, &bytes[at + 8], 4);
    std::string event = bytes.substr(at + 12, length);
    std::memcpy(&dataCrc, &bytes[at + 12 + length], 4);
    auto unmasked = [](uint32_t crc) {
      crc -= 0xa282ead8u;
      return (crc >> 17) | (crc << 15);
    };
    EXPECT_EQ(unmasked(lengthCrc), crc32c(bytes.substr(at, 8)));
    EXPECT_EQ(unmasked(dataCrc), crc32c(event));
    events.push_back(event);
    at += 16 + length;
  }
  ASSERT_EQ(events.size(), 2u);
  EXPECT_CONTAINS(events[0], "brain.Event:2");
  // Behind tag and 8 bytes of time: step 300 as a varint; a summary of one value: its name in 10
  // bytes, then 0.5 as a fixed word.
  EXPECT_EQ(events[1].substr(9), std::string("\x10\xac\x02\x2a\x13\x0a\x11\x0a\x0a", 9) +
                                     "loss/train" + std::string("\x15\0\0\0\x3f", 5));
}

TEST(Report, SaysHowManyCoresReadingNeeds) {
  TrainingReport report;
  EXPECT_EQ(report.loaderWaitShare(), 0) << "there is no step";
  EXPECT_EQ(report.coresNeededToLoad(), 0);
  // Of 10 seconds 2 are waited for; reading takes 12 seconds of CPU while 8 are computed.
  report.stepSeconds = {4, 2, 3, 1};
  report.loading = {4, 2, 12};
  EXPECT_EQ(report.loaderWaitShare(), 0.2);
  EXPECT_EQ(report.coresNeededToLoad(), 1.5);
  EXPECT_CONTAINS(summaryText(report), "20.00 % of it waiting for data; reading would need 1.5 "
                                       "cores of its own (--workers=4)");
  json out = json::parse(reportJson(report))["loading"];
  EXPECT_EQ(
      out,
      (json{
          {"workers", 4}, {"wait_share", 0.2}, {"read_cpu_seconds", 12.0}, {"cores_needed", 1.5}}));
  report.loading.waitSeconds = 0.29;
  EXPECT_EQ(summaryText(report).find("waiting for data"), std::string::npos);
}

TEST(CommandFiles, TraceAndProfile) {
  TestDirectory directory;
  std::vector<CommandTime> times = {
      {"conv1", "kernel", "micro_batch", 10, 20, 0.125, 7, false, 4, 2, 0.375, 1.5, 0.25},
      {"unused", "kernel", "evaluate", 0, 0, 0, 8, false, 0, 0, 0, 0, 0},
      {"a:sgd and 1 more", "kernel", "micro_batch", 4, 40, 0.5, -1, false, 2, 4, 1, 2, 3}};
  times[2].parts = {{"a:sgd", 1, 10, 0.125, 9}, {"b:sgd", 3, 30, 0.375, 10}};
  TrainingReport run;
  run.model = "net";
  run.threads = 2;
  run.batch = 16;
  run.microBatches = 4;
  StepPhases step{"fu", {{"activation", {64, 32}}, {"gradient", {0, 16}}}};
  ASSERT_TRUE(writeTrace(directory.file("t"), "net", step, times).ok());
  ASSERT_TRUE(writeProfile(directory.file("p"), run, times).ok());
  json trace = json::parse(directory.read("t")), profile = json::parse(directory.read("p"));
  json joined = trace["traceEvents"].back();
  EXPECT_EQ(joined["name"], "a:sgd and 1 more");
  EXPECT_EQ(joined["args"]["ops"], json({"a:sgd", "b:sgd"}));
  json counter = trace["traceEvents"][trace["traceEvents"].size() - 2];
  EXPECT_EQ(counter["name"], "arena_bytes");
  EXPECT_EQ(counter["ts"], joined["ts"]);
  EXPECT_EQ(counter["args"], (json{{"activation", 32}, {"gradient", 16}}));
  json last = trace["traceEvents"][trace["traceEvents"].size() - 3];
  EXPECT_EQ(last["name"], "conv1");
  // Each kind has a track, which has a name.
  std::map<json, json> tracks;
  for (const json &event : trace["traceEvents"])
    if (event["name"] == "thread_name")
      tracks[event["tid"]] = event["args"]["name"];
  EXPECT_EQ(tracks[last["tid"]], "forward");
  EXPECT_EQ(tracks[joined["tid"]], "updates");
  EXPECT_EQ(tracks.size(), 6u);
  EXPECT_FALSE(last["args"].contains("ops"));
  EXPECT_EQ(last["ts"], 1.5e6);
  EXPECT_EQ(last["dur"], 0.25e6);
  ASSERT_EQ(profile["ops"].size(), 3u);
  // The ops of a command share its time by their bytes.
  EXPECT_EQ(profile["ops"][2]["name"], "b:sgd");
  EXPECT_EQ(profile["ops"][2]["op"], 10);
  EXPECT_EQ(profile["ops"][2]["seconds"], 1.5);
  EXPECT_EQ(profile["ops"][2]["median_seconds"], 0.75);
  EXPECT_EQ(profile["ops"][2]["flops"], 3);
  EXPECT_EQ(profile["ops"][2]["seconds_predicted"], 0.375);
  EXPECT_EQ(profile["model"], "net");
  EXPECT_EQ(profile["threads"], 2);
  EXPECT_EQ(profile["batch"], 16);
  EXPECT_EQ(profile["micro_batches"], 4);
  const json &op = profile["ops"][0];
  EXPECT_EQ(op["op"], 7);
  EXPECT_EQ(op["seconds"], 0.5);
  EXPECT_EQ(op["median_seconds"], 0.375);
  EXPECT_EQ(op["seconds_predicted"], 0.125);
}

TEST(OpTimes, AddUpCommandsAndTakeTheMedianOfEqualOps) {
  auto command = [](int op, double median, const char *work, const char *list = "micro_batch") {
    CommandTime time;
    time.list = list;
    time.op = op;
    time.executions = 3;
    time.medianSeconds = median;
    time.work = work;
    return time;
  };
  std::vector<CommandTime> commands = {
      command(0, 1, "conv"),        command(0, 0.5, ""), // a second command of the same op
      command(1, 2, "conv"),        command(2, 9, "conv"),    command(0, 7, "conv", "evaluate"),
      command(0, 4, "sgd", "step"), command(3, 1e-6, "tiny"), command(-1, 1, "unnumbered")};
  commands.push_back(command(1, 100, "conv"));
  commands.back().recomputed = true;
  commands.push_back(command(4, 1, "never run"));
  commands.back().executions = 0;
  std::vector<OpTime> times = opTimesOf(commands);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].work, "conv");
  EXPECT_EQ(times[0].seconds, 2); // of 1.5, 2 and 9
  EXPECT_EQ(times[1].work, "sgd");
  EXPECT_EQ(times[1].seconds, 4);
}

// A budget bounds the arena; a tiny model's process needs more, and the summary says why.
TEST(Summary, TellsWhyMoreWasMeasuredThanTheBudget) {
  TrainingReport report;
  report.stepSeconds = {1};
  report.memory.arenaBytes = 900;
  report.memory.measured.peakBytes = 1500;
  EXPECT_EQ(summaryText(report).find("above the budget"), std::string::npos) << "there is none";
  report.remat.budgetBytes = 1500;
  EXPECT_EQ(summaryText(report).find("above the budget"), std::string::npos) << "it is met";
  report.remat.budgetBytes = 1000;
  EXPECT_NE(summaryText(report).find("above the budget by 500 bytes: the arena, 900 bytes, is "
                                     "within it; the rest is rounding to pages"),
            std::string::npos)
      << summaryText(report);
}
