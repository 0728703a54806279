// Looks into JSON that may be anything: what is not as expected sets `fault`, and reading goes on
// with empty values, so that a reader asks once at its end.
#ifndef GC_TOOLS_GC_IMPORT_JSONREADER_H
#define GC_TOOLS_GC_IMPORT_JSONREADER_H

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace gc::importer {

/// Empty where `text` may be parsed: it is neither too deep nor of too many parts.
std::string faultOfText(std::string_view text);

class JsonReader {
public:
  using json = nlohmann::json;

  std::string fault; // the first one

  const json &member(const json &object, const char *key);
  /// Null where there is none.
  const json *optional(const json &object, const char *key);
  std::string text(const json &value, const char *what);
  int64_t integer(const json &value, const char *what);
  double number(const json &value, const char *what);
  bool truth(const json &value, const char *what);
  const json &array(const json &value, const char *what);
  const json &object(const json &value, const char *what);
  /// The one member of a union: its key and value.
  std::pair<std::string, const json *> variant(const json &value, const char *what);

  void fail(const std::string &what) {
    if (fault.empty())
      fault = what;
  }

private:
  json nothing;
};

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_JSONREADER_H
