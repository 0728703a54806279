#include "tools/calibration/KeptFile.h"

#include "runtime/process/AtomicFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace gc::runtime;
using Json = KeptFile::Json;

static Json keyJson(int version, const MachineKey &key) {
  return {
      {"version", version}, {"cpu", key.cpu}, {"threads", key.threads}, {"library", key.library}};
}

KeptFile readKeptFile(const std::string &path, int version, const MachineKey &key) {
  KeptFile kept;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return kept;
  std::ifstream file(path, std::ios::binary);
  kept.text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) {
    kept.fault = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
    return kept;
  }
  Json content = Json::parse(kept.text, nullptr, /*allow_exceptions=*/false);
  if (!content.is_object() || !content.contains("of"))
    kept.fault = fmt::format("'{}' is damaged", path);
  else if (content["of"] != keyJson(version, key))
    kept.fault = fmt::format("'{}' is of another machine or version", path);
  else
    kept.content = std::move(content);
  return kept;
}

Status writeKeptFile(const std::string &path, int version, const MachineKey &key,
                     const Json &content) {
  Json whole = {{"of", keyJson(version, key)}};
  whole.update(content);
  return writeFileAtomically(path,
                             whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}
