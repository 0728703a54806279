#include "runtime/data/Augmentation.h"
#include "runtime/data/OpenData.h"
#include "test/runtime/io/ImageFiles.h"
#include "test/runtime/io/LoadedEpochs.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace gc::runtime;

namespace {

constexpr int64_t side = 8;
const Normalization unitValues{{0.0f}, {1.0f}};

/// A sample of one channel whose values are all different.
std::vector<float> ramp(int64_t channels = 1) {
  std::vector<float> values;
  for (int64_t i = 0; i < side * side * channels; ++i)
    values.push_back(static_cast<float>(i + 1) / 1024);
  return values;
}

std::vector<float> applied(const std::string &text, int64_t index, uint64_t epoch = 0,
                           int64_t channels = 1, std::vector<float> sample = {}) {
  if (sample.empty())
    sample = ramp(channels);
  std::vector<float> copy(sample.size());
  Augmenter augmenter(*parseAugmentation(text), 7, side, side, channels);
  augmenter.apply(index, epoch, unitValues, sample.data(), copy.data());
  return sample;
}

} // namespace

TEST(Augmentation, IsParsedOrRefused) {
  auto all = parseAugmentation("erase,flip:0.25,colour-jitter:0.4:0.3,rotate:15,shift-crop:4,"
                               "random-resized-crop,rand-augment:3");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->text(), "random-resized-crop:0.08,shift-crop:4,flip:0.25,rotate:15,"
                         "colour-jitter:0.4:0.3:0,rand-augment:3:9,erase:0.5");
  EXPECT_EQ(parseAugmentation(all->text())->text(), all->text());
  EXPECT_BAD_INPUT(parseAugmentation("flop"), "no augmentation 'flop' (there are ");
  EXPECT_BAD_INPUT(parseAugmentation("color-jitter:1"), "did you mean 'colour-jitter'?");
  EXPECT_BAD_INPUT(parseAugmentation(""), "no augmentation ''");
  EXPECT_BAD_INPUT(parseAugmentation("shift-crop"),
                   "PIXELS is missing; expected shift-crop:PIXELS");
  EXPECT_BAD_INPUT(parseAugmentation("shift-crop:1.5"), "PIXELS is not whole");
  EXPECT_BAD_INPUT(parseAugmentation("flip:1.5"), "1.5 is no number from 0 to 1; expected flip");
  EXPECT_BAD_INPUT(parseAugmentation("flip:x"), "x is no number");
  EXPECT_BAD_INPUT(parseAugmentation("flip:1:1"), "too many values");
  EXPECT_BAD_INPUT(parseAugmentation("flip,rotate:1,flip"), "it is there twice");
  DataOptions options;
  options.augment = "flip";
  EXPECT_BAD_INPUT(openData(options, {{2, 2, 3}, 2}, 0), "--augment has no effect on 'synthetic'");
}

TEST(Augmentation, FlipMirrorsAsOftenAsAsked) {
  std::vector<float> plain = ramp(3);
  int mirrored = 0;
  for (int64_t i = 0; i < 2000; ++i) {
    std::vector<float> sample = applied("flip:0.3", i, 0, 3);
    if (sample == plain)
      continue;
    ++mirrored;
    for (int64_t y = 0; y < side; ++y)
      for (int64_t x = 0; x < side; ++x)
        for (int64_t c = 0; c < 3; ++c)
          ASSERT_EQ(sample[(y * side + x) * 3 + c], plain[(y * side + side - 1 - x) * 3 + c]);
  }
  EXPECT_NEAR(mirrored, 600, 5 * std::sqrt(2000 * 0.3 * 0.7)); // five standard deviations
}

