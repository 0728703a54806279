// Reads JSON that a compiler wrote and a file may have damaged: keys that are absent or of another
// type are noted, so that one check at the end is enough.
#ifndef GC_RUNTIME_REPORT_REPORTREADER_H
#define GC_RUNTIME_REPORT_REPORTREADER_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace gc::runtime {

class ReportReader {
public:
  using json = nlohmann::ordered_json;

  uint64_t bytes(const json &object, const char *key);
  int64_t integer(const json &object, const char *key);
  double number(const json &object, const char *key);
  bool flag(const json &object, const char *key);
  std::string text(const json &object, const char *key);
  /// An empty list where there is none.
  const json &list(const json &object, const char *key);
  /// An empty object where there is none.
  const json &object(const json &parent, const char *key);

  void complain(const char *key);
  /// The first key that was not what it must be; empty where all were.
  const std::string &missing() const { return first; }

private:
  /// Null, and a complaint, where it is not there or not of that kind.
  const json *find(const json &object, const char *key, bool (json::*isKind)() const noexcept);

  std::string first;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_REPORTREADER_H
