#include "runtime/data/RandAugment.h"

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

namespace gc::runtime {

namespace {

/// Element `magnitude` of so many evenly spaced values, in f32 as torch.linspace computes it.
float evenly(float first, float last, int64_t magnitude) {
  constexpr int64_t steps = RandAugment::kMostMagnitude;
  const float step = (last - first) / steps;
  return magnitude < (steps + 1) / 2 ? std::fma(step, static_cast<float>(magnitude), first)
                                     : std::fma(-step, static_cast<float>(steps - magnitude), last);
}

float noStrength(int64_t, const BytePixels &) { return 0; }
float shearStrength(int64_t magnitude, const BytePixels &) { return evenly(0, 0.3f, magnitude); }
float turnStrength(int64_t magnitude, const BytePixels &) { return evenly(0, 30, magnitude); }
float factorStrength(int64_t magnitude, const BytePixels &) { return evenly(0, 0.9f, magnitude); }
float moveStrength(int64_t magnitude, int64_t size) {
  return evenly(0, static_cast<float>(150.0 / 331.0 * static_cast<double>(size)), magnitude);
}
float moveXStrength(int64_t magnitude, const BytePixels &image) {
  return moveStrength(magnitude, image.width);
}
float moveYStrength(int64_t magnitude, const BytePixels &image) {
  return moveStrength(magnitude, image.height);
}
float bitsStrength(int64_t magnitude, const BytePixels &) {
  return 8 - std::nearbyint(static_cast<float>(magnitude) / 7.5f);
}
float solarizeStrength(int64_t magnitude, const BytePixels &) { return evenly(255, 0, magnitude); }

void keep(float, BytePixels &) {}

/// Every pixel becomes the one that is nearest to `source(x, y)`, black where that lies outside.
/// Positions are those of pixels' centres; halfway it is the even one.
template <typename Source> void place(BytePixels &image, Source source) {
  std::memcpy(image.spare, image.pixels, static_cast<size_t>(image.size()));
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x) {
      auto [fromX, fromY] = source(static_cast<double>(x), static_cast<double>(y));
      auto column = static_cast<int64_t>(std::nearbyint(fromX));
      auto row = static_cast<int64_t>(std::nearbyint(fromY));
      uint8_t *pixel = image.pixels + (y * image.width + x) * image.channels;
      const auto bytes = static_cast<size_t>(image.channels);
      if (column < 0 || column >= image.width || row < 0 || row >= image.height)
        std::memset(pixel, 0, bytes);
      else
        std::memcpy(pixel, image.spare + (row * image.width + column) * image.channels, bytes);
    }
}

using Position = std::pair<double, double>; // x, y

/// About the corner at the top left.
void shearX(float by, BytePixels &image) {
  place(image, [by](double x, double y) { return Position(x + by * (y + 0.5), y); });
}
void shearY(float by, BytePixels &image) {
  place(image, [by](double x, double y) { return Position(x, y + by * (x + 0.5)); });
}

void moveX(float by, BytePixels &image) {
  place(image, [by](double x, double y) { return Position(x - std::trunc(by), y); });
}
void moveY(float by, BytePixels &image) {
  place(image, [by](double x, double y) { return Position(x, y - std::trunc(by)); });
}

/// Against the clock, about the centre.
void turnBy(float degrees, BytePixels &image) {
  const double angle = degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double middleX = static_cast<double>(image.width - 1) / 2;
  const double middleY = static_cast<double>(image.height - 1) / 2;
  place(image, [=](double x, double y) {
    const double right = x - middleX, down = y - middleY;
    return Position(cosine * right - sine * down + middleX, sine * right + cosine * down + middleY);
  });
}

/// ratio * value + (1 - ratio) * other, cut to a byte.
uint8_t blend(float value, float other, float ratio, float rest) {
  return static_cast<uint8_t>(std::clamp(ratio * value + rest * other, 0.0f, 255.0f));
}

/// Blends an image with another one, which `otherAt(element)` gives.
template <typename Other> void blendWith(float strength, BytePixels &image, Other otherAt) {
  const double ratio = 1.0 + static_cast<double>(strength);
  const auto own = static_cast<float>(ratio), rest = static_cast<float>(1.0 - ratio);
  for (int64_t i = 0; i < image.size(); ++i)
    image.pixels[i] = blend(image.pixels[i], otherAt(i), own, rest);
}

uint8_t greyAt(const BytePixels &image, int64_t pixel) {
  const uint8_t *at = image.pixels + pixel * image.channels;
  return image.channels == 3 ? static_cast<uint8_t>(0.2989f * static_cast<float>(at[0]) +
                                                    0.587f * static_cast<float>(at[1]) +
                                                    0.114f * static_cast<float>(at[2]))
                             : at[0];
}

void brighten(float strength, BytePixels &image) {
  blendWith(strength, image, [](int64_t) { return 0.0f; });
}

/// With its grey.
void colour(float strength, BytePixels &image) {
  if (image.channels == 1)
    return;
  for (int64_t pixel = 0; pixel < image.height * image.width; ++pixel)
    image.spare[pixel] = greyAt(image, pixel);
  blendWith(strength, image,
            [&](int64_t i) { return static_cast<float>(image.spare[i / image.channels]); });
}

/// With the mean of its grey.
void contrast(float strength, BytePixels &image) {
  uint64_t sum = 0;
  const int64_t pixels = image.height * image.width;
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    sum += greyAt(image, pixel);
  const float mean = static_cast<float>(sum) / static_cast<float>(pixels);
  blendWith(strength, image, [mean](int64_t) { return mean; });
}

/// With itself blurred by 3 x 3, the centre weighing 5; its edge is as it was.
void sharpen(float strength, BytePixels &image) {
  if (image.height <= 2 || image.width <= 2)
    return;
  std::memcpy(image.spare, image.pixels, static_cast<size_t>(image.size()));
  const int64_t row = image.width * image.channels;
  for (int64_t y = 1; y < image.height - 1; ++y)
    for (int64_t i = y * row + image.channels; i < (y + 1) * row - image.channels; ++i) {
      int64_t sum = 4 * int64_t{image.pixels[i]};
      for (int64_t down = -row; down <= row; down += row)
        for (int64_t right = -image.channels; right <= image.channels; right += image.channels)
          sum += image.pixels[i + down + right];
      image.spare[i] = static_cast<uint8_t>((2 * sum + 13) / 26); // to the nearest; never halfway
    }
  blendWith(strength, image, [&](int64_t i) { return static_cast<float>(image.spare[i]); });
}

void posterize(float bits, BytePixels &image) {
  const auto mask = static_cast<uint8_t>(0xFF << (8 - static_cast<int>(bits)));
  for (int64_t i = 0; i < image.size(); ++i)
    image.pixels[i] &= mask;
}

void solarize(float threshold, BytePixels &image) {
  for (int64_t i = 0; i < image.size(); ++i)
    if (static_cast<float>(image.pixels[i]) >= threshold)
      image.pixels[i] = static_cast<uint8_t>(255 - image.pixels[i]);
}

/// Each channel from 0 to 255, unless it has one value alone.
void autocontrast(float, BytePixels &image) {
  for (int64_t c = 0; c < image.channels; ++c) {
    uint8_t least = 255, most = 0;
    for (int64_t i = c; i < image.size(); i += image.channels) {
      least = std::min(least, image.pixels[i]);
      most = std::max(most, image.pixels[i]);
    }
    if (least == most)
      continue;
    const float scale = 255.0f / static_cast<float>(most - least);
    for (int64_t i = c; i < image.size(); i += image.channels)
      image.pixels[i] = static_cast<uint8_t>(
          std::min(255.0f, static_cast<float>(image.pixels[i] - least) * scale));
  }
}

/// Each channel so that its values are equally frequent, as far as that goes.
void equalize(float, BytePixels &image) {
  for (int64_t c = 0; c < image.channels; ++c) {
    std::array<int64_t, 256> count{};
    for (int64_t i = c; i < image.size(); i += image.channels)
      ++count[image.pixels[i]];
    size_t brightest = 255;
    while (count[brightest] == 0)
      --brightest;
    const int64_t step = (image.height * image.width - count[brightest]) / 255;
    if (step == 0)
      continue;
    std::array<uint8_t, 256> becomes;
    int64_t below = 0;
    for (size_t value = 0; value < count.size(); below += count[value++])
      becomes[value] = static_cast<uint8_t>(std::min<int64_t>(255, (below + step / 2) / step));
    for (int64_t i = c; i < image.size(); i += image.channels)
      image.pixels[i] = becomes[image.pixels[i]];
  }
}

} // namespace

