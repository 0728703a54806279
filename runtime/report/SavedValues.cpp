#include "runtime/report/SavedValues.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace gc::runtime {

using nlohmann::json;

/// The key that is not what it must be; null where all are.
static const char *readSavedValue(const json &from, SavedValue &value) {
  if (!from.is_object())
    return "saved";
  auto has = [&](const char *key, auto isRight) {
    auto found = from.find(key);
    return found != from.end() && isRight(*found);
  };
  auto isInteger = [](const json &v) { return v.is_number_integer(); };
  auto isCount = [](const json &v) { return v.is_number_unsigned(); };
  auto isText = [](const json &v) { return v.is_string(); };
  auto isTruth = [](const json &v) { return v.is_boolean(); };
  auto isTime = [](const json &v) {
    return v.is_number() && v.get<double>() >= 0 && std::isfinite(v.get<double>());
  };
  // Far more than any step has, and small enough to count with.
  auto isTimes = [&](const json &v) { return isCount(v) && v > 0 && v < (1 << 30); };
  if (!has("op", isInteger))
    return "op";
  if (!has("name", isText))
    return "name";
  if (!has("result", isTimes) && !has("result", [](const json &v) { return v == 0; }))
    return "result";
  if (!has("bytes", isCount))
    return "bytes";
  if (!has("kept", isTruth))
    return "kept";
  if (!has("executions", isTimes))
    return "executions";
  if (!has("seconds", isTime))
    return "seconds";
  if (!has("repeatable", isTruth))
    return "repeatable";
  if (!has("at_peak", isTruth))
    return "at_peak";
  value = {from["op"].get<int64_t>(),     from["name"].get<std::string>(),
           from["result"].get<int64_t>(), from["bytes"].get<uint64_t>(),
           from["kept"].get<bool>(),      from["executions"].get<int64_t>(),
           from["seconds"].get<double>(), from["repeatable"].get<bool>(),
           from["at_peak"].get<bool>()};
  return nullptr;
}

Result<std::optional<std::vector<SavedValue>>> readSavedValues(const std::string &compileReport) {
  json report = json::parse(compileReport, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("saved"))
    return std::optional<std::vector<SavedValue>>();
  auto bad = [](const char *key) {
    return badInput(fmt::format("the compile report's saved values have no proper '{}'; compile "
                                "the model again",
                                key));
  };
  if (!report["saved"].is_array())
    return bad("saved");
  std::vector<SavedValue> values(report["saved"].size());
  for (size_t i = 0; i < values.size(); ++i)
    if (const char *wrong = readSavedValue(report["saved"][i], values[i]))
      return bad(wrong);
  return std::optional(std::move(values));
}

} // namespace gc::runtime
