#include "runtime/report/ReportReader.h"

namespace gc::runtime {

using Json = ReportReader::json;

void ReportReader::complain(const char *key) {
  if (first.empty())
    first = key;
}

const Json *ReportReader::find(const Json &object, const char *key,
                               bool (Json::*isKind)() const noexcept) {
  auto found = object.find(key);
  if (found != object.end() && ((*found).*isKind)())
    return &*found;
  complain(key);
  return nullptr;
}

uint64_t ReportReader::bytes(const Json &object, const char *key) {
  const Json *found = find(object, key, &Json::is_number_unsigned);
  return found ? found->get<uint64_t>() : 0;
}

int64_t ReportReader::integer(const Json &object, const char *key) {
  const Json *found = find(object, key, &Json::is_number_integer);
  return found ? found->get<int64_t>() : 0;
}

double ReportReader::number(const Json &object, const char *key) {
  const Json *found = find(object, key, &Json::is_number);
  return found ? found->get<double>() : 0;
}

bool ReportReader::flag(const Json &object, const char *key) {
  const Json *found = find(object, key, &Json::is_boolean);
  return found && found->get<bool>();
}

std::string ReportReader::text(const Json &object, const char *key) {
  const Json *found = find(object, key, &Json::is_string);
  return found ? found->get<std::string>() : "";
}

const Json &ReportReader::list(const Json &object, const char *key) {
  static const Json none = Json::array();
  const Json *found = find(object, key, &Json::is_array);
  return found ? *found : none;
}

const Json &ReportReader::object(const Json &parent, const char *key) {
  static const Json none = Json::object();
  const Json *found = find(parent, key, &Json::is_object);
  return found ? *found : none;
}

} // namespace gc::runtime
