//===- PrecisionWish.h - in which types a step computes ---------*- C++ -*-===//
#ifndef GC_PASSES_PRECISIONWISH_H
#define GC_PASSES_PRECISIONWISH_H

#include <string>

namespace gc {

/// Plain text, so that tools can have it without MLIR.
struct PrecisionWish {
  std::string type = "f32"; // of products' factors and of what is saved: f32 or bf16
  std::string of;           // PATTERN=TYPE, separated by commas: layers with another type

  bool isMixed() const { return type != "f32"; }
  /// Why the wish is refused, in the words of the options by which it was given; empty where it is
  /// fine. Patterns are compared with a model later.
  std::string check(const std::string &typeOption, const std::string &ofOption) const;
};

} // namespace gc

#endif // GC_PASSES_PRECISIONWISH_H
