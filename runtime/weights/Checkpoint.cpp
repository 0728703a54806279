#include "runtime/weights/Checkpoint.h"

#include "runtime/weights/AtomicFile.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <filesystem>

namespace gc::runtime {

namespace fs = std::filesystem;

static std::string statePath(const std::string &directory) {
  return (fs::path(directory) / "state.safetensors").string();
}

Result<void> saveCheckpoint(const std::string &directory, VariableStore &store,
                            const TrainingPosition &position) {
  std::error_code failure;
  fs::create_directories(directory, failure);
  if (failure || !fs::is_directory(directory, failure))
    return badInput(fmt::format("cannot create the checkpoint directory '{}': {}", directory,
                                failure ? failure.message() : "a file of that name is there"));
  std::map<std::string, std::string> notes = {
      {"gc.step", std::to_string(position.step)},
      {"gc.epoch", std::to_string(position.epoch)},
      {"gc.step_in_epoch", std::to_string(position.stepInEpoch)},
      {"gc.seed", std::to_string(position.seed)}};
  if (Result<void> saved = store.saveState(statePath(directory), notes); !saved)
    return saved;
  nlohmann::ordered_json json = {{"step", position.step},
                                 {"epoch", position.epoch},
                                 {"step_in_epoch", position.stepInEpoch},
                                 {"seed", position.seed}};
  return writeFileAtomically((fs::path(directory) / "position.json").string(), json.dump(2) + "\n");
}

Result<TrainingPosition> loadCheckpoint(const std::string &directory, VariableStore &store) {
  std::error_code failure;
  if (!fs::exists(statePath(directory), failure))
    return badInput(fmt::format("there is no checkpoint in '{}' (no state.safetensors); write one "
                                "with --checkpoint={}",
                                directory, directory));
  TrainingPosition position;
  {
    Result<SafetensorsFile> file = SafetensorsFile::open(statePath(directory));
    if (!file)
      return file.error();
    std::pair<const char *, uint64_t *> fields[] = {{"gc.step", &position.step},
                                                    {"gc.epoch", &position.epoch},
                                                    {"gc.step_in_epoch", &position.stepInEpoch},
                                                    {"gc.seed", &position.seed}};
    for (auto [key, target] : fields) {
      auto found = file->metadata().find(key);
      const std::string text = found == file->metadata().end() ? "" : found->second;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *target);
      if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return badInput(fmt::format("'{}' is not a checkpoint: its metadata has no number '{}'; to "
                                    "load weights alone use --load",
                                    statePath(directory), key));
    }
  }
  if (Result<void> loaded = store.loadState(statePath(directory)); !loaded)
    return loaded.error();
  return position;
}

} // namespace gc::runtime
