//===- ParameterGroups.cpp - parameters that differ in settings -----------===//
#include "passes/ParameterGroups.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace gc {

llvm::Expected<ParameterGroups> ParameterGroups::parse(llvm::StringRef noDecay,
                                                       llvm::StringRef lrScales) {
  ParameterGroups groups;
  llvm::Expected<NamePatterns> exempt = NamePatterns::parse(noDecay);
  if (!exempt)
    return llvm::createStringError("no-decay: " + llvm::toString(exempt.takeError()));
  groups.noDecay = std::move(*exempt);
  llvm::SmallVector<llvm::StringRef> pairs;
  if (!lrScales.empty())
    lrScales.split(pairs, ',');
  for (llvm::StringRef pair : pairs) {
    auto [text, factorText] = pair.trim().rsplit('=');
    double factor = 0;
    if (factorText.getAsDouble(factor) || !std::isfinite(factor) || factor < 0)
      return llvm::createStringError("lr-scale: '" + pair +
                                     "' is not PATTERN=FACTOR with a FACTOR from 0 on");
    llvm::Expected<NamePatterns> pattern = NamePatterns::parse(text);
    if (!pattern || pattern->empty())
      return llvm::createStringError("lr-scale: " + (pattern ? "'" + pair.str() + "' has no pattern"
                                                             : toString(pattern.takeError())));
    groups.scales.push_back({pair.trim().str(), std::move(*pattern), factor});
  }
  return groups;
}

std::string ParameterGroups::fault(llvm::ArrayRef<std::string> names) const {
  if (std::string wrong = noDecay.fault(names); !wrong.empty())
    return "no-decay: " + wrong;
  for (const Scale &scale : scales)
    if (std::string wrong = scale.pattern.fault(names); !wrong.empty())
      return "lr-scale: " + wrong;
  for (const std::string &name : names) {
    const Scale *first = nullptr;
    for (const Scale &scale : scales) {
      if (!scale.pattern.match(name))
        continue;
      if (first)
        return "lr-scale: '" + name + "' has two factors, by '" + first->text + "' and '" +
               scale.text + "'";
      first = &scale;
    }
  }
  return {};
}

double ParameterGroups::lrScale(llvm::StringRef name) const {
  for (const Scale &scale : scales)
    if (scale.pattern.match(name))
      return scale.factor;
  return 1;
}

} // namespace gc
