#include "runtime/trainer/Resume.h"

#include "runtime/process/OutputCheck.h"
#include "runtime/weights/CheckpointFolder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gc::runtime {

Result<TrainOptions> resolveResume(const TrainOptions &options) {
  TrainOptions resolved = options;
  if (options.resume.empty())
    return resolved;
  if (!options.load.empty())
    return badInput("--load and --resume exclude each other: a checkpoint has its own weights");
  std::string directory = parseCheckpointPlace(options.resume).directory;
  if (directory == options.resume && !hasCheckpoint(directory) && !options.checkpoint.empty() &&
      isSamePlace(directory, options.checkpoint)) {
    // A stream of JSON stays one.
    if (options.progress != ProgressMode::None)
      fmt::print(options.progress == ProgressMode::Json ? stderr : options.out,
                 "{}no checkpoint in '{}' yet: starting from the beginning\n",
                 options.progress == ProgressMode::Json ? "note: " : "", options.resume);
    resolved.resume.clear();
    return resolved;
  }
  Result<std::string> file = findCheckpoint(options.resume);
  if (!file)
    return file.error();
  Result<Checkpoint> checkpoint = readCheckpoint(*file);
  if (!checkpoint)
    return checkpoint.error();
  uint64_t seed = checkpoint->position.seed;
  // Nothing is shuffled, but a validation split is of its seed.
  if (options.schedule.seedGiven && options.schedule.seed != seed)
    return badInput(
        fmt::format("--seed={} with --resume={}: that run was started with seed {}, and "
                    "another one would change its order of samples; leave --seed out",
                    options.schedule.seed, options.resume, seed));
  resolved.schedule.seed = seed;
  return resolved;
}

Status checkSameSetting(const TrainingSetting &then, const TrainingSetting &now) {
  std::vector<std::string> differences;
  if (then.fingerprint != now.fingerprint)
    differences.push_back(
        then.data == now.data
            ? fmt::format("the content of the data ({}) has changed", now.data)
            : fmt::format("it was trained on other data ({}, here {})", then.data, now.data));
  auto compare = [&](const char *what, uint64_t before, uint64_t present) {
    if (before != present)
      differences.push_back(fmt::format("it has {} {}, here {}", before, what, present));
  };
  compare("samples in use (--limit)", then.samples, now.samples);
  compare("samples in a batch", then.batch, now.batch);
  compare("steps in an epoch", then.epochSteps, now.epochSteps);
  if (then.shuffle != now.shuffle)
    differences.push_back(fmt::format("it was trained {} --shuffle, here {} it",
                                      then.shuffle ? "with" : "without",
                                      now.shuffle ? "with" : "without"));
  if (then.schedule != now.schedule)
    differences.push_back(fmt::format("its learning rate was {}, here {} (--schedule, --warmup, "
                                      "--min-lr, and the length of the run where they follow it)",
                                      then.schedule, now.schedule));
  if (differences.empty())
    return {};
  return badInput(fmt::format("the checkpoint is of another run: {}; use the same data, --limit, "
                              "--shuffle, batch and schedule, or start a new run without --resume",
                              fmt::join(differences, "; ")));
}

Status checkPosition(const TrainingPosition &position, uint64_t epochSteps, uint64_t totalSteps) {
  uint64_t steps = 0;
  if (position.stepInEpoch >= epochSteps ||
      __builtin_mul_overflow(position.epoch, epochSteps, &steps) ||
      __builtin_add_overflow(steps, position.stepInEpoch, &steps) || steps != position.step)
    return badInput(fmt::format("the checkpoint claims to stand at step {}, which is step {} of "
                                "epoch {}; an epoch has {} steps here, so that cannot be: it is "
                                "damaged or of another run",
                                position.step, position.stepInEpoch, position.epoch, epochSteps));
  if (position.step > totalSteps)
    return badInput(
        fmt::format("the checkpoint stands at step {}, beyond the {} that this run is "
                    "to have; --steps and --epochs count from the beginning of training",
                    position.step, totalSteps));
  return {};
}

} // namespace gc::runtime
