// cvt: between integers and floating-point numbers of all widths.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/FloatFormats.h"
#include "test/emulator/ptx/LaneLoops.h"

#include <cstring>
#include <utility>

using namespace gc::emulator::ptx;

namespace {

constexpr std::initializer_list<Type> convertible = {Type::U8,  Type::U16,  Type::U32, Type::U64,
                                                     Type::S8,  Type::S16,  Type::S32, Type::S64,
                                                     Type::F16, Type::BF16, Type::F32, Type::F64};

double toDouble(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16:
    return widen(Half{uint16_t(bits)});
  case Type::BF16:
    return widen(Bfloat{uint16_t(bits)});
  case Type::F32:
    return std::bit_cast<float>(uint32_t(bits));
  default:
    return std::bit_cast<double>(bits);
  }
}
struct Format {
  int mantissa, exponent;
};
Format formatOf(Type type) {
  switch (type) {
  case Type::F16:
    return {10, 5};
  case Type::BF16:
    return {7, 8};
  case Type::F32:
    return {23, 8};
  default:
    return {52, 11};
  }
}
uint64_t fromDouble(Type type, double value, Rounding rounding) {
  if (type == Type::F64)
    return std::bit_cast<uint64_t>(value);
  Format format = formatOf(type);
  return narrow(format.mantissa, format.exponent, value, rounding);
}

double toWhole(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value); // to even
  }
}

__int128 lowest(Type type) {
  return isSigned(type) ? -(__int128(1) << (8 * sizeOf(type) - 1)) : __int128(0);
}
__int128 highest(Type type) { return (__int128(1) << (8 * sizeOf(type) - isSigned(type))) - 1; }

/// Out of range: the nearest number. NaN: zero, or the top bit alone where 64 bits are involved.
uint64_t wholeFromDouble(Type from, Type to, double value, Rounding rounding) {
  if (std::isnan(value)) {
    bool wide = from == Type::F64 || sizeOf(to) == 8;
    return wide ? uint64_t(1) << (8 * sizeOf(to) - 1) : 0;
  }
  double whole = toWhole(value, rounding);
  if (whole <= static_cast<double>(lowest(to)))
    return static_cast<uint64_t>(lowest(to));
  if (whole >= static_cast<double>(highest(to)))
    return static_cast<uint64_t>(highest(to));
  return static_cast<uint64_t>(static_cast<__int128>(whole));
}

__int128 toWide(Type type, uint64_t bits) {
  uint32_t unused = 64 - 8 * sizeOf(type);
  return isSigned(type) ? __int128(int64_t(bits << unused) >> unused)
                        : __int128(bits << unused >> unused);
}

uint64_t floatFromWhole(Type to, __int128 value, const FloatMode &mode) {
  if (mode.saturate)
    value = value < 0 ? 0 : value > 1 ? 1 : value;
  if (value == 0)
    return 0;
  Format format = formatOf(to);
  bool negative = value < 0;
  return roundTo(format.mantissa, format.exponent, negative, uint64_t(negative ? -value : value), 0,
                 mode.rounding);
}

uint64_t floatFromFloat(Type to, double value, const FloatMode &mode) {
  if (mode.integral)
    value = toWhole(value, mode.rounding);
  if (mode.saturate)
    value = value > 0 ? std::min(value, 1.0) : 0;
  if (mode.relu && value < 0)
    value = 0;
  Rounding rounding = mode.integral ? Rounding::Nearest : mode.rounding;
  uint64_t bits = fromDouble(to, value, rounding);
  if (mode.ftz && to == Type::F32)
    bits = std::bit_cast<uint32_t>(flush(std::bit_cast<float>(uint32_t(bits))));
  return bits;
}

uint64_t convert(Type from, Type to, uint64_t bits, const FloatMode &mode) {
  if (isFloat(from)) {
    double value = toDouble(from, bits);
    if (mode.ftz && from == Type::F32)
      value = flush(static_cast<float>(value));
    return isFloat(to) ? floatFromFloat(to, value, mode)
                       : wholeFromDouble(from, to, value, mode.rounding);
  }
  __int128 value = toWide(from, bits);
  if (isFloat(to))
    return floatFromWhole(to, value, mode);
  if (mode.saturate)
    value = std::min(std::max(value, lowest(to)), highest(to));
  return static_cast<uint64_t>(toWide(to, static_cast<uint64_t>(value)));
}

/// Any pair of types, any width of registers. immediate: the types and the source register's bytes.
void convertAny(Warp &warp, const Instruction &in, uint32_t mask) {
  auto from = static_cast<Type>(in.immediate & 0xFF),
       to = static_cast<Type>(in.immediate >> 8 & 0xFF);
  uint32_t sourceBytes = in.immediate >> 16, resultBytes = in.registerBytes;
  const std::byte *source = warp.row<std::byte>(in.operands[1]);
  std::byte *result = warp.row<std::byte>(in.operands[0]);
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = 0;
    std::memcpy(&bits, source + lane * sourceBytes, sourceBytes);
    bits = convert(from, to, bits, in.mode);
    std::memcpy(result + lane * resultBytes, &bits, resultBytes);
  });
}

/// The plain conversions, where registers are as wide as their types.
template <class D, class S> D convertPlain(S value) {
  if constexpr (std::is_same_v<D, Half> || std::is_same_v<D, Bfloat>)
    return narrowTo<D>(value);
  else if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, Bfloat>)
    return widen(value);
  else
    return static_cast<D>(value);
}
template <class D, class S> void convertRow(Warp &warp, const Instruction &in, uint32_t mask) {
  const S *a = warp.row<S>(in.operands[1]);
  writeLanes(warp.row<D>(in.operands[0]), mask, [=](uint32_t i) { return convertPlain<D>(a[i]); });
}

