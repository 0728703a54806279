#include "runtime/weights/WeightFiles.h"

#include "runtime/process/Nearest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

namespace gc::runtime {

namespace fs = std::filesystem;

static bool isIndex(const std::string &path) { return path.ends_with(".index.json"); }

/// Each tensor with the name of its file, which is a plain one: a file beside the index.
static Result<std::map<std::string, std::string>> readIndex(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return badInput(fmt::format("cannot open '{}': {}{}", path, std::strerror(errno),
                                didYouMean(nearestFile(path))));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  nlohmann::json index = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return badInput(fmt::format("'{}' is not an index of weights: it has no weight_map", path));
  std::map<std::string, std::string> files;
  for (const auto &[tensor, file] : index["weight_map"].items()) {
    if (!file.is_string())
      return badInput(fmt::format("'{}': the file of tensor '{}' is no text", path, tensor));
    std::string name = file.get<std::string>();
    if (name.empty() || fs::path(name).filename().string() != name || name == "." || name == "..")
      return badInput(fmt::format("'{}' names '{}', expected a file beside it", path, name));
    files[tensor] = name;
  }
  return files;
}

Result<WeightFiles> WeightFiles::open(const std::string &path) {
  WeightFiles weights;
  auto openOne = [&](const std::string &file) -> Result<const SafetensorsFile *> {
    Result<SafetensorsFile> opened = SafetensorsFile::open(file);
    if (!opened)
      return opened.error();
    weights.files.push_back(std::make_unique<SafetensorsFile>(std::move(*opened)));
    return weights.files.back().get();
  };
  if (!isIndex(path)) {
    Result<const SafetensorsFile *> file = openOne(path);
    if (!file)
      return file.error();
    for (const auto &[name, entry] : (*file)->tensors())
      weights.byName[name] = {*file, &entry};
    return weights;
  }
  Result<std::map<std::string, std::string>> index = readIndex(path);
  if (!index)
    return index.error();
  std::map<std::string, const SafetensorsFile *> opened;
  for (const auto &[tensor, file] : *index) {
    const SafetensorsFile *&shard = opened[file];
    if (!shard) {
      Result<const SafetensorsFile *> one = openOne((fs::path(path).parent_path() / file).string());
      if (!one)
        return one.error();
      shard = *one;
    }
    const SafetensorsEntry *entry = shard->find(tensor);
    if (!entry)
      return badInput(fmt::format("'{}' says that '{}' holds tensor '{}', which it does not", path,
                                  file, tensor));
    weights.byName[tensor] = {shard, entry};
  }
  return weights;
}

std::vector<std::string> weightFiles(const std::string &path) {
  std::vector<std::string> files = {path};
  if (path.empty() || !isIndex(path))
    return files;
  if (Result<std::map<std::string, std::string>> index = readIndex(path))
    for (const auto &[tensor, file] : *index)
      files.push_back((fs::path(path).parent_path() / file).string());
  return files;
}

} // namespace gc::runtime
