#include "runtime/report/SavedValues.h"

#include "runtime/report/HtmlParts.h"
#include "runtime/report/ReportReader.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <cmath>

namespace gc::runtime {

using json = nlohmann::ordered_json;

static SavedValue readValue(ReportReader &reader, const json &from) {
  SavedValue value;
  value.op = reader.integer(from, "op");
  value.name = reader.text(from, "name");
  value.result = reader.integer(from, "result");
  value.bytes = reader.bytes(from, "bytes");
  value.kept = reader.flag(from, "kept");
  value.executions = reader.integer(from, "executions");
  value.seconds = reader.number(from, "seconds");
  value.repeatable = reader.flag(from, "repeatable");
  value.atPeak = reader.flag(from, "at_peak");
  // Far more executions than any step has, and few enough to count with.
  if (value.result < 0 || value.result >= 1 << 30)
    reader.complain("result");
  if (value.executions < 1 || value.executions >= 1 << 30)
    reader.complain("executions");
  if (!(value.seconds >= 0) || !std::isfinite(value.seconds))
    reader.complain("seconds");
  return value;
}

Result<std::optional<std::vector<SavedValue>>> readSavedValues(const std::string &compileReport) {
  json report = json::parse(compileReport, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("saved"))
    return std::optional<std::vector<SavedValue>>();
  ReportReader reader;
  std::vector<SavedValue> values;
  for (const json &from : reader.list(report, "saved"))
    if (from.is_object())
      values.push_back(readValue(reader, from));
    else
      reader.complain("saved");
  if (!reader.missing().empty())
    return badInput(fmt::format("the compile report's saved values have no proper '{}'; compile "
                                "the model again",
                                reader.missing()));
  return std::optional(std::move(values));
}

std::string reasonText(const SavedValue &value, int64_t microBatches) {
  std::string bytes = shortSizeText(value.bytes);
  double again = value.seconds * static_cast<double>(microBatches);
  if (!value.kept) {
    int64_t more = value.executions - 1;
    std::string price = shortTimeText(again * static_cast<double>(more));
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
  return fmt::format("kept: making it again would take {} for {} at the peak", shortTimeText(again),
                     bytes);
}

} // namespace gc::runtime
