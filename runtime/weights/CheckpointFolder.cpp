#include "runtime/weights/CheckpointFolder.h"

#include "runtime/process/AtomicFile.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gc::runtime {

namespace fs = std::filesystem;
using ListJson = nlohmann::ordered_json;

static constexpr std::string_view kPrefix = "step-", kSuffix = ".safetensors";

std::string checkpointFileName(uint64_t step) {
  return fmt::format("{}{:08}{}", kPrefix, step, kSuffix);
}

bool isCheckpointFileName(const std::string &name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix))
    return false;
  std::string digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  return digits.size() >= 8 && digits.size() <= 20 &&
         digits.find_first_not_of("0123456789") == std::string::npos;
}

static bool readCount(std::string_view text, uint64_t &count) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Result<KeepRule> parseKeepRule(const std::string &text) {
  KeepRule rule;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    size_t colon = word.find(':');
    std::string name = word.substr(0, colon);
    uint64_t count = 1;
    bool isCounted = colon != std::string::npos;
    bool isRead =
        !isCounted || (readCount(std::string_view(word).substr(colon + 1), count) && count > 0);
    if (name == "all" && !isCounted)
      rule.all = true;
    else if (name == "best" && isRead)
      rule.best = count;
    else if (name == "last" && isRead)
      rule.last = count;
    else if (!isCounted && readCount(word, count) && count > 0)
      rule.last = count;
    else
      return badInput(fmt::format("--keep={}: expected best, best:N, last, last:N, N or all, "
                                  "separated by commas",
                                  text));
  }
  return rule;
}

const KeptCheckpoint *CheckpointList::best() const {
  const KeptCheckpoint *found = nullptr;
  for (const KeptCheckpoint &one : checkpoints)
    if (one.watched && (!found || hasBetter(*one.watched, *found->watched)))
      found = &one;
  return found;
}

static std::string listPath(const std::string &directory) {
  return (fs::path(directory) / kCheckpointList).string();
}

bool hasCheckpoint(const std::string &directory) {
  std::error_code failure;
  return fs::exists(listPath(directory), failure);
}

static std::optional<double> numberIn(const ListJson &object, const char *key) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_number())
    return std::nullopt;
  return found->get<double>();
}

/// False where an entry is not what we write.
static bool readEntry(const ListJson &entry, const std::string &watched, KeptCheckpoint &kept) {
  if (!entry.is_object())
    return false;
  auto count = [&](const char *key, uint64_t &target) {
    auto found = entry.find(key);
    bool isCount = found != entry.end() && found->is_number_unsigned();
    if (isCount)
      target = found->get<uint64_t>();
    return isCount;
  };
  auto text = [&](const char *key) {
    auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
  };
  kept.file = text("file");
  kept.time = text("time");
  kept.loss = numberIn(entry, "loss");
  auto validation = entry.find("validation");
  if (validation != entry.end() && validation->is_object()) {
    kept.validationLoss = numberIn(*validation, "loss");
    kept.validationAccuracy = numberIn(*validation, "accuracy");
    kept.validationTopFive = numberIn(*validation, "top5");
    kept.watched = numberIn(*validation, watched.substr(0, watched.find(':')).c_str());
  }
  return isCheckpointFileName(kept.file) && count("step", kept.position.step) &&
         count("epoch", kept.position.epoch) && count("step_in_epoch", kept.position.stepInEpoch) &&
         count("seed", kept.position.seed) && count("bytes", kept.bytes);
}

Result<CheckpointList> readCheckpointList(const std::string &directory) {
  std::ifstream in(listPath(directory), std::ios::binary);
  if (!in)
    return badInput(fmt::format("there is no checkpoint in '{}' (no {}); write one with "
                                "--checkpoint={}",
                                directory, kCheckpointList, directory));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  ListJson list = ListJson::parse(text, nullptr, /*allow_exceptions=*/false);
  CheckpointList result;
  bool isFine = list.is_object() && list.contains("checkpoints") &&
                list["checkpoints"].is_array() && list.contains("monitor") &&
                (list["monitor"].is_string() || list["monitor"].is_null());
  if (isFine && list["monitor"].is_string())
    result.watched = list["monitor"].get<std::string>();
  if (isFine)
    for (const ListJson &entry : list["checkpoints"])
      isFine = isFine && readEntry(entry, result.watched, result.checkpoints.emplace_back());
  if (!isFine)
    return badInput(fmt::format("'{}' is damaged or not of this version of gc; the checkpoints "
                                "beside it can still be loaded one by one with --load",
                                listPath(directory)));
  return result;
}

CheckpointPlace parseCheckpointPlace(const std::string &text) {
  size_t colon = text.rfind(':');
  std::error_code failure;
  if (colon == std::string::npos || fs::is_directory(text, failure))
    return {text, "last"};
  std::string which = text.substr(colon + 1);
  uint64_t step = 0;
  if (which == "last" || which == "best" || readCount(which, step))
    return {text.substr(0, colon), which};
  return {text, "last"};
}

