// What validations decide, how classes are counted, and which samples are kept for validation.
#include "runtime/data/Holdout.h"
#include "runtime/data/OpenData.h"
#include "runtime/report/ClassCounts.h"
#include "runtime/trainer/Predictions.h"
#include "runtime/trainer/ValidationWatch.h"
#include "runtime/weights/Safetensors.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <set>

using namespace gc::runtime;

namespace {

/// Sample i has the value and the label i.
struct Numbered final : Dataset {
  explicit Numbered(int64_t count) : count(count) {}
  int64_t size() const override { return count; }
  int64_t label(int64_t index) const override { return index; }
  int64_t rows() const override { return 1; }
  Status read(int64_t index, int64_t, int64_t, float *sample, float *) const override {
    *sample = static_cast<float>(index);
    return {};
  }
  Status readAugmented(int64_t index, uint64_t, int64_t, int64_t, float *sample,
                       float *) const override {
    *sample = -static_cast<float>(index);
    return {};
  }
  int64_t count;
};

DataSource sourceOf(int64_t count) {
  DataSource source;
  source.description = "numbers";
  source.train = std::make_unique<Numbered>(count);
  return source;
}

std::vector<int64_t> labelsOf(const Dataset &split) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < split.size(); ++i)
    labels.push_back(split.label(i));
  return labels;
}

EvaluationReport validation(uint64_t step, double loss) {
  EvaluationReport report;
  report.epoch = report.step = step;
  report.loss = loss;
  report.accuracy = 1 - loss;
  return report;
}

ValidationWatch watchOf(const char *monitored, std::optional<uint64_t> patience, double minDelta) {
  return ValidationWatch({*parseMonitoredMetric(monitored), patience, minDelta});
}

/// After which of these losses training stops; 0: after none.
size_t stopsAfter(ValidationWatch watch, std::initializer_list<double> losses) {
  uint64_t step = 0;
  for (double loss : losses) {
    EXPECT_TRUE(watch.add(validation(++step, loss)).ok());
    if (watch.stops())
      return step;
  }
  return 0;
}

} // namespace

TEST(Holdout, SplitsWithoutOverlapAndByTheSeed) {
  DataSource first = sourceOf(100), again = sourceOf(100), other = sourceOf(100);
  ASSERT_TRUE(holdOut(first, *parseHoldout("0.3"), 7).ok());
  ASSERT_TRUE(holdOut(again, *parseHoldout("30"), 7).ok());
  ASSERT_TRUE(holdOut(other, *parseHoldout("30"), 8).ok());
  std::vector<int64_t> held = labelsOf(*first.validation), rest = labelsOf(*first.train);
  EXPECT_EQ(held.size(), 30u);
  EXPECT_EQ(held, labelsOf(*again.validation));
  EXPECT_NE(held, labelsOf(*other.validation));
  EXPECT_TRUE(std::is_sorted(rest.begin(), rest.end()));
  std::set<int64_t> all(held.begin(), held.end());
  all.insert(rest.begin(), rest.end());
  EXPECT_EQ(all.size(), 100u) << "every sample is in one of them";
  EXPECT_EQ(rest.size(), 70u);
  EXPECT_EQ(*first.train->fingerprint(), *again.train->fingerprint());
  EXPECT_NE(*first.train->fingerprint(), *other.train->fingerprint());
  EXPECT_CONTAINS(first.description, "30 of the training samples are kept for validation");
}

TEST(Holdout, ReadsTheSampleThatItNames) {
  DataSource source = sourceOf(10);
  ASSERT_TRUE(holdOut(source, *parseHoldout("4"), 1).ok());
  float value = 0;
  for (int64_t i = 0; i < source.train->size(); ++i) {
    ASSERT_TRUE(source.train->read(i, 0, 1, &value, nullptr).ok());
    EXPECT_EQ(value, static_cast<float>(source.train->label(i)));
    ASSERT_TRUE(source.train->readAugmented(i, 0, 0, 1, &value, nullptr).ok());
    EXPECT_EQ(value, -static_cast<float>(source.train->label(i)));
  }
}

