// How far two tensors are apart.
#ifndef GC_TOOLS_SELFTEST_RELATIVEERROR_H
#define GC_TOOLS_SELFTEST_RELATIVEERROR_H

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>

/// |got - want| / |want| in the Euclidean norm, of two tensors of f32. Infinite where sizes differ,
/// something is not a number, or only `want` is zero.
inline double relativeError(std::span<const std::byte> got, std::span<const std::byte> want) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (got.size() != want.size())
    return infinite;
  double difference = 0, norm = 0;
  for (size_t i = 0; i + sizeof(float) <= want.size(); i += sizeof(float)) {
    float a, b;
    std::memcpy(&a, &got[i], sizeof(a));
    std::memcpy(&b, &want[i], sizeof(b));
    difference += (double(a) - b) * (double(a) - b);
    norm += double(b) * b;
  }
  if (difference == 0)
    return 0;
  double error = std::sqrt(difference / norm);
  return std::isnan(error) ? infinite : error;
}

/// What an f32 result may be off by, given how much it moves when its operands do by so many units
/// in the last place: see README.md.
constexpr double kRoundings = 64;
inline double errorBound(double response, int units = 1) {
  return kRoundings * std::fmax(response / units, 0x1p-23);
}

#endif // GC_TOOLS_SELFTEST_RELATIVEERROR_H
