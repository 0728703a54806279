//===- ParameterGroups.h - parameters that differ in settings ---*- C++ -*-===//
#ifndef GC_PASSES_PARAMETERGROUPS_H
#define GC_PASSES_PARAMETERGROUPS_H

#include "passes/NamePatterns.h"
#include <optional>

namespace gc {

/// Which parameters have no weight decay, and which have a multiple of the learning rate.
class ParameterGroups {
public:
  /// `noDecay` are patterns of names (NamePatterns); `lrScales` are pairs PATTERN=FACTOR, separated
  /// by commas. Both may be empty. Fails where a text is not that.
  static llvm::Expected<ParameterGroups> parse(llvm::StringRef noDecay, llvm::StringRef lrScales);

  /// Why the groups do not fit a model with these parameters: a pattern matches none of them, or
  /// one has two factors; empty where they do.
  std::string fault(llvm::ArrayRef<std::string> names) const;

  bool decays(llvm::StringRef name) const { return !noDecay.match(name); }
  double lrScale(llvm::StringRef name) const;

private:
  struct Scale {
    std::string text; // as it was given
    NamePatterns pattern;
    double factor;
  };
  NamePatterns noDecay;
  std::vector<Scale> scales;
};

} // namespace gc

#endif // GC_PASSES_PARAMETERGROUPS_H
