#include "runtime/weights/Checkpoint.h"

#include "runtime/process/AtomicFile.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <filesystem>

namespace gc::runtime {

namespace fs = std::filesystem;

static const char *const stateFile = "state.safetensors", *const positionFile = "position.json";

static std::string statePath(const std::string &directory) {
  return (fs::path(directory) / stateFile).string();
}

std::vector<std::string> checkpointFiles() { return {stateFile, positionFile}; }

bool hasCheckpoint(const std::string &directory) {
  std::error_code failure;
  return fs::exists(statePath(directory), failure);
}

/// The numbers of a checkpoint by the names that they have in its metadata.
template <class Visit> static void forEachNumber(Checkpoint &checkpoint, Visit visit) {
  TrainingPosition &position = checkpoint.position;
  TrainingSetting &setting = checkpoint.setting;
  visit("gc.step", position.step);
  visit("gc.epoch", position.epoch);
  visit("gc.step_in_epoch", position.stepInEpoch);
  visit("gc.seed", position.seed);
  visit("gc.samples", setting.samples);
  visit("gc.batch", setting.batch);
  visit("gc.epoch_steps", setting.epochSteps);
  visit("gc.data_fingerprint", setting.fingerprint);
}

Status saveCheckpoint(const std::string &directory, VariableStore &store,
                      const Checkpoint &checkpoint) {
  std::error_code failure;
  fs::create_directories(directory, failure);
  if (failure || !fs::is_directory(directory, failure))
    return badInput(fmt::format("cannot create the checkpoint directory '{}': {}", directory,
                                failure ? failure.message() : "a file of that name is there"));
  const TrainingPosition &position = checkpoint.position;
  const TrainingSetting &setting = checkpoint.setting;
  std::map<std::string, std::string> notes = {{"gc.shuffle", setting.shuffle ? "1" : "0"},
                                              {"gc.data", setting.data},
                                              {"gc.optimizer", setting.optimizer},
                                              {"gc.schedule", setting.schedule}};
  Checkpoint numbers = checkpoint;
  forEachNumber(numbers,
                [&](const char *key, uint64_t value) { notes[key] = std::to_string(value); });
  if (Status saved = store.saveState(statePath(directory), notes); !saved)
    return saved;
  nlohmann::ordered_json json = {{"step", position.step},
                                 {"epoch", position.epoch},
                                 {"step_in_epoch", position.stepInEpoch},
                                 {"seed", position.seed},
                                 {"samples", setting.samples},
                                 {"batch", setting.batch},
                                 {"shuffle", setting.shuffle},
                                 {"data", setting.data},
                                 {"optimizer", setting.optimizer},
                                 {"schedule", setting.schedule}};
  return writeFileAtomically((fs::path(directory) / positionFile).string(),
                             json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                                 "\n");
}

Result<Checkpoint> readCheckpoint(const std::string &directory) {
  if (!hasCheckpoint(directory))
    return badInput(fmt::format("there is no checkpoint in '{}' (no {}); write one with "
                                "--checkpoint={}",
                                directory, stateFile, directory));
  Result<SafetensorsFile> file = SafetensorsFile::open(statePath(directory));
  if (!file)
    return file.error();
  auto note = [&](const char *key) {
    auto found = file->metadata().find(key);
    return found == file->metadata().end() ? "" : found->second;
  };
  Checkpoint checkpoint;
  std::string missing;
  auto readNumber = [&](const char *key, uint64_t &target) {
    std::string text = note(key);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target);
    if (missing.empty() &&
        (text.empty() || error != std::errc() || end != text.data() + text.size()))
      missing = key;
  };
  forEachNumber(checkpoint, readNumber);
  uint64_t shuffle = 0;
  readNumber("gc.shuffle", shuffle);
  if (!missing.empty())
    return badInput(fmt::format("'{}' is not a checkpoint of this version of gc: its metadata has "
                                "no number '{}'; to load weights alone use --load",
                                statePath(directory), missing));
  checkpoint.setting.shuffle = shuffle != 0;
  checkpoint.setting.data = note("gc.data");
  checkpoint.setting.optimizer = note("gc.optimizer");
  checkpoint.setting.schedule = note("gc.schedule");
  return checkpoint;
}

Result<Checkpoint> loadCheckpoint(const std::string &directory, VariableStore &store) {
  Result<Checkpoint> checkpoint = readCheckpoint(directory);
  if (!checkpoint)
    return checkpoint;
  if (Status loaded = store.loadState(statePath(directory)); !loaded)
    return loaded.error();
  return checkpoint;
}

} // namespace gc::runtime
