// How values are distributed, for logs.
#ifndef GC_RUNTIME_REPORT_HISTOGRAM_H
#define GC_RUNTIME_REPORT_HISTOGRAM_H

#include <cstdint>
#include <span>
#include <vector>

namespace gc::runtime {

/// Buckets of equal width from the least to the greatest value.
struct Histogram {
  double min = 0, max = 0, sum = 0, sumOfSquares = 0;
  uint64_t count = 0;       // of the values that are finite
  std::vector<double> ends; // of each bucket, the last one's is `max`
  std::vector<uint64_t> counts;
};

/// Values that are not finite do not count.
Histogram histogramOf(std::span<const float> values);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_HISTOGRAM_H