Result<std::string> findCheckpoint(const std::string &text) {
  CheckpointPlace place = parseCheckpointPlace(text);
  Result<CheckpointList> list = readCheckpointList(place.directory);
  if (!list)
    return list.error();
  const KeptCheckpoint *found = nullptr;
  uint64_t step = 0;
  if (place.which == "best")
    found = list->best();
  else if (place.which == "last")
    found = list->checkpoints.empty() ? nullptr : &list->checkpoints.back();
  else if (readCount(place.which, step))
    for (const KeptCheckpoint &one : list->checkpoints)
      if (one.position.step == step)
        found = &one;
  if (found)
    return (fs::path(place.directory) / found->file).string();
  std::vector<uint64_t> steps;
  for (const KeptCheckpoint &one : list->checkpoints)
    steps.push_back(one.position.step);
  return badInput(fmt::format(
      "--resume={}: '{}' has no such checkpoint; it has those of steps {}{}", text, place.directory,
      fmt::join(steps, ", "), place.which == "best" ? ", of which none was validated" : ""));
}

Result<CheckpointFolder> CheckpointFolder::open(const std::string &directory, const KeepRule &rule,
                                                const std::string &watched, uint64_t from) {
  CheckpointFolder folder;
  folder.path = directory;
  folder.rule = rule;
  if (from > 0 && hasCheckpoint(directory)) {
    Result<CheckpointList> list = readCheckpointList(directory);
    if (!list)
      return list.error();
    folder.kept = std::move(*list);
    std::erase_if(folder.kept.checkpoints,
                  [&](const KeptCheckpoint &one) { return one.position.step > from; });
    if (folder.kept.watched != watched)
      for (KeptCheckpoint &one : folder.kept.checkpoints)
        one.watched.reset();
  }
  folder.kept.watched = watched;
  return folder;
}

static ListJson orNull(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? ListJson(*value) : ListJson();
}

Status CheckpointFolder::writeList(const Checkpoint &checkpoint) const {
  const KeptCheckpoint *best = kept.best();
  const TrainingSetting &setting = checkpoint.setting;
  ListJson out = {{"last", kept.checkpoints.back().file},
                  {"best", best ? ListJson(best->file) : ListJson()},
                  {"monitor", kept.watched.empty() ? ListJson() : ListJson(kept.watched)},
                  {"checkpoints", ListJson::array()},
                  {"samples", setting.samples},
                  {"batch", setting.batch},
                  {"steps_in_epoch", setting.epochSteps},
                  {"shuffle", setting.shuffle},
                  {"data", setting.data},
                  {"optimizer", setting.optimizer}};
  for (const KeptCheckpoint &one : kept.checkpoints) {
    bool isValidated = one.validationLoss || one.validationAccuracy || one.validationTopFive;
    ListJson validation = {{"loss", orNull(one.validationLoss)},
                           {"accuracy", orNull(one.validationAccuracy)},
                           {"top5", orNull(one.validationTopFive)}};
    out["checkpoints"].push_back({{"file", one.file},
                                  {"step", one.position.step},
                                  {"epoch", one.position.epoch},
                                  {"step_in_epoch", one.position.stepInEpoch},
                                  {"seed", one.position.seed},
                                  {"loss", orNull(one.loss)},
                                  {"validation", isValidated ? validation : ListJson()},
                                  {"bytes", one.bytes},
                                  {"time", one.time}});
  }
  return writeFileAtomically(listPath(path),
                             out.dump(2, ' ', false, ListJson::error_handler_t::replace) + "\n");
}

void CheckpointFolder::removeUnlisted() const {
  std::error_code failure;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, failure)) {
    std::string name = entry.path().filename().string();
    bool isListed = std::any_of(kept.checkpoints.begin(), kept.checkpoints.end(),
                                [&](const KeptCheckpoint &one) { return one.file == name; });
    size_t partial = name.rfind(".gc-partial");
    bool isPartial = name.starts_with('.') && partial != std::string::npos && partial > 0 &&
                     isCheckpointFileName(name.substr(1, partial - 1));
    if (isPartial || (isCheckpointFileName(name) && !isListed))
      fs::remove(entry.path(), failure); // what cannot be removed is only in the way
  }
}

Status CheckpointFolder::keep(VariableStore &store, const Checkpoint &checkpoint,
                              KeptCheckpoint facts) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure || !fs::is_directory(path, failure))
    return badInput(fmt::format("cannot create the checkpoint directory '{}': {}", path,
                                failure ? failure.message() : "a file of that name is there"));
  facts.position = checkpoint.position;
  facts.file = checkpointFileName(checkpoint.position.step);
  std::string file = (fs::path(path) / facts.file).string();
  if (Status saved = saveCheckpoint(file, store, checkpoint); !saved)
    return saved;
  facts.bytes = fs::file_size(file, failure);
  facts.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  auto &all = kept.checkpoints;
  std::erase_if(all, [&](const KeptCheckpoint &one) { return one.file == facts.file; });
  all.push_back(std::move(facts));
  if (!rule.all) {
    std::vector<const KeptCheckpoint *> byValue;
    for (const KeptCheckpoint &one : all)
      if (one.watched)
        byValue.push_back(&one);
    std::stable_sort(byValue.begin(), byValue.end(), [&](const auto *a, const auto *b) {
      return kept.hasBetter(*a->watched, *b->watched);
    });
    byValue.resize(std::min<size_t>(byValue.size(), rule.best));
    std::vector<KeptCheckpoint> chosen;
    for (size_t i = 0; i < all.size(); ++i)
      if (all.size() - i <= rule.last ||
          std::find(byValue.begin(), byValue.end(), &all[i]) != byValue.end())
        chosen.push_back(all[i]);
    all = std::move(chosen);
  }
  if (Status listed = writeList(checkpoint); !listed)
    return listed;
  removeUnlisted();
  return {};
}

} // namespace gc::runtime
