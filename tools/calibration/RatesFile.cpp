#include "tools/calibration/RatesFile.h"

#include "compiler/Calibrate.h"
#include "tools/calibration/KeptFile.h"
#include "tools/calibration/MeasureMachine.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

using namespace gc::runtime;

RatesFile::RatesFile(const std::string &folder, MachineKey key)
    : key(std::move(key)), path_(folder + "/" + this->key.fileStem() + ".rates.json") {}

static bool isOld(const std::string &path) {
  std::error_code failure;
  auto written = std::filesystem::last_write_time(path, failure);
  return !failure &&
         std::filesystem::file_time_type::clock::now() - written > std::chrono::minutes(10);
}

RatesFile::Content RatesFile::read() const {
  KeptFile file = readKeptFile(path_, kRatesVersion, key);
  if (file.content.is_null())
    return {"", file.fault};
  if (!gc::refuseCalibration(file.text, path_).empty())
    return {"", fmt::format("'{}' is damaged", path_)};
  auto busy = file.content.find(kBusyKey);
  bool wasBusy = busy != file.content.end() && busy->is_number() && busy->get<double>() > kBusy;
  return {file.text, "", wasBusy && isOld(path_)};
}

Status RatesFile::write(const std::string &rates) const {
  KeptFile::Json content = KeptFile::Json::parse(rates, nullptr, /*allow_exceptions=*/false);
  if (!content.is_object())
    return runFailed("the rates that were measured are no JSON; please report this");
  return writeKeptFile(path_, kRatesVersion, key, content);
}
