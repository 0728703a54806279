#include "runtime/data/Augmentation.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using namespace gc::runtime;

namespace {

const Normalization unitValues{{0.0f}, {1.0f}};

struct StoredCase {
  const char *op;
  int64_t magnitude;
  bool isNegative;
  const char *pixels; // hexadecimal
};
const StoredCase storedCases[] = {
#include "test/runtime/io/RandAugmentCases.inc"
};

const RandomOp *findOp(const std::string &name) {
  for (const RandomOp &op : randomOps())
    if (name == op.name)
      return &op;
  return nullptr;
}

/// An op, applied to a copy.
std::vector<uint8_t> made(const std::string &name, float strength, std::vector<uint8_t> pixels,
                          int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> spare(pixels.size(), 0xAA);
  BytePixels image{height, width, channels, pixels.data(), spare.data()};
  findOp(name)->apply(strength, image);
  return pixels;
}

using Bytes = std::vector<uint8_t>;

} // namespace

TEST(RandAugment, OpsAreThoseOfTorchvision) {
  constexpr int64_t height = 6, width = 7, channels = 3;
  Bytes plain;
  for (int i = 0; i < height * width * channels; ++i)
    plain.push_back(static_cast<uint8_t>((37 * i * i + 11 * i + 5) % 251));
  std::map<std::string, int> seen;
  for (const StoredCase &stored : storedCases) {
    const RandomOp *op = findOp(stored.op);
    ASSERT_TRUE(op) << stored.op;
    ++seen[stored.op];
    float strength = op->strength(stored.magnitude, {height, width, channels, nullptr, nullptr});
    Bytes result =
        made(stored.op, stored.isNegative ? -strength : strength, plain, height, width, channels);
    Bytes expected;
    for (const char *at = stored.pixels; *at; at += 2)
      expected.push_back(static_cast<uint8_t>(std::stoi(std::string(at, 2), nullptr, 16)));
    EXPECT_EQ(result, expected) << stored.op << " " << stored.magnitude << " " << stored.isNegative;
    EXPECT_FALSE(stored.isNegative && !op->isSigned) << stored.op;
  }
  seen["equalize"] = 1; // below: so few pixels stay as they are
  EXPECT_EQ(seen.size(), randomOps().size());
}

TEST(RandAugment, OpsByHand) {
  // Four values, 1024 times each: a step is 3072 / 255 = 12 pixels, and what has n pixels below
  // becomes (n + 6) / 12.
  Bytes quarters(4096);
  for (size_t i = 0; i < quarters.size(); ++i)
    quarters[i] = static_cast<uint8_t>(10 + 10 * (i % 4));
  Bytes equal = made("equalize", 0, quarters, 64, 64, 1);
  EXPECT_EQ(Bytes(equal.begin(), equal.begin() + 4), (Bytes{0, 85, 171, 255}));
  EXPECT_EQ(made("equalize", 0, Bytes(4096, 9), 64, 64, 1), Bytes(4096, 9));

  EXPECT_EQ(made("posterize", 4, {0, 15, 16, 255}, 1, 4, 1), (Bytes{0, 0, 16, 240}));
  EXPECT_EQ(made("posterize", 8, {0, 15, 16, 255}, 1, 4, 1), (Bytes{0, 15, 16, 255}));
  EXPECT_EQ(made("solarize", 128, {0, 127, 128, 255}, 1, 4, 1), (Bytes{0, 127, 127, 0}));
  EXPECT_EQ(made("solarize", 255, {0, 254, 255}, 1, 3, 1), (Bytes{0, 254, 0}));
  // 255 / 50 = 5.1 times what is above 50; a channel of one value stays.
  EXPECT_EQ(made("autocontrast", 0, {50, 7, 60, 7, 100, 7}, 1, 3, 2), (Bytes{0, 7, 51, 7, 255, 7}));
  EXPECT_EQ(made("brightness", 0.5f, {0, 101, 200}, 1, 3, 1), (Bytes{0, 151, 255}));
  // A mean of 100: 0.5 * 40 + 0.5 * 100, and 1.5 * 40 - 0.5 * 100.
  EXPECT_EQ(made("contrast", -0.5f, {40, 160}, 1, 2, 1), (Bytes{70, 130}));
  EXPECT_EQ(made("contrast", 0.5f, {40, 160}, 1, 2, 1), (Bytes{10, 190}));
  // Grey is 0.2989 * 100 + 0.587 * 200 = 147.29, cut to 147.
  EXPECT_EQ(made("colour", -0.5f, {100, 200, 0}, 1, 1, 3), (Bytes{123, 173, 73}));
  EXPECT_EQ(made("colour", -0.5f, {100, 200}, 1, 2, 1), (Bytes{100, 200}));
  EXPECT_EQ(made("translate-x", 1.9f, {1, 2, 3}, 1, 3, 1), (Bytes{0, 1, 2}));
  EXPECT_EQ(made("translate-y", -1, {1, 2, 3}, 3, 1, 1), (Bytes{2, 3, 0}));
  EXPECT_EQ(made("translate-x", 200, {1, 2, 3}, 1, 3, 1), (Bytes{0, 0, 0}));
  // x + 0.6 (y + 0.5): by 0.3 and 0.9 pixels.
  EXPECT_EQ(made("shear-x", 0.6f, {1, 2, 3, 4}, 2, 2, 1), (Bytes{1, 2, 4, 0}));
  EXPECT_EQ(made("rotate", 90, {1, 2, 3, 4}, 2, 2, 1), (Bytes{2, 4, 1, 3}));
  // (5 * 130 + 0) / 13 = 50 in the middle; 1.5 * 130 - 0.5 * 50.
  EXPECT_EQ(made("sharpness", 0.5f, {0, 0, 0, 0, 130, 0, 0, 0, 0}, 3, 3, 1),
            (Bytes{0, 0, 0, 0, 170, 0, 0, 0, 0}));
  EXPECT_EQ(made("sharpness", 0.5f, {0, 130, 0, 9}, 2, 2, 1), (Bytes{0, 130, 0, 9}));
}

