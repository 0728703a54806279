#include "runtime/data/ListText.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace gc::runtime {

std::vector<std::string> splitText(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::optional<float> parseNumber(const std::string &text) {
  char *end = nullptr;
  float value = std::strtof(text.c_str(), &end);
  bool isWhole = !text.empty() && !std::isspace(static_cast<unsigned char>(text[0])) &&
                 end == text.c_str() + text.size();
  if (!isWhole || !std::isfinite(value))
    return std::nullopt;
  return value;
}

static size_t editDistance(const std::string &from, const std::string &to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearestName(const std::string &given, const std::vector<std::string> &names) {
  return *std::min_element(names.begin(), names.end(),
                           [&](const std::string &a, const std::string &b) {
                             return editDistance(given, a) < editDistance(given, b);
                           });
}

} // namespace gc::runtime