TEST(Holdout, RefusesWhatLeavesNothing) {
  for (const char *bad : {"", "0", "0.0", "1.0", "1.5", "-1", "x", "0.1x", "1e-1", "nan"})
    EXPECT_BAD_INPUT(parseHoldout(bad), "--validation=");
  EXPECT_TRUE(parseHoldout("own")->isOwn());
  DataSource few = sourceOf(3);
  EXPECT_BAD_INPUT(holdOut(few, *parseHoldout("3"), 0), "at least one");
  EXPECT_BAD_INPUT(holdOut(few, *parseHoldout("0.01"), 0), "0 of 3 training samples");
  few.endless = true;
  EXPECT_BAD_INPUT(holdOut(few, *parseHoldout("1"), 0), "synthetic");
}

// What PyTorch Lightning's EarlyStopping does with these numbers.
TEST(ValidationWatch, StopsAsLightningDoes) {
  EXPECT_EQ(stopsAfter(watchOf("loss", 2, 0), {3, 2, 2, 2, 1}), 4u);
  EXPECT_EQ(stopsAfter(watchOf("loss", 2, 0), {3, 2, 2, 1, 1, 0.5}), 0u);
  EXPECT_EQ(stopsAfter(watchOf("loss", 1, 0), {1, 1}), 2u);
  EXPECT_EQ(stopsAfter(watchOf("loss", {}, 0), {1, 2, 3, 4}), 0u) << "without patience never";
  // An improvement is more than min_delta, against the last that was one.
  EXPECT_EQ(stopsAfter(watchOf("loss", 2, 0.5), {3, 2.5, 2.5}), 3u);
  EXPECT_EQ(stopsAfter(watchOf("loss", 2, 0.5), {3, 2.75, 2.25, 2, 1.5}), 0u);
  // Accuracy, 1 - loss, is better where it is more.
  EXPECT_EQ(stopsAfter(watchOf("accuracy", 2, 0), {0.9, 0.5, 0.6, 0.5}), 4u);
  EXPECT_EQ(stopsAfter(watchOf("loss:max", 2, 0), {1, 2, 2, 2}), 4u);
}

TEST(ValidationWatch, KnowsTheBest) {
  ValidationWatch watch = watchOf("loss", 9, 1);
  EXPECT_FALSE(watch.best());
  EXPECT_TRUE(*watch.add(validation(1, 3)));
  EXPECT_TRUE(*watch.add(validation(2, 2.5))) << "min_delta is for stopping alone";
  EXPECT_FALSE(*watch.add(validation(3, 2.5))) << "of equal ones the first";
  EXPECT_EQ(watch.best()->step, 2u);
  EXPECT_EQ(watch.best()->value, 2.5);
  EXPECT_EQ(watch.best()->monitor, "loss:min");
}

TEST(ValidationWatch, NotANumberEndsTheRun) {
  for (double bad : {std::nan(""), double{INFINITY}}) {
    ValidationWatch watch = watchOf("loss", 3, 0);
    ASSERT_TRUE(watch.add(validation(1, 2)).ok());
    Result<bool> result = watch.add(validation(2, bad));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().exitCode(), 1);
    EXPECT_CONTAINS(result.error().message, "the best was 2 after step 1");
    ValidationWatch careless = watchOf("loss", {}, 0);
    EXPECT_FALSE(*careless.add(validation(1, bad))) << "it is told, and never the best";
    EXPECT_FALSE(careless.best());
  }
}

TEST(ValidationWatch, GoesOnWhereACheckpointStood) {
  ValidationWatch whole = watchOf("loss", 2, 0), first = watchOf("loss", 2, 0);
  for (double loss : {2.0, 2.5}) {
    (void)whole.add(validation(1, loss));
    (void)first.add(validation(1, loss));
  }
  ValidationWatch second = watchOf("loss", 2, 0);
  second.resume(first.state());
  EXPECT_FALSE(second.stops());
  (void)second.add(validation(2, 2.25));
  EXPECT_TRUE(second.stops());
  EXPECT_EQ(second.best()->value, 2);
  ValidationWatch other = watchOf("accuracy", 2, 0);
  other.resume(first.state());
  EXPECT_FALSE(other.best()) << "a loss is no accuracy";
}

TEST(ValidationWatch, MetricsByName) {
  EXPECT_EQ(parseMonitoredMetric("top5")->text(), "top5:max");
  EXPECT_EQ(parseMonitoredMetric("accuracy:min")->text(), "accuracy:min");
  EXPECT_BAD_INPUT(parseMonitoredMetric("los"), "did you mean 'loss'?");
  EXPECT_BAD_INPUT(parseMonitoredMetric("loss:least"), "expected loss:min or loss:max");
  EXPECT_BAD_INPUT(watchOf("top5", 1, 0).add(validation(1, 1)), "has no such metric");
}

