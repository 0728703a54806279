// One line of progress, made to fit: parts are left out by importance, and a bar takes the room
// that is left.
#ifndef GC_RUNTIME_TRAINER_PROGRESSLINE_H
#define GC_RUNTIME_TRAINER_PROGRESSLINE_H

#include <cstddef>
#include <string>
#include <vector>

namespace gc::runtime {

struct LinePart {
  std::string text; // ASCII: a character is a column
  int importance;   // the larger it is, the later it is left out
};

struct ProgressLine {
  std::string text;
  size_t barBegin = 0, barEnd = 0; // what is filled of the bar
};

/// The parts in their order, two blanks between them. The bar, which shows `fraction`, stands
/// behind the first part, which is never left out (but cut off where even it is too long).
ProgressLine fitLine(const std::vector<LinePart> &parts, double fraction, int barImportance,
                     size_t columns);
/// All parts, and no bar.
std::string wholeLine(const std::vector<LinePart> &parts);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PROGRESSLINE_H
