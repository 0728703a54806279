#include "runtime/weights/Initializer.h"

#include "runtime/weights/Philox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gc::runtime {

/// The share of a normal distribution below x.
static double normalBelow(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

Status checkInitialValues(const InitialValues &v, std::string_view name) {
  auto bad = [&](const char *what) {
    return badInput(fmt::format("the initializer of '{}' {}", name, what));
  };
  if (!std::isfinite(v.a) || !std::isfinite(v.b) || !std::isfinite(v.c) || !std::isfinite(v.d))
    return bad("has a number that is not finite");
  switch (v.distribution) {
  case InitialDistribution::Constant:
    return {};
  case InitialDistribution::Uniform:
    return v.a <= v.b ? Status() : bad("has an empty range");
  case InitialDistribution::Normal:
    return v.b >= 0 ? Status() : bad("has a negative deviation");
  case InitialDistribution::TruncatedNormal:
    if (v.b <= 0)
      return bad("has a deviation that is not positive");
    // Values outside are drawn again, which must end soon.
    if (!(v.c < v.d) || normalBelow((v.d - v.a) / v.b) - normalBelow((v.c - v.a) / v.b) < 1e-3)
      return bad("cuts its normal distribution to almost nothing");
    return {};
  }
  return bad("has an unknown kind");
}

/// In [0, 1), on a grid of 2^-24, which f32 holds exactly.
static double unit(uint32_t word) { return (word >> 8) * 0x1p-24; }

/// Box-Muller: two independent normal values out of two words. In f32, which is what is drawn, and
/// several times faster: VGG-16 has 138 million of them.
static void normalPair(uint32_t word0, uint32_t word1, double *pair) {
  float radius = std::sqrt(-2 * std::log((static_cast<float>(word0) + 1.0f) * 0x1p-32f));
  float angle = static_cast<float>(2 * std::numbers::pi * 0x1p-32) * static_cast<float>(word1);
  pair[0] = radius * std::cos(angle);
  pair[1] = radius * std::sin(angle);
}

static void drawBlock(const InitialValues &v, const Philox &generator, uint64_t block,
                      float *target) {
  Philox::Block words = generator(block);
  if (v.distribution == InitialDistribution::Uniform) {
    for (int lane = 0; lane < 4; ++lane) {
      float value = static_cast<float>(v.a + (v.b - v.a) * unit(words[lane]));
      // Rounding to f32 may reach the open end.
      target[lane] = value < static_cast<float>(v.b) ? value : static_cast<float>(v.a);
    }
    return;
  }
  double normal[4];
  normalPair(words[0], words[1], normal);
  normalPair(words[2], words[3], normal + 2);
  for (int lane = 0; lane < 4; ++lane) {
    double value = v.a + v.b * normal[lane];
    if (v.distribution == InitialDistribution::TruncatedNormal) {
      // Attempt n of a lane has a counter of its own, so one lane's bad luck moves no other.
      for (uint64_t attempt = 1; value < v.c || value > v.d; ++attempt) {
        Philox::Block again = generator(block, attempt);
        double pair[2];
        normalPair(again[lane & 2], again[(lane & 2) + 1], pair);
        value = v.a + v.b * pair[lane & 1];
      }
    }
    target[lane] = static_cast<float>(value);
  }
}

void drawInitialValues(const InitialValues &v, uint64_t seed, std::string_view name, uint64_t first,
                       size_t count, float *target) {
  if (v.distribution == InitialDistribution::Constant) {
    std::fill_n(target, count, static_cast<float>(v.a));
    return;
  }
  Philox generator(mixKey(seed, hashName(name)));
  for (size_t done = 0; done < count;) {
    uint64_t element = first + done;
    size_t lane = element % 4, part = std::min<size_t>(4 - lane, count - done);
    float block[4];
    drawBlock(v, generator, element / 4, block);
    std::copy_n(block + lane, part, target + done);
    done += part;
  }
}

} // namespace gc::runtime
