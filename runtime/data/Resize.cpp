#include "runtime/data/Resize.h"

#include <algorithm>
#include <utility>

namespace gc::runtime {

Resize::Resize(int64_t inHeight, int64_t inWidth, int64_t inChannels, int64_t outHeight,
               int64_t outWidth, int64_t outChannels)
    : inWidth(inWidth), inChannels(inChannels), outWidth(outWidth), outChannels(outChannels),
      rowElements(static_cast<size_t>(outWidth * outChannels)), sameWidth(inWidth == outWidth),
      rowTaps(taps(inHeight, outHeight)), columnTaps(taps(inWidth, outWidth)) {
  for (int value = 0; value < 256; ++value)
    normalized[value] = (static_cast<float>(value) / 255.0f - 0.5f) / 0.5f;
}

std::vector<Resize::Tap> Resize::taps(int64_t in, int64_t out) {
  std::vector<Tap> result(static_cast<size_t>(out));
  float scale = static_cast<float>(in) / static_cast<float>(out);
  for (int64_t i = 0; i < out; ++i) {
    float source = std::max(0.0f, (static_cast<float>(i) + 0.5f) * scale - 0.5f);
    int32_t first = static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(source), in - 1));
    int32_t second = first + (first < in - 1 ? 1 : 0);
    result[i] = {first, second, std::min(source - static_cast<float>(first), 1.0f)};
  }
  return result;
}

/// One source row, normalized, at the output's width and channels.
void Resize::stretchRow(const uint8_t *row, float *target) const {
  const bool replicate = inChannels != outChannels;
  for (int64_t x = 0; x < outWidth; ++x) {
    const Tap tap = columnTaps[x];
    for (int64_t channel = 0; channel < outChannels; ++channel) {
      int64_t source = replicate ? 0 : channel;
      float a = normalized[row[tap.first * inChannels + source]];
      float b = normalized[row[tap.second * inChannels + source]];
      target[x * outChannels + channel] = sameWidth ? a : (1 - tap.weight) * a + tap.weight * b;
    }
  }
}

void Resize::run(const uint8_t *image, int64_t begin, int64_t end, float *target,
                 float *scratch) const {
  // Stretching is done once for each source row; between two of them a row is a plain blend, which
  // is all that enlarging 28 rows to 3584 costs.
  float *upper = scratch, *lower = scratch + rowElements;
  int32_t upperRow = -1, lowerRow = -1;
  auto sourceRow = [&](int32_t row) { return image + row * inWidth * inChannels; };
  for (int64_t y = begin; y < end; ++y) {
    const Tap tap = rowTaps[y];
    if (tap.first != upperRow && tap.first == lowerRow) {
      std::swap(upper, lower);
      std::swap(upperRow, lowerRow);
    }
    if (tap.first != upperRow) {
      stretchRow(sourceRow(tap.first), upper);
      upperRow = tap.first;
    }
    float *out = target + static_cast<size_t>(y) * rowElements;
    if (tap.weight == 0 || tap.second == tap.first) {
      std::copy_n(upper, rowElements, out);
      continue;
    }
    if (tap.second != lowerRow) {
      stretchRow(sourceRow(tap.second), lower);
      lowerRow = tap.second;
    }
    const float *__restrict above = upper, *__restrict below = lower;
    const float weightBelow = tap.weight, weightAbove = 1 - tap.weight;
    for (size_t i = 0; i < rowElements; ++i)
      out[i] = weightAbove * above[i] + weightBelow * below[i];
  }
}

} // namespace gc::runtime
