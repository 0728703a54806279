#include "runtime/report/Histogram.h"

#include <algorithm>
#include <cmath>

namespace gc::runtime {

/// As many as TensorFlow's summaries have.
static constexpr size_t kBuckets = 30;

Histogram histogramOf(std::span<const float> values) {
  Histogram histogram;
  for (float value : values) {
    if (!std::isfinite(value))
      continue;
    double wide = value;
    histogram.min = histogram.count ? std::min(histogram.min, wide) : wide;
    histogram.max = histogram.count ? std::max(histogram.max, wide) : wide;
    histogram.sum += wide;
    histogram.sumOfSquares += wide * wide;
    ++histogram.count;
  }
  double width = (histogram.max - histogram.min) / kBuckets;
  if (histogram.count == 0)
    return histogram;
  if (width == 0) {
    histogram.ends = {histogram.max};
    histogram.counts = {histogram.count};
    return histogram;
  }
  histogram.counts.resize(kBuckets);
  for (size_t i = 1; i <= kBuckets; ++i)
    histogram.ends.push_back(i == kBuckets ? histogram.max
                                           : histogram.min + width * static_cast<double>(i));
  for (float value : values)
    if (std::isfinite(value))
      ++histogram
            .counts[std::min(kBuckets - 1, static_cast<size_t>((value - histogram.min) / width))];
  return histogram;
}

} // namespace gc::runtime
