//===- FreezeWish.h - which parameters are trained --------------*- C++ -*-===//
//
// Command lines, pass options and callers of the compiler fill it. Plain types only.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_FREEZEWISH_H
#define GC_PASSES_FREEZEWISH_H

#include <string>
#include <string_view>

namespace gc {

/// Patterns as passes/NamePatterns.h reads them. With neither, all that the model does not say to
/// be frozen is trained.
struct FreezeWish {
  std::string names;     // of what is frozen, beside what the model says
  std::string trainOnly; // instead: of what is trained, whatever the model says; all else is frozen
  bool norms = false;    // frozen batch norms run as in inference mode

  bool any() const { return !names.empty() || !trainOnly.empty() || norms; }

  /// Why this cannot be followed, whatever the model; empty where it can. `names` and `trainOnly`
  /// are called as the user wrote them: --freeze and --train-only on command lines.
  std::string check(std::string_view namesOption, std::string_view trainOnlyOption) const;
};

} // namespace gc

#endif // GC_PASSES_FREEZEWISH_H
