#include "runtime/report/SavedReasons.h"

#include "runtime/report/HtmlParts.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

namespace gc::runtime {

std::string reasonText(const SavedValue &value, int64_t microBatches) {
  std::string bytes = shortSizeText(value.bytes);
  double again = value.seconds * static_cast<double>(microBatches);
  if (!value.kept) {
    int64_t more = value.executions - 1;
    std::string price = secondsText(again * static_cast<double>(more));
    std::string often = more > 1 ? fmt::format(" (its op runs {} times more)", more) : "";
    return value.atPeak
               ? fmt::format("recomputed: frees {} at the peak for {}{}", bytes, price, often)
               : fmt::format("recomputed for {}{}; its {} are not alive at the peak", price, often,
                             bytes);
  }
  if (!value.repeatable)
    return "kept: its op may not run again";
  if (!value.atPeak)
    return "kept: not alive at the peak";
  return fmt::format("kept: making it again would take {} for {} at the peak", secondsText(again),
                     bytes);
}

} // namespace gc::runtime