TEST(RandAugment, MagnitudesReachTheEndsOfTheirRanges) {
  BytePixels image{331, 662, 3, nullptr, nullptr};
  for (auto [name, least, most] : {std::tuple("shear-x", 0.0f, 0.3f),
                                   {"translate-x", 0.0f, 300.0f},
                                   {"translate-y", 0.0f, 150.0f},
                                   {"rotate", 0.0f, 30.0f},
                                   {"sharpness", 0.0f, 0.9f},
                                   {"posterize", 8.0f, 4.0f},
                                   {"solarize", 255.0f, 0.0f},
                                   {"equalize", 0.0f, 0.0f}}) {
    EXPECT_FLOAT_EQ(findOp(name)->strength(0, image), least) << name;
    EXPECT_FLOAT_EQ(findOp(name)->strength(30, image), most) << name;
  }
  EXPECT_EQ(findOp("posterize")->strength(9, image), 7);
}

TEST(RandAugment, DrawsEveryOpAndSignAsOften) {
  // Sixteen pixels in colour, of which every op but equalize makes something else.
  constexpr int64_t side = 4, channels = 3;
  Bytes plain;
  for (int i = 0; i < side * side * channels; ++i)
    plain.push_back(static_cast<uint8_t>((37 * i * i + 11 * i + 5) % 251));
  std::map<Bytes, std::string> known;
  std::vector<float> values;
  for (uint8_t byte : plain)
    values.push_back(static_cast<float>(byte) / 255);
  for (const RandomOp &op : randomOps()) {
    float strength = op.strength(30, {side, side, channels, nullptr, nullptr});
    for (float sign : {1.0f, -1.0f})
      if (sign > 0 || op.isSigned)
        known.try_emplace(made(op.name, sign * strength, plain, side, side, channels),
                          op.name + std::string(sign > 0 ? "" : "-"));
  }
  ASSERT_EQ(known.size(), 9 * 2 + 4); // identity and equalize are one
  Augmenter augmenter(*parseAugmentation("rand-augment:1:30"), 7, side, side, channels);
  std::map<std::string, int> drawn;
  constexpr int samples = 7000;
  for (int64_t i = 0; i < samples; ++i) {
    std::vector<float> sample = values, copy(values.size());
    augmenter.apply(i, 3, unitValues, sample.data(), copy.data());
    Bytes bytes;
    for (float value : sample)
      bytes.push_back(static_cast<uint8_t>(std::lround(value * 255)));
    ASSERT_TRUE(known.contains(bytes));
    ++drawn[known[bytes]];
  }
  for (auto &[bytes, name] : known) {
    double share = name == "identity"                        ? 2.0 / 14
                   : findOp(name) && !findOp(name)->isSigned ? 1.0 / 14
                                                             : 0.5 / 14;
    EXPECT_NEAR(drawn[name], samples * share, 5 * std::sqrt(samples * share)) << name;
  }
}

TEST(RandAugment, IsParsedOrRefused) {
  EXPECT_EQ(parseAugmentation("rand-augment")->text(), "rand-augment:2:9");
  EXPECT_EQ(parseAugmentation("rand-augment:5:0")->text(), "rand-augment:5:0");
  EXPECT_BAD_INPUT(parseAugmentation("rand-augment:0"), "0 is no number from 1 to 100");
  EXPECT_BAD_INPUT(parseAugmentation("rand-augment:2:31"), "31 is no number from 0 to 30");
  EXPECT_BAD_INPUT(parseAugmentation("rand-augment:2.5"), "OPS is not whole");
  EXPECT_BAD_INPUT(parseAugmentation("rand-augment:2:1.5"), "MAGNITUDE is not whole");
  EXPECT_BAD_INPUT(parseAugmentation("randaugment"), "did you mean 'rand-augment'?");
}
