// What training needs of whatever executes a plan. The session is one (SessionExecutor.h); tests
// have another, so that the loop's own behaviour can be checked without a device.
#ifndef GC_RUNTIME_TRAINER_STEPEXECUTOR_H
#define GC_RUNTIME_TRAINER_STEPEXECUTOR_H

#include "runtime/Error.h"
#include "runtime/Measurements.h"
#include "runtime/hal/Device.h"
#include "runtime/monitor/DeviceSampler.h"
#include "runtime/weights/BufferAccess.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

class StepExecutor : public BufferAccess {
public:
  virtual const plan::Plan &plan() const = 0;
  virtual int threads() const = 0;
  /// The device to watch while training; none unless there is one that can be.
  virtual WatchedDevice watchedDevice() const { return {}; }

  /// Host address of an input's slot, inside the arena (a staging copy on other devices).
  virtual Result<std::byte *> inputSlot(size_t input, size_t slot) = 0;
  /// Whether slots are copied to the device; then uploading one while another is computed saves
  /// time. A slot that was not uploaded is when its micro-batch starts.
  virtual bool stagesInput() const = 0;
  virtual Status upload(size_t slot) = 0;

  /// The lists of the plan. They return when the device is done.
  virtual Status runOnce() = 0;
  virtual Status runStep() = 0;
  /// A micro-batch, one at a time unless lists overlap; when it is finished, its slot may be
  /// touched and its metrics are there until the next one is finished.
  virtual Status startMicroBatch(size_t slot) = 0;
  virtual Status startEvaluate(size_t slot) = 0;
  virtual Status finishMicroBatch() = 0;

  /// Whether a list may be started while another one runs; then `finish…` finishes the older one,
  /// and two micro-batches in a row have different slots.
  virtual bool overlaps() const { return false; }
  /// Whether a step has a list of its own behind its micro-batches; its halves, where lists
  /// overlap.
  virtual bool hasStep() const = 0;
  virtual Status startStep() = 0;
  virtual Status finishStep() = 0;

  /// A scalar f32 buffer.
  virtual Result<float> readMetric(uint32_t buffer) = 0;

  virtual MemoryMeasurement memoryUse() = 0;

  /// Every command of the plan with its times; empty unless the executor was made to measure them.
  virtual std::vector<CommandTime> commandTimes() const = 0;
  /// Now, on the clock of commandTimes().
  virtual double seconds() const { return 0; }
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_STEPEXECUTOR_H
