// A session: one plan on one device, from its arena to the end of training.
//
//   auto plan = PlanFile::load("net.plan");
//   auto session = Session::create(*plan, {.device = "cpu", .threads = 2});
//   write every variable through variable(name), inputs through input(name, slot)
//   session->runOnce(); then per step: runMicroBatch(slot) × micro_batches, finishStep()
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
  int threads = 0;      ///< 0: as many as the process may use
  bool profile = false; ///< keep the time of every command (see Session::profile)
};

/// Loss and right answers of the last micro-batch, read from the arena.
struct Metrics {
  double loss = 0;
  double correct = 0;
};

/// Executions of a command whose times a profiling session remembers.
constexpr size_t kProfiledExecutions = 63;

/// Time of one command over its executions. The name points into the plan.
struct CommandProfile {
  std::string_view name;
  std::string_view implementation; ///< "kernel", or what the library answered
  std::string_view list;           ///< "once", "micro_batch", "step", "evaluate"
  double flops = 0;
  double bytesMoved = 0;
  double secondsPredicted = 0;
  int op = -1; ///< counts ops as the compiler did; commands of one op share it
  bool recomputed = false;
  uint64_t executions = 0;
  double seconds = 0;       ///< sum
  double medianSeconds = 0; ///< of the last executions, at most kProfiledExecutions
  double lastBegin = 0; ///< seconds since the session began, of the last execution
  double lastSeconds = 0;
};

class Session {
public:
  /// Builds everything; the plan must outlive the session. Fails with Device when the device is
  /// missing or the plan was compiled for another machine, BadInput when the plan does not suit it.
  static Result<std::unique_ptr<Session>> create(const PlanFile &plan,
                                                 const SessionOptions &options);
  ~Session();

  const PlanFile &plan() const;
  hal::Device &device();

  /// Bytes of a buffer, by index; valid for the session's life.
  std::span<std::byte> buffer(uint32_t index);
  /// Bytes of a variable, by name; empty when there is none.
  std::span<std::byte> variable(std::string_view name);
  /// Gradient kept for a variable; empty unless the plan keeps it.
  std::span<std::byte> gradient(std::string_view name);
  /// Bytes of an input's slot; empty when there is no such input or slot.
  std::span<std::byte> input(std::string_view name, uint32_t slot);
  /// How many slots there are to fill (the smallest count over the inputs; 1 without inputs).
  uint32_t slots() const;

  /// Commands that run once, after the variables were written.
  Status runOnce();
  /// Forward and backward of the micro-batch in `slot`.
  Status runMicroBatch(uint32_t slot);
  /// The optimizer, after the last micro-batch of the step.
  Status finishStep();
  /// A micro-batch in inference mode; BadInput when the plan has no evaluate list.
  Status evaluateMicroBatch(uint32_t slot);

  /// Metrics of the last runMicroBatch, until finishStep, whose commands may use their bytes; a
  /// metric that the plan lacks reads 0.
  Metrics metrics() const;
  Metrics evaluateMetrics() const;

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
  /// Times per command when options.profile is set; else empty.
  std::vector<CommandProfile> profile() const;
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