TEST(Augmentation, ShiftMovesEveryWayAndFillsWithBlack) {
  std::vector<float> plain = ramp();
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t i = 0; i < 500; ++i) {
    std::vector<float> sample = applied("shift-crop:2", i);
    int found = 0;
    for (int64_t down = -2; down <= 2; ++down)
      for (int64_t right = -2; right <= 2; ++right) {
        std::vector<float> expected;
        for (int64_t y = 0; y < side; ++y)
          for (int64_t x = 0; x < side; ++x) {
            int64_t fromY = y - down, fromX = x - right;
            bool isInside = fromY >= 0 && fromY < side && fromX >= 0 && fromX < side;
            expected.push_back(isInside ? plain[fromY * side + fromX] : 0);
          }
        if (sample == expected) {
          seen.insert({down, right});
          ++found;
        }
      }
    ASSERT_EQ(found, 1);
  }
  EXPECT_EQ(seen.size(), 25u);
  // Further than the sample is wide: nothing is left of it, or little.
  for (int64_t i = 0; i < 50; ++i)
    applied("shift-crop:100", i);
}

TEST(Augmentation, RotationKeepsTheCentre) {
  // A field that is linear in x and y turns into one that is linear, too.
  std::vector<float> field;
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x)
      field.push_back(0.5f + 0.01f * (static_cast<float>(x) - 3.5f));
  std::set<float> slopes;
  for (int64_t i = 0; i < 20; ++i) {
    std::vector<float> turned = applied("rotate:40", i, 0, 1, field);
    auto at = [&](int64_t y, int64_t x) { return turned[y * side + x]; };
    EXPECT_NEAR((at(3, 3) + at(4, 4) + at(3, 4) + at(4, 3)) / 4, 0.5f, 1e-5);
    float right = at(3, 4) - at(3, 3), down = at(4, 3) - at(3, 3);
    EXPECT_NEAR(std::hypot(right, down), 0.01f, 1e-5);
    EXPECT_GE(right, 0.01f * std::cos(40 * 3.15f / 180));
    slopes.insert(down);
  }
  EXPECT_EQ(slopes.size(), 20u);
}

TEST(Augmentation, JitterStaysInRange) {
  for (int64_t i = 0; i < 50; ++i) {
    std::vector<float> sample = applied("colour-jitter:0.9:0.9:0.9", i, 0, 3, {});
    for (float value : sample)
      ASSERT_TRUE(value >= 0 && value <= 1) << value;
    EXPECT_NE(sample, ramp(3));
  }
  // Brightness alone is one factor for all values.
  std::vector<float> bright = applied("colour-jitter:0.5", 3), plain = ramp();
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_NEAR(bright[i] / plain[i], bright[0] / plain[0], 1e-3);
}

TEST(Augmentation, EraseClearsARectangle) {
  int erased = 0;
  for (int64_t i = 0; i < 400; ++i) {
    std::vector<float> sample = applied("erase:0.5", i);
    int64_t top = side, bottom = -1, left = side, right = -1, zeros = 0;
    for (int64_t y = 0; y < side; ++y)
      for (int64_t x = 0; x < side; ++x)
        if (sample[y * side + x] == 0) {
          ++zeros;
          top = std::min(top, y);
          bottom = std::max(bottom, y);
          left = std::min(left, x);
          right = std::max(right, x);
        }
    erased += zeros > 0;
    ASSERT_EQ(zeros, zeros ? (bottom - top + 1) * (right - left + 1) : 0);
    ASSERT_LE(zeros, 0.45 * side * side); // a third, and the rounding of both sides
  }
  EXPECT_NEAR(erased, 200, 5 * 10);
}

