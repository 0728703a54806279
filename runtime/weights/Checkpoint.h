// A checkpoint: one safetensors file with everything needed to go on as if nothing had happened.
// Its tensors are weights, running statistics, optimizer state and generator; its metadata says
// where training stood, what that is counted in and what validations had shown.
#ifndef GC_RUNTIME_WEIGHTS_CHECKPOINT_H
#define GC_RUNTIME_WEIGHTS_CHECKPOINT_H

#include "runtime/Error.h"
#include "runtime/weights/VariableStore.h"

#include <cstdint>
#include <optional>
#include <string>

namespace gc::runtime {

struct TrainingPosition {
  uint64_t step = 0;        // steps done since the beginning
  uint64_t epoch = 0;       // the epoch the next step belongs to
  uint64_t stepInEpoch = 0; // steps of it already done
  uint64_t seed = 0;        // of the shuffle; resuming keeps it, or samples would repeat
};

/// What a position is counted in. A run that goes on must have the same, or samples would be left
/// out or come twice.
struct TrainingSetting {
  uint64_t samples = 0;    // of the training split that are used
  uint64_t batch = 0;      // samples in a step
  uint64_t epochSteps = 0; // steps in an epoch
  bool shuffle = false;
  uint64_t fingerprint = 0;  // of the data
  std::string data;          // as the header names it
  std::string optimizer;     // as the header names it; empty: not known. It may change
  std::string schedule = {}; // of the learning rate, but for its base; empty: none to follow
  std::map<std::string, std::string> notes = {}; // what else belongs to weights; written only
};

/// What validations have shown up to a step.
struct WatchState {
  std::string metric;         // "loss:min"; empty: nothing was watched
  std::optional<double> best; // of all
  uint64_t bestStep = 0, bestEpoch = 0;
  std::optional<double> reference; // the last that was an improvement
  uint64_t waited = 0;             // validations since then
  uint64_t validatedStep = 0;      // after which the last validation was; 0: none was
};

struct Checkpoint {
  TrainingPosition position;
  TrainingSetting setting;
  WatchState watch = {};
};

/// Atomic. Fails (bad input) where the place cannot be written to, (run failed) on a full disk.
Status saveCheckpoint(const std::string &path, VariableStore &store, const Checkpoint &checkpoint);
/// Reads what is beside the tensors. Fails (bad input) where the file is no checkpoint.
Result<Checkpoint> readCheckpoint(const std::string &path);
/// Loads all state into the store, too. Fails (bad input) where it is of another model or
/// optimizer.
Result<Checkpoint> loadCheckpoint(const std::string &path, VariableStore &store);

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_CHECKPOINT_H
