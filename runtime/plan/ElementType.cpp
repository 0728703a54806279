#include "runtime/plan/ElementType.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace gc::runtime {
namespace {

template <class T> void convert(const std::byte *from, float *to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<float>(value);
  }
}

template <class T> void store(std::byte *to, size_t index, T value) {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

void widenBf16(const std::byte *from, float *to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, 2);
    to[i] = std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
}

void widenF16(const std::byte *from, float *to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, 2);
    uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    float size = exponent == 0x1f
                     ? std::bit_cast<float>(0x7f800000u | fraction << 13)
                     : std::ldexp(static_cast<float>(exponent ? fraction | 0x400 : fraction),
                                  static_cast<int>(exponent ? exponent : 1) - 25);
    to[i] = bits & 0x8000 ? -size : size;
  }
}

/// `value` without its lowest `cut` bits, rounded to the nearest, of two the even one. A carry goes
/// on into the exponent, which is right.
uint32_t roundedShift(uint32_t value, unsigned cut) {
  uint32_t half = 1u << (cut - 1), rest = value & ((half << 1) - 1), kept = value >> cut;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>(roundedShift(bits, 16));
}

uint16_t toF16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  uint32_t half;
  if (std::isnan(value))
    half = 0x7e00;
  else if (size >= 0x47800000) // 2^16
    half = 0x7c00;
  else if (size >= 0x38800000) // 2^-14: the exponent is 112 less
    half = roundedShift(size - (112u << 23), 13);
  else if (size < 0x33000000) // half of the smallest number rounds to 0, being even
    half = 0;
  else
    half = roundedShift((size & 0x7fffff) | 0x800000, 126 - (size >> 23));
  return static_cast<uint16_t>(sign | half);
}

template <uint16_t (*narrow)(float), uint16_t infinity>
size_t narrowAll(const float *from, std::byte *to, size_t count) {
  size_t lost = count;
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = narrow(from[i]);
    store(to, i, bits);
    if (lost == count && (bits & 0x7fff) == infinity && std::isfinite(from[i]))
      lost = i;
  }
  return lost;
}

size_t copyFloats(const float *from, std::byte *to, size_t count) {
  std::memcpy(to, from, count * sizeof(float));
  return count;
}

using gc::plan::DType;

constexpr ElementType kTypes[] = {
    {"f32", "F32", 4, DType::DType_F32, convert<float>, copyFloats},
    {"i32", "I32", 4, DType::DType_I32, nullptr, nullptr},
    {"i64", "I64", 8, DType::DType_I64, nullptr, nullptr},
    {"i8", "U8", 1, DType::DType_U8, nullptr, nullptr},
    {"f16", "F16", 2, DType::DType_F16, widenF16, narrowAll<toF16, 0x7c00>},
    {"bf16", "BF16", 2, DType::DType_BF16, widenBf16, narrowAll<toBf16, 0x7f80>},
    // Weight files may have these beside what a model asks for.
    {"", "F64", 8, {}, convert<double>, nullptr},
    {"", "F8_E4M3", 1, {}, nullptr, nullptr},
    {"", "F8_E5M2", 1, {}, nullptr, nullptr},
    {"", "U64", 8, {}, nullptr, nullptr},
    {"", "U32", 4, {}, nullptr, nullptr},
    {"", "I16", 2, {}, nullptr, nullptr},
    {"", "U16", 2, {}, nullptr, nullptr},
    {"", "I8", 1, {}, nullptr, nullptr},
    {"", "BOOL", 1, {}, nullptr, nullptr},
};

const ElementType *find(auto isIt) {
  const ElementType *found = std::find_if(std::begin(kTypes), std::end(kTypes), isIt);
  return found == std::end(kTypes) ? nullptr : found;
}

} // namespace

std::span<const ElementType> elementTypes() { return kTypes; }

const ElementType *elementTypeOf(DType dtype) {
  return find([&](const ElementType &type) { return type.dtype == dtype; });
}

const ElementType *elementTypeInIr(std::string_view name) {
  return find([&](const ElementType &type) { return !name.empty() && type.mlir == name; });
}

const ElementType *elementTypeInFile(std::string_view name) {
  return find([&](const ElementType &type) { return type.safetensors == name; });
}

uint64_t elementBytes(DType dtype) {
  const ElementType *type = elementTypeOf(dtype);
  if (!type) // verifyPlan refuses such plans
    std::abort();
  return type->bytes;
}

} // namespace gc::runtime
