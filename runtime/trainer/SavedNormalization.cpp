#include "runtime/trainer/SavedNormalization.h"

#include "runtime/data/Normalization.h"
#include "runtime/weights/CheckpointFolder.h"
#include "runtime/weights/WeightFiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

namespace gc::runtime {

static constexpr const char *kNote = "gc.normalization";

std::map<std::string, std::string> normalizationNotes(const std::string &normalization) {
  Result<Normalization> values = parseNormalization(normalization);
  if (normalization.empty() || !values)
    return {};
  return {{kNote, normalization},
          {"gc.normalization.mean", fmt::format("{}", fmt::join(values->mean, ","))},
          {"gc.normalization.deviation", fmt::format("{}", fmt::join(values->deviation, ","))}};
}

Result<std::string> normalizationOfWeights(const TrainOptions &options) {
  std::vector<std::string> files = weightFiles(options.load);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  if (!options.resume.empty())
    if (Result<std::string> checkpoint = findCheckpoint(options.resume))
      files.push_back(*checkpoint);
  for (const std::string &name : files) {
    Result<SafetensorsFile> file = SafetensorsFile::open(name);
    if (!file)
      continue;
    auto note = file->metadata().find(kNote);
    if (note == file->metadata().end())
      continue;
    if (Result<Normalization> values = parseNormalization(note->second); !values)
      return badInput(fmt::format("'{}': its metadata '{}' is '{}', which is no normalization; "
                                  "write the file again",
                                  name, kNote, note->second));
    return note->second;
  }
  return std::string();
}

void warnOfOtherNormalization(const TrainOptions &options, const DataSource &data) {
  if (options.normalizeOfWeights.empty() || data.normalization.empty())
    return;
  Result<Normalization> then = parseNormalization(options.normalizeOfWeights);
  Result<Normalization> now = parseNormalization(data.normalization);
  if (then && now && !(*then == *now))
    fmt::print(stderr,
               "warning: the weights were trained on images normalized by {}; here it is {}, as "
               "--normalize={} asks\n",
               then->text(), now->text(), data.normalization);
}

} // namespace gc::runtime
