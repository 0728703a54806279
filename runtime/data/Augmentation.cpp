#include "runtime/data/Augmentation.h"

#include "runtime/data/Draws.h"
#include "runtime/data/ListText.h"
#include "runtime/process/Nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace gc::runtime {

namespace {

/// A number of an op's, and where it may lie.
struct OpValue {
  const char *name;
  float least, most;
  std::optional<float> standard; // what it is where it is not given; nothing: it must be
  bool isWhole = false;
};

struct OpRule {
  const char *name;
  std::vector<OpValue> values;
  void (*take)(Augmentation &, const std::vector<float> &);
};

/// Of a Beta distribution: beyond, all values are 0 and 1, or one half.
constexpr float kLeastAlpha = 1e-3f, kMostAlpha = 1e3f;

const std::vector<OpRule> &opRules() {
  constexpr float most = std::numeric_limits<float>::max();
  static const std::vector<OpRule> rules = {
      {"random-resized-crop",
       {{"LEAST-AREA", 1e-4f, 1, 0.08f}},
       [](Augmentation &a, const std::vector<float> &v) { a.crop = v[0]; }},
      {"shift-crop",
       {{"PIXELS", 1, 65535, std::nullopt, true}},
       [](Augmentation &a, const std::vector<float> &v) { a.shift = static_cast<int64_t>(v[0]); }},
      {"flip",
       {{"PROBABILITY", 0, 1, 0.5f}},
       [](Augmentation &a, const std::vector<float> &v) { a.flip = v[0]; }},
      {"rotate",
       {{"DEGREES", 0, 180, std::nullopt}},
       [](Augmentation &a, const std::vector<float> &v) { a.rotate = v[0]; }},
      {"colour-jitter",
       {{"BRIGHTNESS", 0, most, std::nullopt},
        {"CONTRAST", 0, most, 0},
        {"SATURATION", 0, most, 0}},
       [](Augmentation &a, const std::vector<float> &v) {
         a.brightness = v[0];
         a.contrast = v[1];
         a.saturation = v[2];
       }},
      {"rand-augment",
       {{"OPS", 1, RandAugment::kMostOps, 2, true},
        {"MAGNITUDE", 0, RandAugment::kMostMagnitude, 9, true}},
       [](Augmentation &a, const std::vector<float> &v) {
         a.random = RandAugment{static_cast<int64_t>(v[0]), static_cast<int64_t>(v[1])};
       }},
      {"erase",
       {{"PROBABILITY", 0, 1, 0.5f}},
       [](Augmentation &a, const std::vector<float> &v) { a.erase = v[0]; }},
      {"mixup",
       {{"ALPHA", kLeastAlpha, kMostAlpha, std::nullopt}},
       [](Augmentation &a, const std::vector<float> &v) { a.mixing.mixup = v[0]; }},
      {"cutmix",
       {{"ALPHA", kLeastAlpha, kMostAlpha, std::nullopt}},
       [](Augmentation &a, const std::vector<float> &v) { a.mixing.cutmix = v[0]; }}};
  return rules;
}

std::string usage(const OpRule &rule) {
  std::string text = rule.name;
  for (const OpValue &value : rule.values)
    text +=
        fmt::format("{}:{}{}", value.standard ? "[" : "", value.name, value.standard ? "]" : "");
  return text;
}

Status takeOp(const std::string &part, Augmentation &into, std::vector<std::string> &taken) {
  std::vector<std::string> pieces = splitText(part, ':');
  std::vector<std::string> names;
  const OpRule *rule = nullptr;
  for (const OpRule &known : opRules()) {
    names.push_back(known.name);
    if (known.name == pieces[0])
      rule = &known;
  }
  if (!rule)
    return badInput(fmt::format("--augment: there is no augmentation '{}' (there are {}){}",
                                pieces[0], fmt::join(names, ", "),
                                didYouMean(nearestName(pieces[0], names))));
  auto bad = [&](const std::string &what) {
    return badInput(fmt::format("--augment: '{}': {}; expected {}", part, what, usage(*rule)));
  };
  if (std::find(taken.begin(), taken.end(), rule->name) != taken.end())
    return bad("it is there twice");
  taken.push_back(rule->name);
  if (pieces.size() - 1 > rule->values.size())
    return bad("it has too many values");
  std::vector<float> values;
  for (size_t i = 0; i < rule->values.size(); ++i) {
    const OpValue &value = rule->values[i];
    std::optional<float> number = value.standard;
    if (i + 1 < pieces.size())
      number = parseNumber(pieces[i + 1]);
    else if (!number)
      return bad(fmt::format("{} is missing", value.name));
    if (!number || *number < value.least || *number > value.most)
      return bad(
          fmt::format("{} is no number from {} to {}", pieces[i + 1], value.least, value.most));
    if (value.isWhole && *number != std::floor(*number))
      return bad(fmt::format("{} is not whole", value.name));
    values.push_back(*number);
  }
  rule->take(into, values);
  return {};
}

struct Area {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

/// A rectangle whose share of the area and ratio of sides are drawn, the latter evenly in its
/// logarithm; nothing where ten tries do not fit. As torchvision draws them.
std::optional<Area> drawArea(const Draws &draws, Draws::Op op, int64_t height, int64_t width,
                             float leastShare, float mostShare, float leastRatio, float mostRatio) {
  for (uint32_t attempt = 0; attempt < 10; ++attempt) {
    float area = static_cast<float>(height) * static_cast<float>(width) *
                 draws.between(leastShare, mostShare, op, 8 * attempt);
    float ratio = std::exp(draws.between(std::log(leastRatio), std::log(mostRatio), op,
                                         8 * attempt + 1)); // width over height
    Area found;
    found.width = std::lround(std::sqrt(area * ratio));
    found.height = std::lround(std::sqrt(area / ratio));
    if (found.width < 1 || found.height < 1 || found.width > width || found.height > height)
      continue;
    found.top = draws.whole(0, height - found.height, op, 8 * attempt + 2);
    found.left = draws.whole(0, width - found.width, op, 8 * attempt + 3);
    return found;
  }
  return std::nullopt;
}

float clampUnit(float value) { return std::clamp(value, 0.0f, 1.0f); }

float greyOf(const float *pixel, int64_t channels) {
  return channels == 3 ? 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2] : pixel[0];
}

} // namespace

