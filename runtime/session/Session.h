// A session: one plan on one device, from its arena to the end of training.
//
//   auto plan = PlanFile::load("net.plan");
//   auto session = Session::create(*plan, {.device = "cpu", .threads = 2});
//   writeVariable(name, bytes) for every variable, fill input(name, slot)
//   session->runOnce(); then per step: runMicroBatch(slot) × micro_batches, finishStep()
//
// Where the device does not compute in the host's memory, input() is staging, and a micro-batch
// first copies its slot. To copy one slot while another is computed:
//   upload(0); startMicroBatch(0); fill slot 1; upload(1); finishMicroBatch(); startMicroBatch(1);
//   …
//
// The session owns the device, the arena and every recorded command buffer. Creation is in two
// phases so that memory can be told apart: first libraries are loaded and primitives built
// (library_bytes), then the arena is created, touched and bound. A step after that allocates
// nothing.
//
// One thread drives a session; other threads may write the input slots that no command is reading
// and may call requestStop().
#ifndef GC_RUNTIME_SESSION_SESSION_H
#define GC_RUNTIME_SESSION_SESSION_H

#include "runtime/hal/Device.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/session/ProcessMemory.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gc::runtime {

struct SessionOptions {
  std::string device{}; ///< a name of the registry, with an optional ":N"; empty: the plan's own
  int threads = 0;      ///< 0: as the plan says, or as many as the process may use
  bool profile = false; ///< keep the time of every command (see Session::profile)
  /// The same for a few early executions only, which costs next to nothing. For devices whose
  /// commands run one after the other anyway.
  bool timeFirstSteps = false;
};

/// Loss and right answers of the last micro-batch.
struct Metrics {
  double loss = 0;
  double correct = 0;
};

/// Executions of a command whose times a profiling session remembers.
constexpr size_t kProfiledExecutions = 63;
/// With timeFirstSteps: how many, after the first one, which finds nothing in place.
constexpr size_t kFirstExecutions = 3;

class Session {
public:
  /// Builds everything; the plan must outlive the session. Fails with Device when the device is
  /// missing or the plan was compiled for another machine, BadInput when the plan does not suit it.
  static Result<std::unique_ptr<Session>> create(const PlanFile &plan,
                                                 const SessionOptions &options);
  ~Session();

  const PlanFile &plan() const;
  /// What the device does otherwise than the plan's first choice, and why.
  std::vector<std::string> notices() const;
  hal::Device &device();

  /// Copies a buffer, whole, to or from the host; a size that is not the buffer's is BadInput.
  Status readBuffer(uint32_t index, std::span<std::byte> target);
  Status writeBuffer(uint32_t index, std::span<const std::byte> source);
  /// The same by a variable's name, BadInput when there is none; a gradient only where the plan
  /// keeps it.
  Status readVariable(std::string_view name, std::span<std::byte> target);
  Status writeVariable(std::string_view name, std::span<const std::byte> source);
  Status readGradient(std::string_view name, std::span<std::byte> target);
  /// A buffer's bytes where the host sees them, valid for the session's life; empty on devices with
  /// memory of their own.
  std::span<std::byte> hostView(uint32_t index);

  /// Where the host fills an input's slot: the arena itself, or staging; valid for the session's
  /// life, empty when there is no such input or slot.
  std::span<std::byte> input(std::string_view name, uint32_t slot);
  /// How many slots there are to fill (the smallest count over the inputs; 1 without inputs).
  uint32_t slots() const;
  /// Whether input is copied to the device, so that uploading early is worth it.
  bool stagesInput() const;
  /// Whether one list may be started while another one runs, so that the device never waits for the
  /// host; `finish…` then finishes the older one. Two micro-batches have two slots.
  bool overlaps() const;
  /// Whether anything runs after the last micro-batch of a step.
  bool hasStep() const;

  /// Commands that run once, after the variables were written.
  Status runOnce();
  /// Starts copying a filled slot to the device, after the micro-batch that read it last; nothing
  /// where input is not staged. The slot must stay as it is until its micro-batch is finished.
  Status upload(uint32_t slot);
  /// Forward and backward of the micro-batch in `slot`, which is uploaded first where it was not
  /// since its last use.
  Status runMicroBatch(uint32_t slot);
  /// The same in two halves, with time for the host in between. One at a time, unless they overlap.
  Status startMicroBatch(uint32_t slot);
  Status startEvaluate(uint32_t slot);
  Status finishMicroBatch();
  /// The optimizer, after the last micro-batch of the step.
  Status finishStep();
  /// The same in two halves; `finishStarted` finishes whatever was started first.
  Status startStep();
  Status finishStarted();
  /// A micro-batch in inference mode; BadInput when the plan has no evaluate list.
  Status evaluateMicroBatch(uint32_t slot);

  /// Metrics of the last micro-batch that was finished; one that the plan lacks reads 0.
  Metrics metrics() const;
  Metrics evaluateMetrics() const;
  /// One of them by its buffer; BadInput where that is no metric of the plan.
  Result<float> metric(uint32_t buffer) const;

  /// Asks the loop that drives the session to end; safe in a signal handler. The session itself
  /// never stops in the middle of a step.
  void requestStop() { stop_.store(true, std::memory_order_relaxed); }
  bool stopRequested() const { return stop_.load(std::memory_order_relaxed); }

  /// What was measured so far; cheap enough to call after every step.
  MemoryMeasurement memory();
  /// Heap requests that reached the system during all commands executed so far.
  uint64_t allocationsInStep() const;
  /// Library requests answered from the plan's transient pool instead (see hal/allocation).
  uint64_t transientsInStep() const;

  /// Since the session began; the clock of profile().
  double secondsSinceBegin() const;
  /// Times per command when options.profile or timeFirstSteps is set; else empty. With
  /// timeFirstSteps, an execution that something disturbed does not count.
  std::vector<CommandTime> profile() const;
  /// Text of what each command of a list would do, one line each ("once", "micro_batch", …).
  std::vector<std::string> describe(std::string_view list) const;

private:
  Session();
  struct State;
  std::unique_ptr<State> state_;
  std::atomic<bool> stop_{false};
};

} // namespace gc::runtime

#endif // GC_RUNTIME_SESSION_SESSION_H
