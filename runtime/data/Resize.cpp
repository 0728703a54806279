#include "runtime/data/Resize.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gc::runtime {

Resize::Resize(int64_t outHeight, int64_t outWidth, int64_t outChannels,
               const Normalization &normalization)
    : outWidth(outWidth), outChannels(outChannels),
      rowElements(static_cast<size_t>(outWidth * outChannels)) {
  for (int64_t channel = 0; channel < outChannels; ++channel)
    for (int value = 0; value < 256; ++value)
      values.push_back(normalization.of(static_cast<uint8_t>(value), channel));
}

void placeTaps(std::span<ResizeTap> taps, int64_t source, ResizeSpan span) {
  float scale = span.length / static_cast<float>(taps.size());
  int64_t low = static_cast<int64_t>(span.begin);
  low = std::clamp<int64_t>(low, 0, source - 1);
  int64_t high = static_cast<int64_t>(std::ceil(span.begin + span.length)) - 1;
  high = std::clamp(high, low, source - 1);
  for (size_t i = 0; i < taps.size(); ++i) {
    float place = span.begin + ((static_cast<float>(i) + 0.5f) * scale - 0.5f);
    place = std::max(static_cast<float>(low), place);
    int32_t first = static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(place), high));
    int32_t second = first + (first < high ? 1 : 0);
    taps[i] = {first, second, std::min(place - static_cast<float>(first), 1.0f)};
  }
}

/// One source row at the output's width and channels, as the values that bytes become.
void Resize::stretchRow(const uint8_t *row, int64_t inWidth, int64_t inChannels,
                        std::span<const ResizeTap> columns, float *target) const {
  const bool sameWidth =
      inWidth == outWidth && columns.back().first == outWidth - 1 && columns.front().first == 0;
  const bool toGrey = inChannels == 3 && outChannels == 1;
  const bool replicate = inChannels != outChannels;
  auto grey = [&](int32_t x) { // ITU-R 601-2 in the fixed point of PIL
    const uint8_t *p = row + x * 3;
    return (p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16;
  };
  for (int64_t x = 0; x < outWidth; ++x) {
    const ResizeTap tap = columns[static_cast<size_t>(x)];
    for (int64_t channel = 0; channel < outChannels; ++channel) {
      int64_t source = replicate ? 0 : channel;
      const float *value = values.data() + 256 * channel;
      float a = value[toGrey ? grey(tap.first) : row[tap.first * inChannels + source]];
      float b = value[toGrey ? grey(tap.second) : row[tap.second * inChannels + source]];
      target[x * outChannels + channel] = sameWidth ? a : (1 - tap.weight) * a + tap.weight * b;
    }
  }
}

Status Resize::run(ImageRows &image, std::span<const ResizeTap> rows,
                   std::span<const ResizeTap> columns, int64_t begin, int64_t end, float *target,
                   float *scratch) const {
  // Stretching is done once for each source row; between two of them a row is a plain blend, which
  // is all that enlarging 28 rows to 3584 costs.
  float *upper = scratch, *lower = scratch + rowElements;
  int32_t upperRow = -1, lowerRow = -1;
  auto stretch = [&](int32_t number, float *into) -> Status {
    Result<const uint8_t *> row = image.row(number);
    if (!row)
      return row.error();
    stretchRow(*row, image.width, image.channels, columns, into);
    return {};
  };
  for (int64_t y = begin; y < end; ++y) {
    const ResizeTap tap = rows[static_cast<size_t>(y)];
    if (tap.first != upperRow && tap.first == lowerRow) {
      std::swap(upper, lower);
      std::swap(upperRow, lowerRow);
    }
    if (tap.first != upperRow) {
      if (Status done = stretch(tap.first, upper); !done)
        return done;
      upperRow = tap.first;
    }
    float *out = target + static_cast<size_t>(y) * rowElements;
    if (tap.weight == 0 || tap.second == tap.first) {
      std::copy_n(upper, rowElements, out);
      continue;
    }
    if (tap.second != lowerRow) {
      if (Status done = stretch(tap.second, lower); !done)
        return done;
      lowerRow = tap.second;
    }
    const float *__restrict above = upper, *__restrict below = lower;
    const float weightBelow = tap.weight, weightAbove = 1 - tap.weight;
    for (size_t i = 0; i < rowElements; ++i)
      out[i] = weightAbove * above[i] + weightBelow * below[i];
  }
  return {};
}

} // namespace gc::runtime