std::string Augmentation::text() const {
  std::vector<std::string> parts;
  if (crop)
    parts.push_back(fmt::format("random-resized-crop:{}", *crop));
  if (shift > 0)
    parts.push_back(fmt::format("shift-crop:{}", shift));
  if (flip > 0)
    parts.push_back(fmt::format("flip:{}", flip));
  if (rotate > 0)
    parts.push_back(fmt::format("rotate:{}", rotate));
  if (brightness > 0 || contrast > 0 || saturation > 0)
    parts.push_back(fmt::format("colour-jitter:{}:{}:{}", brightness, contrast, saturation));
  if (random)
    parts.push_back(fmt::format("rand-augment:{}:{}", random->ops, random->magnitude));
  if (erase > 0)
    parts.push_back(fmt::format("erase:{}", erase));
  if (mixing.mixup)
    parts.push_back(fmt::format("mixup:{}", *mixing.mixup));
  if (mixing.cutmix)
    parts.push_back(fmt::format("cutmix:{}", *mixing.cutmix));
  return fmt::format("{}", fmt::join(parts, ","));
}

bool Augmentation::changesSamples() const {
  Augmentation others = *this;
  others.mixing = {};
  return others.any();
}

Result<Augmentation> parseAugmentation(const std::string &text) {
  Augmentation augmentation;
  std::vector<std::string> taken;
  for (const std::string &part : splitText(text, ','))
    if (Status done = takeOp(part, augmentation, taken); !done)
      return done.error();
  return augmentation;
}

CropBox Augmenter::box(int64_t index, uint64_t epoch, int64_t sourceHeight,
                       int64_t sourceWidth) const {
  Area area{0, 0, sourceHeight, sourceWidth};
  if (ops.crop) {
    constexpr float leastRatio = 3.0f / 4, mostRatio = 4.0f / 3;
    Draws draws(seed, index, epoch);
    if (std::optional<Area> drawn = drawArea(draws, Draws::Crop, sourceHeight, sourceWidth,
                                             *ops.crop, 1, leastRatio, mostRatio)) {
      area = *drawn;
    } else { // the middle, at the nearest ratio
      float ratio = static_cast<float>(sourceWidth) / static_cast<float>(sourceHeight);
      if (ratio < leastRatio)
        area.height = std::lround(static_cast<float>(sourceWidth) / leastRatio);
      else if (ratio > mostRatio)
        area.width = std::lround(static_cast<float>(sourceHeight) * mostRatio);
      area.top = (sourceHeight - area.height) / 2;
      area.left = (sourceWidth - area.width) / 2;
    }
  }
  return {{static_cast<float>(area.top), static_cast<float>(area.height)},
          {static_cast<float>(area.left), static_cast<float>(area.width)}};
}

