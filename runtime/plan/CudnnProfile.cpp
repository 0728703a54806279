#include "runtime/plan/CudnnProfile.h"

namespace gc::plan {

/// Replaces the number of `"key":123` behind `from`.
static bool replaceNumber(std::string &text, size_t from, const std::string &key, int value) {
  std::string name = "\"" + key + "\":";
  size_t begin = text.find(name, from);
  if (begin == std::string::npos)
    return false;
  begin += name.size();
  size_t end = text.find_first_not_of("0123456789", begin);
  if (end == begin || end == std::string::npos)
    return false;
  text.replace(begin, end - begin, std::to_string(value));
  return true;
}

std::optional<std::string> fitCudnnPlan(std::string_view plan, int driverVersion,
                                        int multiprocessors) {
  std::string fitted(plan);
  size_t profile = fitted.find("\"GPUProfile\":{");
  if (profile == std::string::npos ||
      !replaceNumber(fitted, profile, "multiProcessorCount", multiprocessors) ||
      !replaceNumber(fitted, profile, "driverVer", driverVersion))
    return std::nullopt;
  return fitted;
}

std::string cudnnVersionText(size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

} // namespace gc::plan
