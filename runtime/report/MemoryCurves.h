// The memory of two plans over their steps, in one picture.
#ifndef GC_RUNTIME_REPORT_MEMORYCURVES_H
#define GC_RUNTIME_REPORT_MEMORYCURVES_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc::runtime {

struct MemoryCurve {
  std::string name;
  std::vector<uint64_t> live; // bytes at each command of the step
  size_t firstBackward = 0;   // the first command of the backward pass; 0: not known
  std::optional<uint64_t> budgetBytes;
};

/// An SVG for wide pages and one for narrow ones, of which the classes `wide` and `narrow` show
/// one; colours are those of the classes `a` and `b`. Both plans have one width for each phase,
/// however many commands they have in it. Empty where a plan has no commands.
std::string memoryCurvesSvg(const MemoryCurve &a, const MemoryCurve &b);

/// The style of these classes, light and dark.
std::string memoryCurvesStyle();

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_MEMORYCURVES_H
