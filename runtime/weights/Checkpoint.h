// A checkpoint directory: everything needed to go on as if nothing had happened.
//
//   state.safetensors   weights, running statistics, optimizer state, generator
//   position.json       where training stood, for people to read
//
// The state file carries position and setting in its own metadata and is replaced atomically, so
// that they can never disagree: a crash at any moment leaves the previous checkpoint or the new
// one.
#ifndef GC_RUNTIME_WEIGHTS_CHECKPOINT_H
#define GC_RUNTIME_WEIGHTS_CHECKPOINT_H

#include "runtime/Error.h"
#include "runtime/weights/VariableStore.h"

#include <cstdint>
#include <string>
#include <vector>

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
  uint64_t fingerprint = 0; // of the data
  std::string data;         // as the header names it
  std::string optimizer;    // as the header names it; empty: not known. It may change
  std::string schedule;     // of the learning rate, but for its base; empty: none to follow
};

struct Checkpoint {
  TrainingPosition position;
  TrainingSetting setting;
};

/// The files of a checkpoint directory.
std::vector<std::string> checkpointFiles();
bool hasCheckpoint(const std::string &directory);
/// Creates the directory where it is missing.
Status saveCheckpoint(const std::string &directory, VariableStore &store,
                      const Checkpoint &checkpoint);
/// Reads what is beside the state. Fails (bad input) where the directory holds no checkpoint.
Result<Checkpoint> readCheckpoint(const std::string &directory);
/// Loads all state into the store, too. Fails (bad input) where it is of another model or
/// optimizer.
Result<Checkpoint> loadCheckpoint(const std::string &directory, VariableStore &store);

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_CHECKPOINT_H