void Augmenter::apply(int64_t index, uint64_t epoch, const Normalization &normalization,
                      float *sample, float *copy) const {
  Draws draws(seed, index, epoch);
  if (ops.shift > 0)
    shiftBy(draws.whole(-ops.shift, ops.shift, Draws::Shift, 0),
            draws.whole(-ops.shift, ops.shift, Draws::Shift, 1), sample, copy);
  if (draws.unit(Draws::Flip, 0) < ops.flip)
    mirror(sample);
  if (ops.rotate > 0)
    turn(draws.between(-ops.rotate, ops.rotate, Draws::Rotate, 0), sample, copy);
  auto factor = [&](float spread, uint32_t number) {
    return draws.between(std::max(0.0f, 1 - spread), 1 + spread, Draws::Jitter, number);
  };
  if (ops.brightness > 0 || ops.contrast > 0 || ops.saturation > 0)
    jitter(factor(ops.brightness, 0), factor(ops.contrast, 1), factor(ops.saturation, 2), sample);
  if (ops.random)
    randomOps(draws, sample, copy);
  for (int64_t i = 0; i < height * width; ++i)
    for (int64_t channel = 0; channel < channels; ++channel) {
      float &value = sample[i * channels + channel];
      value = normalization.of(value, channel);
    }
  if (draws.unit(Draws::Erase, 100) < ops.erase)
    if (std::optional<Area> area =
            drawArea(draws, Draws::Erase, height, width, 0.02f, 0.33f, 0.3f, 3.3f))
      for (int64_t y = area->top; y < area->top + area->height; ++y)
        std::fill_n(sample + (y * width + area->left) * channels, area->width * channels, 0.0f);
}

/// What comes in from outside is black.
void Augmenter::shiftBy(int64_t down, int64_t right, float *sample, float *copy) const {
  std::copy_n(sample, height * width * channels, copy);
  std::fill_n(sample, height * width * channels, 0.0f);
  int64_t kept = std::max<int64_t>(0, width - std::abs(right));
  for (int64_t y = std::max<int64_t>(0, down); y < std::min(height, height + down); ++y)
    std::copy_n(copy + ((y - down) * width + std::max<int64_t>(0, -right)) * channels,
                kept * channels,
                sample + (y * width + std::min(width, std::max<int64_t>(0, right))) * channels);
}

void Augmenter::mirror(float *sample) const {
  for (int64_t y = 0; y < height; ++y)
    for (int64_t left = 0, right = width - 1; left < right; ++left, --right)
      std::swap_ranges(sample + (y * width + left) * channels,
                       sample + (y * width + left + 1) * channels,
                       sample + (y * width + right) * channels);
}

/// About the centre, bilinear; what comes in from outside is black.
void Augmenter::turn(float degrees, float *sample, float *copy) const {
  std::copy_n(sample, height * width * channels, copy);
  const float angle = degrees * std::numbers::pi_v<float> / 180;
  const float cosine = std::cos(angle), sine = std::sin(angle);
  const float middleX = static_cast<float>(width - 1) / 2;
  const float middleY = static_cast<float>(height - 1) / 2;
  auto at = [&](int64_t y, int64_t x, int64_t channel) {
    bool isInside = y >= 0 && y < height && x >= 0 && x < width;
    return isInside ? copy[(y * width + x) * channels + channel] : 0.0f;
  };
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      float right = static_cast<float>(x) - middleX, down = static_cast<float>(y) - middleY;
      float fromX = cosine * right + sine * down + middleX;
      float fromY = cosine * down - sine * right + middleY;
      int64_t x0 = static_cast<int64_t>(std::floor(fromX));
      int64_t y0 = static_cast<int64_t>(std::floor(fromY));
      float weightX = fromX - static_cast<float>(x0), weightY = fromY - static_cast<float>(y0);
      for (int64_t c = 0; c < channels; ++c) {
        float above = (1 - weightX) * at(y0, x0, c) + weightX * at(y0, x0 + 1, c);
        float below = (1 - weightX) * at(y0 + 1, x0, c) + weightX * at(y0 + 1, x0 + 1, c);
        sample[(y * width + x) * channels + c] = (1 - weightY) * above + weightY * below;
      }
    }
}

void Augmenter::jitter(float brightness, float contrast, float saturation, float *sample) const {
  const int64_t pixels = height * width;
  double sum = 0;
  for (int64_t i = 0; i < pixels * channels; ++i)
    sample[i] = clampUnit(sample[i] * brightness);
  for (int64_t i = 0; i < pixels; ++i)
    sum += greyOf(sample + i * channels, channels);
  const float mean = static_cast<float>(sum / static_cast<double>(pixels));
  for (int64_t i = 0; i < pixels; ++i) {
    float *pixel = sample + i * channels;
    for (int64_t c = 0; c < channels; ++c)
      pixel[c] = clampUnit(mean + contrast * (pixel[c] - mean));
    if (channels != 3)
      continue;
    const float grey = greyOf(pixel, channels);
    for (int64_t c = 0; c < channels; ++c)
      pixel[c] = clampUnit(grey + saturation * (pixel[c] - grey));
  }
}

/// In bytes, which `copy` has room for.
void Augmenter::randomOps(const Draws &draws, float *sample, float *copy) const {
  BytePixels image{height, width, channels, reinterpret_cast<uint8_t *>(copy), nullptr};
  image.spare = image.pixels + image.size();
  for (int64_t i = 0; i < image.size(); ++i)
    image.pixels[i] = static_cast<uint8_t>(std::lround(clampUnit(sample[i]) * 255));
  applyRandAugment(*ops.random, draws, image);
  for (int64_t i = 0; i < image.size(); ++i)
    sample[i] = static_cast<float>(image.pixels[i]) / 255;
}

} // namespace gc::runtime