TEST(ClassCounts, Count) {
  ClassCounts counts(6);
  const float ascending[] = {0, 1, 2, 3, 4, 5}; // the answer is 5; 0 is not among the five largest
  for (int64_t label : {5, 5, 4, 0})
    counts.add(ascending, label);
  EXPECT_EQ(counts.total(), 4u);
  EXPECT_EQ(counts.correctInAll(), 2u);
  EXPECT_EQ(*counts.topFive(), 0.75);
  EXPECT_EQ(counts.answersOf(5), 4u);
  EXPECT_EQ(counts.confused(4, 5), 1u);
  EXPECT_EQ(counts.confused(5, 5), 2u);
  EXPECT_EQ(counts.confused(5, 4), 0u);
  nlohmann::ordered_json json = classCountsJson(counts, {"a", "b"});
  EXPECT_EQ(json["per_class"][5]["recall"], 1.0);
  EXPECT_EQ(json["per_class"][5]["precision"], 0.5);
  EXPECT_EQ(json["per_class"][0]["name"], "a");
  EXPECT_EQ(json["per_class"][4]["name"], "4");
  EXPECT_TRUE(json["per_class"][1]["recall"].is_null()) << "no sample is not 0 %";
  EXPECT_EQ(json["confusion"][0][5], 1);
  EXPECT_CONTAINS(classCountsHtml("t", counts, {"<a>"}), "&lt;a&gt;");
}

TEST(ClassCounts, EqualAndImpossibleLogits) {
  const float equal[] = {1, 1, 1};
  EXPECT_EQ(answerOf(equal), 0) << "the first wins";
  const float none[] = {2, NAN, 3};
  EXPECT_EQ(answerOf(none), 1);
  ClassCounts counts(3);
  counts.add(none, 2);
  EXPECT_EQ(counts.correctInAll(), 0u);
  EXPECT_FALSE(counts.topFive()) << "of three classes all are among the five";
  ClassCounts many(ClassCounts::kMostInMatrix + 1);
  EXPECT_FALSE(many.hasMatrix());
  EXPECT_TRUE(classCountsJson(many, {})["confusion"].is_null());
}

TEST(Predictions, AsTensorsAndAsText) {
  TestDirectory directory;
  Numbered split(2);
  const float rows[] = {0.5f, 0.25f, -1, 2};
  for (const char *name : {"p.safetensors", "p.csv"}) {
    auto file = Predictions::create(directory.file(name), split, 2);
    ASSERT_TRUE(file.ok()) << file.error().message;
    ASSERT_TRUE((*file)->add(std::span(rows, 2), 0).ok());
    EXPECT_FALSE((*file)->finish().ok()) << "a sample is missing";
  }
  EXPECT_EQ(directory.entries(), 0u);
  for (const char *name : {"p.safetensors", "p.csv"}) {
    auto file = Predictions::create(directory.file(name), split, 2);
    ASSERT_TRUE((*file)->add(std::span(rows, 2), 0).ok());
    ASSERT_TRUE((*file)->add(std::span(rows + 2, 2), -1).ok()); // could not be read
    ASSERT_TRUE((*file)->finish().ok());
  }
  EXPECT_EQ(directory.read("p.csv"), "sample,label,answer,logit_0,logit_1\n"
                                     "0,0,0,0.5,0.25\n1,1,,nan,nan\n");
  auto tensors = SafetensorsFile::open(directory.file("p.safetensors"));
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  std::array<float, 4> logits;
  ASSERT_TRUE(tensors->readFloats(*tensors->find("logits"), 0, logits.data(), 4).ok());
  EXPECT_EQ(logits[1], 0.25f);
  EXPECT_TRUE(std::isnan(logits[3]));
  std::array<int64_t, 2> labels;
  ASSERT_TRUE(tensors->read(*tensors->find("label"), 0, labels.data(), 16).ok());
  EXPECT_EQ(labels[1], 1);
  EXPECT_BAD_INPUT(Predictions::create(directory.file("p.txt"), split, 2), ".safetensors or .csv");
}
