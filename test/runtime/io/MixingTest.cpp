#include "runtime/data/Mixing.h"

#include "runtime/data/Augmentation.h"
#include "runtime/data/Loader.h"
#include "runtime/data/OpenData.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace gc::runtime;

namespace {

const std::vector<int64_t> shape = {6, 8, 2};
constexpr int64_t elements = 6 * 8 * 2;

Mixing mixup(float alpha) { return {alpha, std::nullopt}; }
Mixing cutmix(float alpha) { return {std::nullopt, alpha}; }

/// Value e of sample i is i + e / 1000, its label i. Sample `broken` cannot be read.
struct Numbered final : Dataset {
  explicit Numbered(int64_t count, int64_t broken = -1) : count(count), broken(broken) {}
  int64_t size() const override { return count; }
  int64_t label(int64_t index) const override { return index; }
  int64_t rows() const override { return 1; }
  bool mayHaveBadSamples() const override { return true; }
  static float valueOf(int64_t index, int64_t element) {
    return static_cast<float>(index) + static_cast<float>(element) / 1000;
  }
  Status read(int64_t index, int64_t, int64_t, float *sample, float *) const override {
    if (index == broken)
      return badInput("it is broken");
    for (int64_t e = 0; e < elements; ++e)
      sample[e] = valueOf(index, e);
    return {};
  }
  int64_t count, broken;
};

struct Loaded {
  std::vector<float> images, shares;
  std::vector<int32_t> labels, mixedLabels;
};

/// Micro-batches [begin, end), as a plan for mixed labels gets them.
Loaded load(const Dataset &data, int64_t batch, const Mixer *mixer, int workers, uint64_t begin,
            uint64_t end) {
  std::vector<float> images[2];
  std::vector<int32_t> labels[2], mixedLabels[2];
  float shares[2];
  std::vector<LoaderSlot> slots;
  for (int i = 0; i < 2; ++i) {
    images[i].resize(static_cast<size_t>(batch * elements));
    labels[i].resize(static_cast<size_t>(batch));
    mixedLabels[i].resize(static_cast<size_t>(batch));
    slots.push_back({images[i].data(), labels[i].data(), mixedLabels[i].data(), &shares[i]});
  }
  Loader loader(batch, elements, LabelType::I32, slots, workers);
  BadSamples bad;
  LoaderRun run;
  run.dataset = &data;
  run.samples = data.size();
  run.microBatchesPerEpoch = data.size() / batch;
  run.begin = begin;
  run.end = end;
  run.augment = true;
  run.mixer = mixer;
  run.badSamples = &bad;
  loader.start(run);
  Loaded all;
  while (loader.more()) {
    auto loaded = loader.acquire();
    EXPECT_TRUE(loaded.ok());
    const size_t slot = loaded->slot;
    auto append = [](auto &to, auto &from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.images, images[slot]);
    append(all.labels, labels[slot]);
    append(all.mixedLabels, mixedLabels[slot]);
    all.shares.push_back(shares[slot]);
    loader.release();
  }
  return all;
}

} // namespace

TEST(Mixing, SharesAreOfABetaDistribution) {
  constexpr int draws = 20000;
  for (float alpha : {0.1f, 0.4f, 1.0f, 3.0f, 50.0f}) {
    Mixer mixer(mixup(alpha), shape, 5);
    double sum = 0, squares = 0, fourths = 0, below = 0;
    for (uint64_t i = 0; i < draws; ++i) {
      MixDraw drawn = mixer.draw(i);
      ASSERT_TRUE(drawn.share >= 0 && drawn.share <= 1 && !drawn.cuts);
      double off = drawn.share - 0.5;
      sum += off / draws;
      squares += off * off / draws;
      fourths += off * off * off * off / draws;
      below += drawn.share < 0.25;
    }
    // About 1/2, with a variance of 1 / (4 (2 alpha + 1)) and a fourth moment of
    // 3 / (16 (2 alpha + 1) (2 alpha + 3)); within five standard deviations.
    const double variance = 1 / (4 * (2 * alpha + 1.0));
    const double fourth = 3 / (16 * (2 * alpha + 1.0) * (2 * alpha + 3.0));
    EXPECT_NEAR(sum, 0, 5 * std::sqrt(variance / draws)) << alpha;
    EXPECT_NEAR(squares, variance, 5 * std::sqrt((fourth - variance * variance) / draws)) << alpha;
    EXPECT_NEAR(fourths, fourth, 0.05 * fourth) << alpha;
    if (alpha == 1) { // evenly from 0 to 1
      EXPECT_NEAR(below, draws / 4.0, 5 * std::sqrt(draws * 0.25 * 0.75));
    }
  }
  Mixer rare(mixup(1e-3f), shape, 5); // nearly always one or the other, and always a number
  double whole = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    float share = rare.draw(i).share;
    ASSERT_TRUE(share >= 0 && share <= 1) << share;
    whole += share < 1e-6f || share > 1 - 1e-6f;
  }
  EXPECT_GT(whole, 950);
}

