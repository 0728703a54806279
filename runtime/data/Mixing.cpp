#include "runtime/data/Mixing.h"

#include "runtime/weights/Philox.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace gc::runtime {

namespace {

/// What is drawn for a micro-batch.
class MixDraws {
public:
  enum Purpose : uint32_t { Kind, FirstGamma, SecondGamma, Centre };

  MixDraws(uint64_t seed, uint64_t microBatch)
      : generator(mixKey(seed, hashName("mix"))), microBatch(microBatch) {}

  /// In (0, 1).
  double unit(Purpose purpose, uint32_t number, size_t word) const {
    Philox::Block block = generator(Philox::Block{static_cast<uint32_t>(microBatch),
                                                  static_cast<uint32_t>(microBatch >> 32),
                                                  static_cast<uint32_t>(purpose), number});
    return (block[word] + 0.5) * 0x1p-32;
  }
  /// A whole number in [0, count).
  int64_t whole(int64_t count, Purpose purpose, size_t word) const {
    return std::min(count - 1,
                    static_cast<int64_t>(static_cast<double>(count) * unit(purpose, 0, word)));
  }

private:
  Philox generator;
  uint64_t microBatch;
};

/// The logarithm of a value of Gamma(shape, 1), by Marsaglia and Tsang (2000). Below 1 the value of
/// shape + 1 times u^(1 / shape), which may be too small for a double: hence the logarithm.
double logOfGamma(double shape, const MixDraws &draws, MixDraws::Purpose purpose) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  for (uint32_t attempt = 0;; ++attempt) {
    auto unit = [&](size_t word) { return draws.unit(purpose, attempt, word); };
    double normal = std::sqrt(-2 * std::log(unit(0))) * std::cos(2 * std::numbers::pi * unit(1));
    double root = 1 + normal / std::sqrt(9 * d);
    double v = root * root * root;
    if (v <= 0 || std::log(unit(2)) >= normal * normal / 2 + d - d * v + d * std::log(v))
      continue;
    double value = std::log(d * v);
    return shape < 1 ? value + std::log(unit(3)) / shape : value;
  }
}

/// x / (x + y) of two values of Gamma(alpha, 1).
double drawBeta(double alpha, const MixDraws &draws) {
  double x = logOfGamma(alpha, draws, MixDraws::FirstGamma);
  double y = logOfGamma(alpha, draws, MixDraws::SecondGamma);
  return 1 / (1 + std::exp(y - x));
}

} // namespace

Mixer::Mixer(const Mixing &wish, std::vector<int64_t> sampleShape, uint64_t seed)
    : wish(wish), shape(std::move(sampleShape)), seed(seed) {
  for (int64_t dimension : shape)
    elements *= dimension;
}

MixDraw Mixer::draw(uint64_t microBatch) const {
  MixDraws draws(seed, microBatch);
  MixDraw drawn;
  drawn.cuts = wish.cutmix && (!wish.mixup || draws.unit(MixDraws::Kind, 0, 0) < 0.5);
  const double share = drawBeta(drawn.cuts ? *wish.cutmix : *wish.mixup, draws);
  drawn.share = static_cast<float>(share);
  if (!drawn.cuts)
    return drawn;
  // A rectangle with the ratio of the image and 1 - share of its area, about a centre that may lie
  // anywhere; what sticks out is cut off, and the share is that of what is left.
  const double side = std::sqrt(1 - share);
  auto cut = [&](int64_t size, size_t word, int64_t &begin, int64_t &length) {
    const int64_t half = static_cast<int64_t>(static_cast<double>(size) * side) / 2;
    const int64_t centre = draws.whole(size, MixDraws::Centre, word);
    begin = std::max<int64_t>(0, centre - half);
    length = std::min(size, centre + half) - begin;
  };
  cut(shape[0], 0, drawn.top, drawn.height);
  cut(shape[1], 1, drawn.left, drawn.width);
  drawn.share = static_cast<float>(1 - static_cast<double>(drawn.height * drawn.width) /
                                           static_cast<double>(shape[0] * shape[1]));
  return drawn;
}

void Mixer::mix(const MixDraw &draw, float *one, float *other) const {
  if (draw.cuts) {
    const int64_t channels = shape[2], row = shape[1] * channels;
    for (int64_t y = draw.top; y < draw.top + draw.height; ++y) {
      const int64_t begin = y * row + draw.left * channels;
      std::swap_ranges(one + begin, one + begin + draw.width * channels, other + begin);
    }
    return;
  }
  const float share = draw.share, rest = 1 - draw.share;
  for (int64_t i = 0; i < elements; ++i) {
    const float first = one[i], second = other[i];
    one[i] = share * first + rest * second;
    other[i] = share * second + rest * first;
  }
}

} // namespace gc::runtime
