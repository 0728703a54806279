//===- LossTest.cpp - Cross entropy and accuracy --------------------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

struct Batch {
  Tensor logits, labels;
  int64_t rows, classes;
  double samples = 0;
  std::vector<double> logsumexp{};
  double loss = 0;
};

/// Every third sample is padding where `padded`.
Batch makeBatch(int64_t rows, int64_t classes, bool padded) {
  Batch batch{Tensor::random({rows, classes}, 1, -9, 9), {}, rows, classes};
  std::vector<int32_t> labels;
  for (int64_t r = 0; r < rows; ++r)
    labels.push_back(padded && r % 3 == 1 ? -1 : int32_t((r * 7 + 3) % classes));
  batch.labels = Tensor::ofInt32({rows}, labels);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      sum += std::exp(double(batch.logits[r * classes + c]));
    batch.logsumexp.push_back(std::log(sum));
    if (labels[r] >= 0) {
      batch.samples += 1;
      batch.loss += batch.logsumexp.back() - batch.logits[r * classes + labels[r]];
    }
  }
  batch.loss /= std::max(batch.samples, 1.0);
  return batch;
}

TEST(LossTest, CrossEntropy) {
  for (bool padded : {false, true})
    for (auto [rows, classes] : {std::pair<int64_t, int64_t>{1, 1},
                                 {5, 10},
                                 {128, 10},
                                 {17, 1000},
                                 {3, 33},
                                 {300, 4},
                                 {2, 8209}}) {
      Batch batch = makeBatch(rows, classes, padded);
      Outcome outcome =
          run("%r:2 = gc.cross_entropy %0, %1" +
                  signature({batch.logits, batch.labels}, {"tensor<f32>", typeOf({rows})}),
              {batch.logits, batch.labels});
      expectClose(outcome.results[0], {batch.loss}, 1e-6);
      expectClose(outcome.results[1], batch.logsumexp, 1e-6);
    }
}

/// What a smoothing of `e` gives to a class that is the label of its sample, or another.
double target(double e, int64_t classes, bool isLabel) {
  return (isLabel ? 1 - e : 0) + e / double(classes);
}

TEST(LossTest, SmoothedCrossEntropyAndGrad) {
  const float e = 0.1875f;
  const std::string attribute = " {label_smoothing = 0.1875 : f32}";
  for (bool padded : {false, true})
    for (auto [rows, classes] :
         {std::pair<int64_t, int64_t>{1, 1}, {5, 10}, {17, 1000}, {3, 33}, {300, 4}, {2, 8209}}) {
      Batch batch = makeBatch(rows, classes, padded);
      const int32_t *labels = batch.labels.data<int32_t>();
      double loss = 0;
      std::vector<float> lse(batch.logsumexp.begin(), batch.logsumexp.end());
      std::vector<double> gradient;
      for (int64_t i = 0; i < batch.logits.size(); ++i) {
        int32_t label = labels[i / classes];
        double share = label < 0 ? 0 : target(e, classes, label == i % classes);
        loss += share * (batch.logsumexp[i / classes] - batch.logits[i]);
        double p = std::exp(batch.logits[i] - double(lse[i / classes]));
        gradient.push_back(label < 0 ? 0 : 0.5 / batch.samples * (p - share));
      }
      Outcome forward =
          run("%r:2 = gc.cross_entropy %0, %1" + attribute +
                  signature({batch.logits, batch.labels}, {"tensor<f32>", typeOf({rows})}),
              {batch.logits, batch.labels});
      expectClose(forward.results[0], {loss / std::max(batch.samples, 1.0)}, 1e-6);
      expectClose(forward.results[1], batch.logsumexp, 1e-6);
      std::vector<Tensor> operands{batch.logits, batch.labels, Tensor::of({rows}, lse),
                                   Tensor::of({}, {0.5f})};
      std::string text = "%r = gc.cross_entropy_grad %0, %1, %2, %3" + attribute +
                         signature(operands, {batch.logits.type()});
      Outcome apart = run(text, operands), inPlace = run(text, operands, {}, {0});
      expectClose(apart.results[0], gradient, 1e-6);
      EXPECT_EQ(apart.results[0].bytes, inPlace.results[0].bytes);
    }
}

TEST(LossTest, CrossEntropyOfPaddingAloneIsZero) {
  Tensor logits = Tensor::random({2, 4}, 1), labels = Tensor::ofInt32({2}, {-1, -5});
  Outcome outcome = run("%r:2 = gc.cross_entropy %0, %1" +
                            signature({logits, labels}, {"tensor<f32>", "tensor<2xf32>"}),
                        {logits, labels});
  EXPECT_EQ(outcome.results[0][0], 0);
}

TEST(LossTest, CrossEntropyGrad) {
  for (bool padded : {false, true})
    for (auto [rows, classes] :
         {std::pair<int64_t, int64_t>{1, 1}, {5, 10}, {17, 1000}, {3, 33}, {300, 4}}) {
      Batch batch = makeBatch(rows, classes, padded);
      std::vector<float> lse(batch.logsumexp.begin(), batch.logsumexp.end());
      std::vector<Tensor> operands{batch.logits, batch.labels, Tensor::of({rows}, lse),
                                   Tensor::of({}, {0.5f})};
      std::vector<double> expected;
      for (int64_t i = 0; i < batch.logits.size(); ++i) {
        int32_t label = batch.labels.data<int32_t>()[i / classes];
        double p = std::exp(batch.logits[i] - double(lse[i / classes]));
        expected.push_back(label < 0 ? 0
                                     : 0.5 / batch.samples * (p - (label == i % classes ? 1 : 0)));
      }
      std::string text =
          "%r = gc.cross_entropy_grad %0, %1, %2, %3" + signature(operands, {batch.logits.type()});
      Outcome apart = run(text, operands), inPlace = run(text, operands, {}, {0});
      expectClose(apart.results[0], expected, 1e-6);
      EXPECT_EQ(apart.results[0].bytes, inPlace.results[0].bytes);
    }
}

TEST(LossTest, Accuracy) {
  // Rows: right; wrong; a tie that an earlier class wins; a tie that the label wins; padding; NaN.
  Tensor logits = Tensor::of({6, 3}, {1, 5, 2, 1, 5, 2, 5, 5, 1, 5, 5, 1, 9, 1, 1, NAN, 0, 0});
  Tensor labels = Tensor::ofInt32({6}, {1, 2, 1, 0, -1, 0});
  std::string text = "%r = gc.accuracy %0, %1" + signature({logits, labels}, {"tensor<f32>"});
  EXPECT_EQ(run(text, {logits, labels}).results[0][0], 2);
}

TEST(LossTest, AccuracyOfManyClasses) {
  Batch batch = makeBatch(101, 1003, true);
  double expected = 0;
  for (int64_t r = 0; r < batch.rows; ++r) {
    const float *row = batch.logits.data() + r * batch.classes;
    int64_t best = std::max_element(row, row + batch.classes) - row;
    expected += best == batch.labels.data<int32_t>()[r];
    // Make every fifth sample right.
    if (r % 5 == 0 && batch.labels.data<int32_t>()[r] >= 0 &&
        best != batch.labels.data<int32_t>()[r]) {
      batch.logits[r * batch.classes + batch.labels.data<int32_t>()[r]] = 10;
      expected += 1;
    }
  }
  std::string text =
      "%r = gc.accuracy %0, %1" + signature({batch.logits, batch.labels}, {"tensor<f32>"});
  EXPECT_EQ(run(text, {batch.logits, batch.labels}).results[0][0], expected);
  EXPECT_GT(expected, 10);
}

} // namespace