TEST(Mixing, DrawsDependOnSeedAndMicroBatchOnly) {
  Mixer mixer(mixup(1), shape, 5), same(mixup(1), shape, 5), other(mixup(1), shape, 6);
  EXPECT_EQ(mixer.draw(7).share, same.draw(7).share);
  EXPECT_NE(mixer.draw(7).share, mixer.draw(8).share);
  EXPECT_NE(mixer.draw(7).share, other.draw(7).share);
  EXPECT_NE(mixer.draw(7).share, mixer.draw(7 + (uint64_t{1} << 32)).share);
}

TEST(Mixing, MixupIsTheMeanByShares) {
  Mixer mixer(mixup(1), shape, 5);
  MixDraw drawn = mixer.draw(3);
  std::vector<float> one(elements), other(elements);
  std::iota(one.begin(), one.end(), 0.0f);
  std::iota(other.begin(), other.end(), 500.0f);
  mixer.mix(drawn, one.data(), other.data());
  for (int64_t e = 0; e < elements; ++e) {
    auto first = static_cast<float>(e), second = static_cast<float>(500 + e);
    EXPECT_FLOAT_EQ(one[e], drawn.share * first + (1 - drawn.share) * second);
    EXPECT_FLOAT_EQ(other[e], drawn.share * second + (1 - drawn.share) * first);
  }
}

TEST(Mixing, CutmixSwapsARectangleAndItsShare) {
  Mixer mixer(cutmix(1), shape, 5);
  int cut = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    MixDraw drawn = mixer.draw(i);
    ASSERT_TRUE(drawn.cuts);
    ASSERT_TRUE(drawn.top >= 0 && drawn.height >= 0 && drawn.top + drawn.height <= shape[0]);
    ASSERT_TRUE(drawn.left >= 0 && drawn.width >= 0 && drawn.left + drawn.width <= shape[1]);
    std::vector<float> one(elements, 1), other(elements, 2);
    mixer.mix(drawn, one.data(), other.data());
    int64_t swapped = 0;
    for (int64_t y = 0; y < shape[0]; ++y)
      for (int64_t x = 0; x < shape[1]; ++x)
        for (int64_t c = 0; c < shape[2]; ++c) {
          bool isInside = y >= drawn.top && y < drawn.top + drawn.height && x >= drawn.left &&
                          x < drawn.left + drawn.width;
          int64_t at = (y * shape[1] + x) * shape[2] + c;
          ASSERT_EQ(one[at], isInside ? 2 : 1);
          ASSERT_EQ(other[at], isInside ? 1 : 2);
          swapped += isInside;
        }
    ASSERT_FLOAT_EQ(drawn.share, 1 - static_cast<float>(swapped) / elements);
    cut += swapped > 0;
  }
  EXPECT_GT(cut, 350); // nothing is cut where 8 sqrt(1 - share) or 6 sqrt(1 - share) is below 2
}

TEST(Mixing, BothHaveHalfOfTheMicroBatches) {
  Mixer mixer({0.2f, 1.0f}, shape, 5), alone(mixup(0.2f), shape, 5), cuts(cutmix(1), shape, 5);
  int count = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    MixDraw drawn = mixer.draw(i);
    count += drawn.cuts;
    ASSERT_EQ(drawn.share, (drawn.cuts ? cuts : alone).draw(i).share);
  }
  EXPECT_NEAR(count, 1000, 5 * std::sqrt(500.0));
}

