#include "tools/gc-import/JsonReader.h"

#include <fmt/format.h>

#include <limits>

namespace gc::importer {

using nlohmann::json;

// A graph argument holds a graph, and no exporter nests these far.
static constexpr int maxDepth = 64;
// Of a network with 200,000 ops; each of their arguments is two objects.
static constexpr size_t maxParts = 20'000'000;

std::string faultOfText(std::string_view text) {
  int depth = 0;
  size_t parts = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > maxDepth)
        return fmt::format("it is nested more than {} levels deep", maxDepth);
      if (++parts > maxParts)
        return fmt::format("it has more than {} parts", maxParts);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return "";
}

const json *JsonReader::optional(const json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

const json &JsonReader::member(const json &object, const char *key) {
  if (const json *found = optional(object, key))
    return *found;
  fail(fmt::format("a '{}' is missing", key));
  return nothing;
}

std::string JsonReader::text(const json &value, const char *what) {
  if (value.is_string())
    return value.get<std::string>();
  fail(fmt::format("{} is not a text", what));
  return "";
}

int64_t JsonReader::integer(const json &value, const char *what) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)
    fail(fmt::format("{} is too large", what));
  else if (value.is_number_integer())
    return value.get<int64_t>();
  else
    fail(fmt::format("{} is not a whole number", what));
  return 0;
}

double JsonReader::number(const json &value, const char *what) {
  if (value.is_number())
    return value.get<double>();
  if (value == "Infinity")
    return std::numeric_limits<double>::infinity();
  if (value == "-Infinity")
    return -std::numeric_limits<double>::infinity();
  if (value == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  fail(fmt::format("{} is not a number", what));
  return 0;
}

bool JsonReader::truth(const json &value, const char *what) {
  if (value.is_boolean())
    return value.get<bool>();
  fail(fmt::format("{} is neither true nor false", what));
  return false;
}

const json &JsonReader::array(const json &value, const char *what) {
  if (!value.is_array())
    fail(fmt::format("{} is not a list", what));
  return value.is_array() ? value : nothing;
}

const json &JsonReader::object(const json &value, const char *what) {
  if (!value.is_object())
    fail(fmt::format("{} is not an object", what));
  return value.is_object() ? value : nothing;
}

std::pair<std::string, const json *> JsonReader::variant(const json &value, const char *what) {
  if (value.is_object() && value.size() == 1)
    return {value.begin().key(), &*value.begin()};
  fail(fmt::format("{} is not one of several kinds", what));
  return {"", &nothing};
}

} // namespace gc::importer