TEST(Augmentation, CropsLieInTheImage) {
  Augmenter augmenter(*parseAugmentation("random-resized-crop:0.1"), 7, side, side, 3);
  double area = 0;
  for (auto [height, width] : {std::pair<int64_t, int64_t>{100, 150}, {1, 1}, {3, 400}, {500, 2}})
    for (int64_t i = 0; i < 500; ++i) {
      CropBox box = augmenter.box(i, 0, height, width);
      ASSERT_GE(box.rows.begin, 0);
      ASSERT_GE(box.columns.begin, 0);
      ASSERT_GE(box.rows.length, 1);
      ASSERT_GE(box.columns.length, 1);
      ASSERT_LE(box.rows.begin + box.rows.length, height);
      ASSERT_LE(box.columns.begin + box.columns.length, width);
      if (height == 100) {
        area += box.rows.length * box.columns.length / (100 * 150) / 500;
        float ratio = box.columns.length / box.rows.length;
        ASSERT_TRUE(ratio > 0.7 && ratio < 1.4) << ratio;
      }
    }
  // A share s is drawn from [0.1, 1] and a ratio r evenly in its logarithm; what fits has s <= r
  // / 1.5
  // =: t, which lies in [0.5, 0.889]. Its mean is E[(t^2 - 0.01) / 2] / E[t - 0.1] = 0.399, with a
  // deviation of about 0.2 / sqrt(500).
  EXPECT_NEAR(area, 0.399, 5 * 0.009);
}

TEST(Augmentation, BitsDependOnSeedEpochAndSampleOnly) {
  TestDirectory directory;
  for (int i = 0; i < 13; ++i)
    writeBelow(directory, (i % 2 ? "a/" : "b/") + std::to_string(i) + ".jpg",
               jpegBytes(waveImage(20 + i, 40, 3, i)));
  ModelInput input{{16, 12, 3}, 2};
  DataOptions options;
  options.data = "images:" + directory.path;
  options.augment = "random-resized-crop,flip,shift-crop:2,rotate:15,colour-jitter:0.4:0.4:0.4,"
                    "rand-augment,erase";
  auto data = openData(options, input, 5), other = openData(options, input, 6);
  ASSERT_TRUE(data.ok() && other.ok());
  EXPECT_CONTAINS(data->preparation, "; in training augmented by random-resized-crop:0.08,shift");
  LoadedEpochs reference = loadTwoEpochs(*data->train, input, 4, 0);
  ASSERT_EQ(reference.failure, "");
  for (int workers : {1, 2, 4}) {
    LoadedEpochs again = loadTwoEpochs(*data->train, input, 4, workers);
    EXPECT_EQ(again.images, reference.images) << workers;
    EXPECT_EQ(again.labels, reference.labels) << workers;
  }
  // As after a resume, from the third micro-batch on.
  LoadedEpochs rest = loadTwoEpochs(*data->train, input, 4, 2, nullptr, 2);
  size_t skipped = static_cast<size_t>(2 * 4 * input.sampleElements());
  EXPECT_EQ(rest.images, std::vector<float>(reference.images.begin() + static_cast<long>(skipped),
                                            reference.images.end()));
  EXPECT_NE(loadTwoEpochs(*other->train, input, 4, 0).images, reference.images);

  auto sampleIn = [&](const Dataset &set, uint64_t epoch) {
    std::vector<float> sample(static_cast<size_t>(input.sampleElements()));
    std::vector<float> scratch(set.scratchElements());
    EXPECT_TRUE(set.readAugmented(3, epoch, 0, 1, sample.data(), scratch.data()).ok());
    return sample;
  };
  EXPECT_NE(sampleIn(*data->train, 0), sampleIn(*data->train, 1));
  EXPECT_EQ(sampleIn(*data->train, 1), sampleIn(*data->train, 1));
  options.augment.clear();
  auto plain = openData(options, input, 5);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(sampleIn(*plain->train, 0), sampleIn(*plain->train, 1));
  EXPECT_NE(*plain->train->fingerprint(), *data->train->fingerprint());
  std::vector<float> sample(static_cast<size_t>(input.sampleElements()));
  std::vector<float> scratch(data->train->scratchElements());
  ASSERT_TRUE(data->train->read(3, 0, 1, sample.data(), scratch.data()).ok());
  EXPECT_EQ(sample, sampleIn(*plain->train, 0)); // an evaluation on it sees no augmentation
}
