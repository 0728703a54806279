// Sizes, times and rates as people read them; sizes also as they write them. `1.5GB` is 10^9,
// `1.5GiB` is 2^30, a bare number is bytes.
#ifndef GC_RUNTIME_REPORT_SIZES_H
#define GC_RUNTIME_REPORT_SIZES_H

#include "runtime/Error.h"

#include <cstdint>
#include <string>

namespace gc::runtime {

/// Fails (bad input) on anything but a non-negative number and a known unit (B, kB, MB, GB, TB,
/// KiB, MiB, GiB, TiB, in either case of letters, a space allowed between), and on what does not
/// fit 64 bits. Fractions of a byte are cut off.
Result<uint64_t> parseSize(const std::string &text);

/// `512345678 bytes (488.6 MiB)`; below one KiB only the bytes.
std::string sizeText(uint64_t bytes);
/// `488.6 MiB` alone.
std::string shortSizeText(uint64_t bytes);
/// `1:02:03` or `2:03`: how long something runs.
std::string durationText(double seconds);
/// `12.34 ms`, `1.234 s`: what a step or an op takes.
std::string secondsText(double seconds);
/// `1234 samples/s`, `0.85 samples/s`
std::string rateText(double samplesPerSecond);
/// `11,689,512`
std::string countText(uint64_t count);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_SIZES_H
