#include "tools/calibration/CacheFolder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

using namespace gc::runtime;

static std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

Result<std::string> cacheFolder() {
  std::filesystem::path base(variable("XDG_CACHE_HOME"));
  if (!base.is_absolute()) // the XDG specification: ignore a relative one
    base = variable("HOME").empty() ? std::filesystem::path()
                                    : std::filesystem::path(variable("HOME")) / ".cache";
  if (!base.is_absolute())
    return runFailed("neither XDG_CACHE_HOME nor HOME names a folder");
  std::filesystem::path folder = base / "gc";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    return runFailed(fmt::format("cannot make '{}': {}", folder.string(), failure.message()));
  return folder.string();
}

bool isCalibrationOff() {
  std::string_view off = variable("GC_NO_CALIBRATE");
  return !off.empty() && off != "0";
}
