// What a byte of an image becomes: (byte / 255 - mean) / deviation, in f32, for each channel.
#ifndef GC_RUNTIME_DATA_NORMALIZATION_H
#define GC_RUNTIME_DATA_NORMALIZATION_H

#include "runtime/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc::runtime {

struct Normalization {
  /// One for all channels, or one for each.
  std::vector<float> mean = {0.5f}, deviation = {0.5f};

  bool operator==(const Normalization &) const = default;
  float of(uint8_t value, int64_t channel) const {
    return of(static_cast<float>(value) / 255.0f, channel);
  }
  /// The same of a value in [0, 1].
  float of(float value, int64_t channel) const {
    return (value - at(mean, channel)) / at(deviation, channel);
  }
  /// Fails (bad input) where it has values for another number of channels.
  Status checkChannels(int64_t channels) const;
  /// "mean 0.5, deviation 0.5"
  std::string text() const;

private:
  static float at(const std::vector<float> &values, int64_t channel) {
    return values[values.size() > 1 ? static_cast<size_t>(channel) : 0];
  }
};

/// What there is without a flag.
constexpr const char *kUsualNormalization = "half";

/// `MEAN:DEVIATION` with one value or one for each channel, separated by commas, or a name:
/// imagenet (torchvision's values), none (0:1), or half (0.5:0.5).
Result<Normalization> parseNormalization(const std::string &text);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_NORMALIZATION_H