std::span<const RandomOp> randomOps() {
  static constexpr RandomOp ops[] = {{"identity", false, noStrength, keep},
                                     {"shear-x", true, shearStrength, shearX},
                                     {"shear-y", true, shearStrength, shearY},
                                     {"translate-x", true, moveXStrength, moveX},
                                     {"translate-y", true, moveYStrength, moveY},
                                     {"rotate", true, turnStrength, turnBy},
                                     {"brightness", true, factorStrength, brighten},
                                     {"colour", true, factorStrength, colour},
                                     {"contrast", true, factorStrength, contrast},
                                     {"sharpness", true, factorStrength, sharpen},
                                     {"posterize", false, bitsStrength, posterize},
                                     {"solarize", false, solarizeStrength, solarize},
                                     {"autocontrast", false, noStrength, autocontrast},
                                     {"equalize", false, noStrength, equalize}};
  return ops;
}

void applyRandAugment(const RandAugment &wish, const Draws &draws, BytePixels &image) {
  std::span<const RandomOp> ops = randomOps();
  for (uint32_t i = 0; i < static_cast<uint32_t>(wish.ops); ++i) {
    const RandomOp &op = ops[static_cast<size_t>(
        draws.whole(0, static_cast<int64_t>(ops.size()) - 1, Draws::Rand, 2 * i))];
    const bool isNegative = op.isSigned && draws.unit(Draws::Rand, 2 * i + 1) < 0.5f;
    const float strength = op.strength(wish.magnitude, image);
    op.apply(isNegative ? -strength : strength, image);
  }
}

} // namespace gc::runtime
