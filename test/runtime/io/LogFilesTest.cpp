// What is in --log-dir beside scalars. tools/compare/formats.py reads such files with TensorBoard
// itself.
#include "runtime/report/EventFile.h"
#include "runtime/report/Histogram.h"
#include "runtime/report/MetricFiles.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>

using namespace gc::runtime;

TEST(Histogram, CountsWhatIsFinite) {
  const float values[] = {0, 1, 2, 3, NAN, INFINITY, 3};
  Histogram histogram = histogramOf(values);
  EXPECT_EQ(histogram.count, 5u);
  EXPECT_EQ(histogram.min, 0);
  EXPECT_EQ(histogram.max, 3);
  EXPECT_EQ(histogram.sum, 9);
  EXPECT_EQ(histogram.sumOfSquares, 23);
  EXPECT_EQ(histogram.ends.size(), histogram.counts.size());
  EXPECT_EQ(histogram.ends.back(), 3);
  EXPECT_EQ(histogram.counts.front(), 1u);
  EXPECT_EQ(histogram.counts.back(), 2u) << "the greatest is in the last bucket";
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), uint64_t{0}), 5u);
}

TEST(Histogram, OfOneValueAndOfNone) {
  const float same[] = {2, 2};
  EXPECT_EQ(histogramOf(same).counts, (std::vector<uint64_t>{2}));
  const float none[] = {NAN};
  EXPECT_EQ(histogramOf(none).count, 0u);
  EXPECT_TRUE(histogramOf(none).ends.empty());
}

TEST(EventFile, HoldsTextsHistogramsAndSessions) {
  TestDirectory directory;
  {
    auto log = EventFile::create(directory.path);
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE(log->sessionStart({{"lr", 0.5}, {"shuffle", true}, {"data", "set"}}).ok());
    ASSERT_TRUE(log->text("configuration", 0, "# of a run").ok());
    const float values[] = {1, 2};
    ASSERT_TRUE(log->histogram("weights/w", 7, histogramOf(values)).ok());
    ASSERT_TRUE(log->sessionEnd(true).ok());
  }
  auto entry = *std::filesystem::directory_iterator(directory.path);
  std::string bytes = directory.read(entry.path().filename().string());
  // Tag, length and text of what the formats' owners look for.
  EXPECT_CONTAINS(bytes, "\x0a\x1c_hparams_/session_start_info");
  EXPECT_CONTAINS(bytes, "\x0a\x07hparams");
  EXPECT_CONTAINS(bytes, "\x0a\x04text");
  EXPECT_CONTAINS(bytes, "\x42\x0a# of a run");
  EXPECT_CONTAINS(bytes, "\x0a\x09weights/w");
  EXPECT_CONTAINS(bytes, "_hparams_/session_end_info");
}

static MetricRow rowAt(uint64_t step) {
  MetricRow row;
  row.step = step;
  row.epoch = 1;
  row.split = "train";
  row.loss = 0.5;
  row.learningRate = 0.1;
  row.seconds = 0.25;
  return row;
}

TEST(MetricFiles, ALineEach) {
  TestDirectory directory;
  auto metrics = MetricFiles::open(directory.file("log"), 0);
  ASSERT_TRUE(metrics.ok()) << metrics.error().message;
  ASSERT_TRUE(metrics->add(rowAt(1)).ok());
  MetricRow validation = rowAt(1);
  validation.split = "validation";
  validation.loss = NAN;
  validation.accuracy = 0.75;
  validation.learningRate.reset();
  ASSERT_TRUE(metrics->add(validation).ok());
  EXPECT_EQ(directory.read("log/metrics.csv"),
            "step,epoch,split,loss,accuracy,top5,learning_rate,seconds\n"
            "1,1,train,0.5,,,0.1,0.25\n"
            "1,1,validation,nan,0.75,,,0.25\n");
  std::string lines = directory.read("log/metrics.jsonl");
  auto second = nlohmann::json::parse(lines.substr(lines.find('\n')));
  EXPECT_TRUE(second["loss"].is_null()) << "JSON has no NaN";
  EXPECT_EQ(second["accuracy"], 0.75);
}

TEST(MetricFiles, GoOnBehindTheStepThatARunStandsAt) {
  TestDirectory directory;
  for (uint64_t from : {0, 2}) {
    auto metrics = MetricFiles::open(directory.path, from);
    ASSERT_TRUE(metrics.ok());
    for (uint64_t step = from + 1; step <= from + 3; ++step)
      ASSERT_TRUE(metrics->add(rowAt(step)).ok());
    if (from == 0) // as a killed run leaves it
      for (const char *name : {"metrics.csv", "metrics.jsonl"})
        std::ofstream(directory.file(name), std::ios::app) << "{\"step\":2,";
  }
  auto steps = [&](const char *name) {
    std::ifstream in(directory.file(name));
    std::vector<std::string> steps;
    for (std::string line; std::getline(in, line);)
      steps.push_back(line.substr(0, line.find(',')));
    return steps;
  };
  EXPECT_EQ(steps("metrics.csv"), (std::vector<std::string>{"step", "1", "2", "3", "4", "5"}));
  EXPECT_EQ(steps("metrics.jsonl").size(), 5u);
  ASSERT_TRUE(MetricFiles::open(directory.path, 0).ok());
  EXPECT_EQ(steps("metrics.jsonl").size(), 0u) << "another run";
  directory.write("f", "");
  EXPECT_BAD_INPUT(MetricFiles::open(directory.file("f"), 0), "cannot write");
}
