#include "runtime/weights/Checkpoint.h"

#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace gc::runtime {

/// The numbers of a checkpoint by the names that they have in its metadata.
template <class Visit> static void forEachNumber(Checkpoint &checkpoint, Visit visit) {
  TrainingPosition &position = checkpoint.position;
  TrainingSetting &setting = checkpoint.setting;
  WatchState &watch = checkpoint.watch;
  visit("gc.step", position.step);
  visit("gc.epoch", position.epoch);
  visit("gc.step_in_epoch", position.stepInEpoch);
  visit("gc.seed", position.seed);
  visit("gc.samples", setting.samples);
  visit("gc.batch", setting.batch);
  visit("gc.epoch_steps", setting.epochSteps);
  visit("gc.data_fingerprint", setting.fingerprint);
  visit("gc.watch.best_step", watch.bestStep);
  visit("gc.watch.best_epoch", watch.bestEpoch);
  visit("gc.watch.waited", watch.waited);
  visit("gc.watch.validated_step", watch.validatedStep);
}

/// With all of its bits.
static std::string exactText(double value) { return fmt::format("{:a}", value); }

Status saveCheckpoint(const std::string &path, VariableStore &store, const Checkpoint &checkpoint) {
  const TrainingSetting &setting = checkpoint.setting;
  const WatchState &watch = checkpoint.watch;
  std::map<std::string, std::string> notes = {{"gc.shuffle", setting.shuffle ? "1" : "0"},
                                              {"gc.data", setting.data},
                                              {"gc.optimizer", setting.optimizer},
                                              {"gc.schedule", setting.schedule},
                                              {"gc.watch.metric", watch.metric}};
  notes.insert(setting.notes.begin(), setting.notes.end());
  if (watch.best)
    notes["gc.watch.best"] = exactText(*watch.best);
  if (watch.reference)
    notes["gc.watch.reference"] = exactText(*watch.reference);
  Checkpoint numbers = checkpoint;
  forEachNumber(numbers,
                [&](const char *key, uint64_t value) { notes[key] = std::to_string(value); });
  return store.saveState(path, notes);
}

Result<Checkpoint> readCheckpoint(const std::string &path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
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
  auto readValue = [&](const char *key, std::optional<double> &target) {
    std::string text = note(key);
    char *end = nullptr;
    if (text.empty())
      return;
    target = std::strtod(text.c_str(), &end);
    if (missing.empty() && *end)
      missing = key;
  };
  forEachNumber(checkpoint, readNumber);
  uint64_t shuffle = 0;
  readNumber("gc.shuffle", shuffle);
  readValue("gc.watch.best", checkpoint.watch.best);
  readValue("gc.watch.reference", checkpoint.watch.reference);
  if (!missing.empty())
    return badInput(fmt::format("'{}' is not a checkpoint of this version of gc: its metadata has "
                                "no number '{}'; to load weights alone use --load",
                                path, missing));
  checkpoint.setting.shuffle = shuffle != 0;
  checkpoint.setting.data = note("gc.data");
  checkpoint.setting.optimizer = note("gc.optimizer");
  checkpoint.setting.schedule = note("gc.schedule");
  checkpoint.watch.metric = note("gc.watch.metric");
  return checkpoint;
}

Result<Checkpoint> loadCheckpoint(const std::string &path, VariableStore &store) {
  Result<Checkpoint> checkpoint = readCheckpoint(path);
  if (!checkpoint)
    return checkpoint;
  if (Status loaded = store.loadState(path); !loaded)
    return loaded.error();
  return checkpoint;
}

} // namespace gc::runtime
