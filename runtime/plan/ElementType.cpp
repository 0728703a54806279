#include "runtime/plan/ElementType.h"

#include <algorithm>
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

using gc::plan::DType;

constexpr ElementType kTypes[] = {
    {"f32", "F32", 4, DType::DType_F32, convert<float>},
    {"i32", "I32", 4, DType::DType_I32, nullptr},
    {"i64", "I64", 8, DType::DType_I64, nullptr},
    {"i8", "U8", 1, DType::DType_U8, nullptr},
    {"f16", "F16", 2, DType::DType_F16, nullptr},
    {"bf16", "BF16", 2, DType::DType_BF16, nullptr},
    // Weight files may have these beside what a model asks for.
    {"", "F64", 8, {}, convert<double>},
    {"", "F8_E4M3", 1, {}, nullptr},
    {"", "F8_E5M2", 1, {}, nullptr},
    {"", "U64", 8, {}, nullptr},
    {"", "U32", 4, {}, nullptr},
    {"", "I16", 2, {}, nullptr},
    {"", "U16", 2, {}, nullptr},
    {"", "I8", 1, {}, nullptr},
    {"", "BOOL", 1, {}, nullptr},
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
