#include "runtime/trainer/ProgressLine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gc::runtime {

static constexpr size_t kGap = 2;                           // blanks between parts
static constexpr size_t kSmallestBar = 8, kLargestBar = 30; // with its brackets

/// Columns of the bar (0: none), and whether each part is kept; the most important ones first.
static size_t choose(const std::vector<LinePart> &parts, int barImportance, size_t columns,
                     std::vector<bool> &kept) {
  std::vector<size_t> order(parts.size() - 1);
  std::iota(order.begin(), order.end(), size_t(1));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return parts[a].importance > parts[b].importance; });
  size_t left = columns - std::min(columns, parts[0].text.size());
  size_t bar = 0;
  bool barAsked = false;
  auto take = [&](size_t width) {
    bool fits = width + kGap <= left;
    if (fits)
      left -= width + kGap;
    return fits;
  };
  auto askForBar = [&] {
    barAsked = true;
    bar = take(kSmallestBar) ? kSmallestBar : 0;
  };
  for (size_t i : order) {
    if (!barAsked && parts[i].importance < barImportance)
      askForBar();
    kept[i] = take(parts[i].text.size());
  }
  if (!barAsked)
    askForBar();
  return bar ? std::min(bar + left, kLargestBar) : 0;
}

ProgressLine fitLine(const std::vector<LinePart> &parts, double fraction, int barImportance,
                     size_t columns) {
  ProgressLine line;
  std::vector<bool> kept(parts.size());
  size_t bar = choose(parts, barImportance, columns, kept);
  line.text = parts[0].text.substr(0, columns);
  if (bar) {
    size_t room = bar - 2;
    size_t filled = static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(room));
    line.text += std::string(kGap, ' ') + "[";
    line.barBegin = line.text.size();
    line.barEnd = line.barBegin + filled;
    line.text += std::string(filled, '#') + std::string(room - filled, '.') + "]";
  }
  for (size_t i = 1; i < parts.size(); ++i)
    if (kept[i])
      line.text += std::string(kGap, ' ') + parts[i].text;
  return line;
}

std::string wholeLine(const std::vector<LinePart> &parts) {
  std::string text;
  for (const LinePart &part : parts)
    text += (text.empty() ? "" : std::string(kGap, ' ')) + part.text;
  return text;
}

} // namespace gc::runtime
