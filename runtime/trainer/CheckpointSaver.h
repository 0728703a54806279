// Writes checkpoints while training goes on: the state is copied to host memory, and a thread
// writes the copy. There is one copy; who comes while it is being written waits.
#ifndef GC_RUNTIME_TRAINER_CHECKPOINTSAVER_H
#define GC_RUNTIME_TRAINER_CHECKPOINTSAVER_H

#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/Trainer.h"
#include "runtime/weights/BufferCopy.h"
#include "runtime/weights/CheckpointFolder.h"

#include <memory>
#include <string>
#include <thread>

namespace gc::runtime {

class CheckpointSaver {
public:
  /// With a copy, whose memory is allocated and touched now: before the session, so that it is no
  /// part of what the arena is measured by. Without one, save() returns when all is written.
  static Result<std::unique_ptr<CheckpointSaver>> create(const plan::Plan &plan, bool hasCopy);
  ~CheckpointSaver();

  /// Must be called before save(). `configuration` is written beside the first checkpoint; empty:
  /// none is.
  void open(CheckpointFolder folder, const TrainingSetting &setting, std::string configuration);
  /// Copies the state and begins to write it; fails where the checkpoint before could not be
  /// written.
  Status save(BufferAccess &source, const CheckpointMoment &moment);
  /// The same at the end: everything is written when it returns.
  Status saveLast(BufferAccess &source, const CheckpointMoment &moment);

  CheckpointReport report() const;

private:
  explicit CheckpointSaver(const plan::Plan &plan) : plan(plan) {}
  Status saveFrom(BufferAccess &source, const CheckpointMoment &moment);
  Status write(VariableStore &store, const CheckpointMoment &moment);
  /// Until the thread is done; its result.
  Status wait();

  const plan::Plan &plan;
  BufferCopy copy;
  std::unique_ptr<VariableStore> copied; // on the copy; null: there is none
  CheckpointFolder folder;
  TrainingSetting setting;
  std::string configuration;
  std::thread thread;
  Status result; // of the thread
  CheckpointReport facts;
  std::optional<uint64_t> savedStep;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_CHECKPOINTSAVER_H