Handler plainHandler(Type from, Type to) {
  if (from == Type::F32 && to == Type::F16)
    return convertRow<Half, float>;
  if (from == Type::F32 && to == Type::BF16)
    return convertRow<Bfloat, float>;
  if (from == Type::F32 && to == Type::F64)
    return convertRow<double, float>;
  if (from == Type::F16 && to == Type::F32)
    return convertRow<float, Half>;
  if (from == Type::BF16 && to == Type::F32)
    return convertRow<float, Bfloat>;
  if (from == Type::F64 && to == Type::F32)
    return convertRow<float, double>;
  if (isFloat(from) || to == Type::F16 || to == Type::BF16)
    return nullptr;
  return forInteger(from, [&](auto s) -> Handler {
    using S = decltype(s);
    if (to == Type::F32)
      return convertRow<float, S>;
    if (to == Type::F64)
      return convertRow<double, S>;
    return forInteger(to, [](auto d) -> Handler { return convertRow<decltype(d), S>; });
  });
}

/// cvt.rn{.relu}.f16x2.f32 d, a, b: a becomes the upper half.
template <class T> void convertPair(Warp &warp, const Instruction &in, uint32_t mask) {
  const float *a = warp.row<float>(in.operands[1]), *b = warp.row<float>(in.operands[2]);
  FloatMode mode = in.mode;
  auto half = [&](float x) {
    return uint32_t(narrowTo<T>(mode.relu && x < 0 ? 0.0f : x, mode.rounding).bits);
  };
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask,
             [&](uint32_t i) { return half(a[i]) << 16 | half(b[i]); });
}

/// cvt.rna.tf32.f32: 10 bits of mantissa, in the upper bits of a word; half is rounded away from 0.
void convertToTf32(Warp &warp, const Instruction &in, uint32_t mask) {
  const float *a = warp.row<float>(in.operands[1]);
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask, [=](uint32_t i) {
    return uint32_t(narrow(10, 8, a[i], Rounding::NearestAway)) << 13;
  });
}

} // namespace

void gc::emulator::ptx::decodeConvert(Builder &b) {
  FloatMode &mode = b.instruction.mode;
  if (b.take("rna")) {
    if (!b.take("tf32"))
      b.fail("only cvt.rna.tf32.f32 is rounded by .rna");
    b.takeType({Type::F32});
    b.instruction.run = convertToTf32;
    b.destination(Type::B32);
    b.source(Type::F32);
    return;
  }
  bool rounded = b.takeRounding();
  if (auto whole = b.takeAny({"rni", "rzi", "rmi", "rpi"}); whole && !rounded) {
    mode.rounding = static_cast<Rounding>(*whole);
    mode.integral = true;
  }
  mode.relu = b.take("relu");
  mode.ftz = b.take("ftz");
  mode.saturate = b.take("sat");
  if (b.nextModifier() == "f16x2" || b.nextModifier() == "bf16x2") {
    Type to = b.takeType({Type::F16x2, Type::BF16x2});
    b.takeType({Type::F32});
    if (!rounded || mode.saturate || mode.ftz || mode.rounding > Rounding::Zero)
      b.fail("this combination of modifiers is not supported");
    b.instruction.run = to == Type::F16x2 ? convertPair<Half> : convertPair<Bfloat>;
    b.destination(to);
    b.source(Type::F32);
    b.source(Type::F32);
    return;
  }
  Type to = b.takeType(convertible), from = b.takeType(convertible);
  bool narrows = isFloat(to) && (!isFloat(from) || sizeOf(to) < sizeOf(from) ||
                                 (from != to && sizeOf(to) == 2 && sizeOf(from) == 2));
  if (isFloat(from) && !isFloat(to) && !mode.integral)
    b.fail("a conversion to a whole number needs .rni, .rzi, .rmi or .rpi");
  if (narrows && !rounded)
    b.fail("this conversion needs a rounding modifier");
  if (rounded && !isFloat(to))
    b.fail("a conversion to a whole number is rounded by .rni, .rzi, .rmi or .rpi");
  if (mode.integral && (!isFloat(from) || (isFloat(to) && sizeOf(to) != sizeOf(from))))
    b.fail("rounding to a whole number does not apply to this conversion");
  if (mode.relu && !(sizeOf(to) == 2 && isFloat(to) && from == Type::F32))
    b.fail("modifier '.relu' does not apply to this conversion");
  b.wideDestination(to);
  uint32_t resultBytes = b.instruction.registerBytes;
  b.resetWidth();
  b.wideSource(from);
  uint32_t sourceBytes = std::exchange(b.instruction.registerBytes, resultBytes);
  // A float in a register wider than itself has no meaning.
  if ((isFloat(to) && resultBytes != sizeOf(to)) || (isFloat(from) && sourceBytes != sizeOf(from)))
    b.fail("a register has the wrong width");
  bool plain = !mode.integral && !mode.relu && !mode.ftz && !mode.saturate &&
               mode.rounding == Rounding::Nearest && resultBytes == sizeOf(to) &&
               sourceBytes == sizeOf(from);
  b.instruction.run = plain ? plainHandler(from, to) : nullptr;
  if (!b.instruction.run)
    b.instruction.run = convertAny;
  b.instruction.immediate = int64_t(from) | int64_t(to) << 8 | int64_t(sourceBytes) << 16;
}
