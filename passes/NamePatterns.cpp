//===- NamePatterns.cpp - parameters by patterns of their names -----------===//
#include "passes/NamePatterns.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace gc {

llvm::Expected<NamePatterns> NamePatterns::parse(llvm::StringRef text) {
  NamePatterns parsed;
  llvm::SmallVector<llvm::StringRef> parts;
  if (!text.empty())
    text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    part = part.trim();
    if (part.empty())
      return llvm::createStringError("'" + text + "' has an empty pattern");
    auto own = std::make_shared<const std::string>(part);
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(*own);
    if (!glob)
      return llvm::createStringError("pattern '" + part + "': " + llvm::toString(glob.takeError()));
    parsed.patterns.push_back({std::move(own), std::move(*glob)});
  }
  return parsed;
}

bool NamePatterns::match(llvm::StringRef name) const {
  return llvm::any_of(patterns, [&](const Pattern &pattern) { return pattern.glob.match(name); });
}

std::string NamePatterns::fault(llvm::ArrayRef<std::string> names, llvm::StringRef what) const {
  for (const Pattern &pattern : patterns) {
    llvm::StringRef text = *pattern.text;
    if (llvm::any_of(names, [&](llvm::StringRef name) { return pattern.glob.match(name); }))
      continue;
    std::string nearest;
    unsigned least = ~0u;
    for (llvm::StringRef name : names)
      if (unsigned distance = text.edit_distance(name); distance < least) {
        least = distance;
        nearest = name.str();
      }
    std::string fault = "'" + *pattern.text + "' matches no " + what.str() + " of the model";
    return nearest.empty() ? fault : fault + "; the nearest name is '" + nearest + "'";
  }
  return {};
}

} // namespace gc
