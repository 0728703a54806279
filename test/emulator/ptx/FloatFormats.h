//===- FloatFormats.h - f16, bf16, and rounding to any format --------------===//
#pragma once

#include "test/emulator/ptx/Program.h"

#include <bit>
#include <cmath>
#include <limits>

namespace gc::emulator::ptx {

struct Half {
  uint16_t bits;
  static constexpr int mantissa = 10, exponent = 5;
};
struct Bfloat {
  uint16_t bits;
  static constexpr int mantissa = 7, exponent = 8;
};

constexpr uint32_t canonicalNan = 0x7FFFFFFF; ///< what f32 instructions return

inline float widen(Bfloat x) { return std::bit_cast<float>(uint32_t(x.bits) << 16); }
inline float widen(Half x) {
  uint32_t magnitude = x.bits & 0x7FFF, sign = uint32_t(x.bits & 0x8000) << 16;
  if (magnitude >= 0x7C00) // infinity, NaN
    return std::bit_cast<float>(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
  // Scaling by a power of two is exact for normal and subnormal numbers alike.
  float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}
inline float widen(float x) { return x; }
inline double widen(double x) { return x; }

/// (-1)^negative · magnitude · 2^scale, rounded once to a format with that many bits. Overflow
/// becomes infinity or the largest number, as the rounding says. `magnitude` is not zero.
inline uint64_t roundTo(int mantissa, int exponent, bool negative, uint64_t magnitude, int scale,
                        Rounding rounding) {
  int bias = (1 << (exponent - 1)) - 1;
  int leading = std::countl_zero(magnitude);
  magnitude <<= leading;
  int top = scale + 63 - leading, lowest = 1 - bias; // exponent of the leading bit
  int shift = 63 - mantissa + std::max(0, lowest - top);
  bool sticky = false;
  if (shift > 64) {
    magnitude = 0;
    sticky = true;
  }
  uint64_t kept = shift < 64 ? magnitude >> shift : 0;
  uint64_t rest = shift < 64 ? magnitude << (64 - shift) : magnitude; // as a fraction of 2^64
  constexpr uint64_t half = uint64_t(1) << 63;
  bool inexact = rest != 0 || sticky, up = false;
  switch (rounding) {
  case Rounding::Nearest:
    up = rest > half || (rest == half && (kept & 1));
    break;
  case Rounding::NearestAway:
    up = rest >= half;
    break;
  case Rounding::Zero:
    break;
  case Rounding::Down:
    up = negative && inexact;
    break;
  case Rounding::Up:
    up = !negative && inexact;
    break;
  }
  // The implicit bit of a normal number adds one to the exponent field; a carry does the rest.
  uint64_t infinity = ((uint64_t(1) << exponent) - 1) << mantissa;
  uint64_t sign = uint64_t(negative) << (mantissa + exponent);
  if (top > bias + 1) {
    bool away = rounding == Rounding::Nearest || rounding == Rounding::NearestAway ||
                rounding == (negative ? Rounding::Down : Rounding::Up);
    return sign | (infinity - !away);
  }
  uint64_t bits = (uint64_t(std::max(top, lowest) - lowest) << mantissa) + kept + up;
  if (bits >= infinity) {
    bool away = rounding == Rounding::Nearest || rounding == Rounding::NearestAway ||
                rounding == (negative ? Rounding::Down : Rounding::Up);
    bits = infinity - !away;
  }
  return sign | bits;
}

/// A double rounded once to a narrower format.
inline uint64_t narrow(int mantissa, int exponent, double value, Rounding rounding) {
  uint64_t bits = std::bit_cast<uint64_t>(value), fraction = bits & 0xFFFFFFFFFFFFF;
  bool negative = bits >> 63;
  int field = bits >> 52 & 0x7FF;
  uint64_t sign = uint64_t(negative) << (mantissa + exponent);
  if (field == 0x7FF) {
    if (fraction) // the canonical NaN has all bits set but the sign
      return (uint64_t(1) << (mantissa + exponent)) - 1;
    return sign | ((uint64_t(1) << exponent) - 1) << mantissa;
  }
  if (!field && !fraction)
    return sign;
  return roundTo(mantissa, exponent, negative, field ? fraction | uint64_t(1) << 52 : fraction,
                 std::max(field, 1) - 1075, rounding);
}

template <class T> inline T narrowTo(double value, Rounding rounding = Rounding::Nearest) {
  return T{static_cast<uint16_t>(narrow(T::mantissa, T::exponent, value, rounding))};
}

/// a + b as a double whose last bit also says whether the sum was inexact, so that rounding it once
/// more, to a much narrower format, gives the correctly rounded sum.
inline double addToOdd(double a, double b) {
  double sum = a + b, part = sum - a;
  double error = (a - (sum - part)) + (b - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || !std::isfinite(sum) || (bits & 1))
    return sum;
  bool away = (error > 0) == (sum > 0); // the exact sum is larger in magnitude
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

inline float flush(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

} // namespace gc::emulator::ptx
