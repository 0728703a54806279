// The element types that we know, each with its names and size: one table for compiler, plans and
// weight files.
#ifndef GC_RUNTIME_PLAN_ELEMENTTYPE_H
#define GC_RUNTIME_PLAN_ELEMENTTYPE_H

#include "runtime/plan/Plan_generated.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gc::runtime {

struct ElementType {
  std::string_view mlir;        // the name in IR; empty: the dialect has no such tensors
  std::string_view safetensors; // the name in weight files
  uint64_t bytes;
  std::optional<gc::plan::DType> dtype; // how plans call it; nothing: no plan has such buffers
  /// Converts elements of a file to f32; null where that would not keep their meaning.
  void (*toFloats)(const std::byte *from, float *to, size_t count);
  /// The other way, rounded to the nearest (of two the even one); returns the first element that is
  /// finite and would become infinite, `count` where there is none. Null where nobody asks for it.
  size_t (*fromFloats)(const float *from, std::byte *to, size_t count);
};

std::span<const ElementType> elementTypes();

// Null where the type is not known.
const ElementType *elementTypeOf(gc::plan::DType dtype);
const ElementType *elementTypeInIr(std::string_view name);
const ElementType *elementTypeInFile(std::string_view name);

/// Bytes of an element in a verified plan, which has known types only.
uint64_t elementBytes(gc::plan::DType dtype);

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_ELEMENTTYPE_H
