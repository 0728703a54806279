//===- NamePatterns.cpp - parameters by patterns of their names -----------===//
#include "passes/NamePatterns.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace gc {

Expected<NamePatterns> NamePatterns::parse(StringRef text) {
  NamePatterns parsed;
  SmallVector<StringRef> parts;
  if (!text.empty())
    text.split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    if (part.empty())
      return createStringError("'" + text + "' has an empty pattern");
    auto own = std::make_shared<const std::string>(part);
    Expected<GlobPattern> glob = GlobPattern::create(*own);
    if (!glob)
      return createStringError("pattern '" + part + "': " + toString(glob.takeError()));
    parsed.patterns.push_back({std::move(own), std::move(*glob)});
  }
  return parsed;
}

bool NamePatterns::match(StringRef name) const {
  return any_of(patterns, [&](const Pattern &pattern) { return pattern.glob.match(name); });
}

std::string NamePatterns::fault(ArrayRef<std::string> names) const {
  for (const Pattern &pattern : patterns) {
    StringRef text = *pattern.text;
    if (any_of(names, [&](StringRef name) { return pattern.glob.match(name); }))
      continue;
    std::string nearest;
    unsigned least = ~0u;
    for (StringRef name : names)
      if (unsigned distance = text.edit_distance(name); distance < least) {
        least = distance;
        nearest = name.str();
      }
    std::string fault = "'" + *pattern.text + "' matches no parameter of the model";
    return nearest.empty() ? fault : fault + "; the nearest name is '" + nearest + "'";
  }
  return {};
}

} // namespace gc
