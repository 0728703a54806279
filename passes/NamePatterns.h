//===- NamePatterns.h - parameters by patterns of their names ---*- C++ -*-===//
#ifndef GC_PASSES_NAMEPATTERNS_H
#define GC_PASSES_NAMEPATTERNS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <memory>
#include <string>
#include <vector>

namespace gc {

/// Some of the names of a model. `*` stands for any run of characters, `?` for one, `[ab]` for one
/// of those; several patterns are separated by commas: `layer1.*,*.bias`.
class NamePatterns {
public:
  /// Fails on an empty pattern and on one that is not well formed.
  static llvm::Expected<NamePatterns> parse(llvm::StringRef text);

  bool empty() const { return patterns.empty(); }
  bool match(llvm::StringRef name) const;

  /// Why these patterns do not fit the model: one of them matches none of its names, and the
  /// nearest is told; empty where each matches some.
  /// `what` the names are of.
  std::string fault(llvm::ArrayRef<std::string> names, llvm::StringRef what = "parameter") const;

private:
  struct Pattern {
    std::shared_ptr<const std::string> text; // the glob refers to it
    llvm::GlobPattern glob;
  };
  std::vector<Pattern> patterns;
};

} // namespace gc

#endif // GC_PASSES_NAMEPATTERNS_H
