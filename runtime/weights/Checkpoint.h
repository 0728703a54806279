// A checkpoint directory: everything needed to go on as if nothing had happened.
//
//   state.safetensors   weights, running statistics, optimizer state, generator
//   position.json       where training stood, for people to read
//
// The state file carries the position in its own metadata and is replaced atomically, so that the
// two can never disagree: a crash at any moment leaves the previous checkpoint or the new one.
#ifndef GC_RUNTIME_WEIGHTS_CHECKPOINT_H
#define GC_RUNTIME_WEIGHTS_CHECKPOINT_H

#include "runtime/Error.h"
#include "runtime/weights/VariableStore.h"

#include <cstdint>
#include <string>

namespace gc::runtime {

struct TrainingPosition {
  uint64_t step = 0;        // steps done since the beginning
  uint64_t epoch = 0;       // the epoch the next step belongs to
  uint64_t stepInEpoch = 0; // steps of it already done
  uint64_t seed = 0;        // of the shuffle; resuming keeps it, or samples would repeat
};

/// Creates the directory where it is missing.
Result<void> saveCheckpoint(const std::string &directory, VariableStore &store,
                            const TrainingPosition &position);
/// Loads all state into the store. Fails (bad input) where the directory holds no checkpoint or one
/// of another model or optimizer.
Result<TrainingPosition> loadCheckpoint(const std::string &directory, VariableStore &store);

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_CHECKPOINT_H
