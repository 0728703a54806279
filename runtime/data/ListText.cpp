#include "runtime/data/ListText.h"

#include <cctype>
#include <cmath>
#include <cstdlib>

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

} // namespace gc::runtime
