#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

namespace gc::runtime {

static bool unitFactor(std::string unit, double &factor) {
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static constexpr struct {
    const char *name;
    double factor;
  } units[] = {{"", 1},      {"b", 1},        {"kb", 1e3},     {"mb", 1e6},     {"gb", 1e9},
               {"tb", 1e12}, {"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30}, {"tib", 0x1p40}};
  for (const auto &known : units)
    if (unit == known.name) {
      factor = known.factor;
      return true;
    }
  return false;
}

Result<uint64_t> parseSize(const std::string &text) {
  auto bad = [&] {
    return badInput(fmt::format("'{}' is not a size; write bytes (1500000000) or a number with a "
                                "unit (1.5GB is 10^9, 1.5GiB is 2^30)",
                                text));
  };
  size_t digits = text.find_first_not_of("0123456789.");
  std::string number = text.substr(0, digits);
  std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  if (!unit.empty() && unit[0] == ' ')
    unit.erase(0, 1);
  double factor = 1;
  if (number.find_first_of("0123456789") == std::string::npos ||
      std::count(number.begin(), number.end(), '.') > 1 || !unitFactor(unit, factor))
    return bad();
  if (unit.empty() && number.find('.') == std::string::npos) { // exact beyond 2^53
    uint64_t value = 0;
    for (char digit : number)
      if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<uint64_t>(digit - '0'), &value))
        return bad();
    return value;
  }
  double bytes = std::floor(std::strtod(number.c_str(), nullptr) * factor);
  if (!(bytes < 0x1p64))
    return bad();
  return static_cast<uint64_t>(bytes);
}

std::string shortSizeText(uint64_t bytes) {
  static constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // GiB only from 10 on: memory budgets are compared in MiB.
  while (unit + 1 < std::size(units) && value >= (unit == 2 ? 10240 : 1024)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string sizeText(uint64_t bytes) {
  if (bytes < 1024)
    return fmt::format("{} bytes", bytes);
  return fmt::format("{} bytes ({})", bytes, shortSizeText(bytes));
}

std::string durationText(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9)
    return "?";
  uint64_t whole = static_cast<uint64_t>(seconds + 0.5);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Four digits, and no exponent for what people measure.
static std::string fourDigits(double value) {
  return value < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

std::string secondsText(double seconds) {
  static constexpr struct {
    double from, factor;
    const char *unit;
  } units[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {0, 1e6, "us"}};
  if (!std::isfinite(seconds) || seconds < 0)
    return "?";
  if (seconds == 0)
    return "0 s";
  for (const auto &unit : units)
    if (seconds >= unit.from)
      return fourDigits(seconds * unit.factor) + " " + unit.unit;
  return "?";
}

std::string rateText(double samplesPerSecond) {
  return fourDigits(samplesPerSecond) + " samples/s";
}

std::string countText(uint64_t count) {
  std::string digits = std::to_string(count), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0)
      text += ',';
    text += digits[i];
  }
  return text;
}

} // namespace gc::runtime