TEST(Mixing, LoaderMixesASampleWithItsPartner) {
  Numbered data(15);
  Mixer mixer(mixup(1), shape, 5);
  Loaded loaded = load(data, 5, &mixer, 2, 0, 3);
  for (int64_t m = 0; m < 3; ++m) {
    const float share = mixer.draw(static_cast<uint64_t>(m)).share;
    EXPECT_EQ(loaded.shares[m], share);
    for (int64_t i = 0; i < 5; ++i) {
      const int64_t own = 5 * m + i, partner = 5 * m + 4 - i;
      EXPECT_EQ(loaded.labels[own], own);
      EXPECT_EQ(loaded.mixedLabels[own], partner);
      for (int64_t e = 0; e < elements; ++e)
        EXPECT_NEAR(loaded.images[own * elements + e],
                    share * Numbered::valueOf(own, e) + (1 - share) * Numbered::valueOf(partner, e),
                    1e-5);
    }
  }
}

// Samples 0 and 3 are partners, 1 and 2 are. Where one is left out, its partner has its own label
// twice: both labels' means are over the same samples.
TEST(Mixing, ABadSampleAndItsPartnerAreNotMixed) {
  Numbered data(8, 3);
  Mixer mixer(mixup(1), shape, 5);
  Loaded loaded = load(data, 4, &mixer, 2, 0, 2);
  EXPECT_EQ(loaded.labels, (std::vector<int32_t>{0, 1, 2, -1, 4, 5, 6, 7}));
  EXPECT_EQ(loaded.mixedLabels, (std::vector<int32_t>{0, 2, 1, -1, 7, 6, 5, 4}));
  for (int64_t e = 0; e < elements; ++e) {
    EXPECT_EQ(loaded.images[e], Numbered::valueOf(0, e));
    EXPECT_EQ(loaded.images[3 * elements + e], 0);
    EXPECT_NE(loaded.images[elements + e], Numbered::valueOf(1, e));
  }
}

TEST(Mixing, WithoutAMixerTheShareIsOne) {
  Numbered data(8, 3);
  Loaded loaded = load(data, 4, nullptr, 2, 0, 2);
  EXPECT_EQ(loaded.mixedLabels, loaded.labels);
  EXPECT_EQ(loaded.shares, (std::vector<float>{1, 1}));
  EXPECT_EQ(loaded.images[7 * elements + 2], Numbered::valueOf(7, 2));
}

TEST(Mixing, BitsDoNotDependOnWorkersOrTheBegin) {
  Numbered data(64, 9);
  Mixer mixer({0.4f, 1.0f}, shape, 5);
  Loaded reference = load(data, 4, &mixer, 0, 0, 32); // two epochs
  for (int workers : {1, 2, 5}) {
    Loaded again = load(data, 4, &mixer, workers, 0, 32);
    EXPECT_EQ(again.images, reference.images) << workers;
    EXPECT_EQ(again.mixedLabels, reference.mixedLabels) << workers;
    EXPECT_EQ(again.shares, reference.shares) << workers;
  }
  Loaded rest = load(data, 4, &mixer, 3, 21, 32); // as after a resume
  EXPECT_EQ(rest.images, std::vector<float>(reference.images.begin() + 21 * 4 * elements,
                                            reference.images.end()));
  EXPECT_EQ(rest.shares, std::vector<float>(reference.shares.begin() + 21, reference.shares.end()));
}

TEST(Mixing, IsParsedOrRefused) {
  auto all = parseAugmentation("cutmix:1,mixup:0.2,flip");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->text(), "flip:0.5,mixup:0.2,cutmix:1");
  EXPECT_TRUE(all->changesSamples());
  EXPECT_FALSE(parseAugmentation("mixup:0.2,cutmix:1")->changesSamples());
  EXPECT_BAD_INPUT(parseAugmentation("mixup"), "ALPHA is missing; expected mixup:ALPHA");
  EXPECT_BAD_INPUT(parseAugmentation("mixup:0"), "0 is no number from 0.001 to 1000");
  EXPECT_BAD_INPUT(parseAugmentation("cutmix:-1"), "-1 is no number from 0.001 to 1000");
  EXPECT_BAD_INPUT(parseAugmentation("mixap:1"), "did you mean 'mixup'?");

  DataOptions options;
  options.augment = "mixup:0.5";
  auto data = openData(options, {{2, 2, 3}, 2}, 0);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->mixing.mixup, 0.5f);
  EXPECT_EQ(data->preparation, "in training augmented by mixup:0.5");
  options.augment = "mixup:0.5,flip";
  EXPECT_BAD_INPUT(openData(options, {{2, 2, 3}, 2}, 0),
                   "only mixup and cutmix are for any values");
  options.augment = "cutmix:1";
  EXPECT_BAD_INPUT(openData(options, {{16, 32}, 2}, 0), "cutmix cuts images");
}
