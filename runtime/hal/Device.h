// The hardware abstraction: few nouns, and nothing above them knows which device it talks to.
//
//   Device        made by name through the registry; makes the rest
//   Executable    the plan's kernels, loaded
//   CommandBuffer a command list, recorded once, executed many times
//   Arena         the plan's memory, one range; the host may or may not see it
//   Staging       host memory that the device copies from and to by itself
//   Event         the end of a submitted command buffer or of an upload
//
// Order of life: device → executable → record command buffers (primitives are built here) → arena →
// bind each command buffer → submit, wait, submit, … An object must not outlive its device; a
// command buffer must not outlive its executable or, once bound, its arena. All calls come from one
// thread; others may write staging that no copy is reading.
//
// Work happens in the order of submission. Uploads have a queue of their own, beside it: what must
// wait for the other is said by events.
//
// Failures: ErrorClass::Device when device, driver or code cannot be had; BadInput when a plan does
// not suit the device; RunFailed when executing fails. No function throws.
#ifndef GC_RUNTIME_HAL_DEVICE_H
#define GC_RUNTIME_HAL_DEVICE_H

#include "runtime/Measurements.h"
#include "runtime/hal/Ranges.h"
#include "runtime/plan/PlanFile.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gc::runtime::hal {

/// Memory of one plan; zero-filled and resident when it is created, released when it is destroyed.
class Arena {
public:
  virtual ~Arena() = default;
  virtual size_t size() const = 0;
  /// Where the host sees the arena; null when it does not.
  virtual std::byte *hostData() = 0;
  /// Copies to and from the host, after everything that was submitted; done when they return.
  /// BadInput when the range leaves the arena.
  virtual Status write(size_t offset, std::span<const std::byte> source) = 0;
  virtual Status read(size_t offset, std::span<std::byte> target) = 0;
  /// What the system charges for it now, measured.
  virtual uint64_t residentBytes() const = 0;
};

/// Host memory for copies that the host does not wait for; zero-filled.
class Staging {
public:
  virtual ~Staging() = default;
  virtual std::span<std::byte> bytes() = 0;
};

using runtime::DeviceMemory;

/// Kernels ready to be launched.
class Executable {
public:
  virtual ~Executable() = default;
  virtual size_t kernelCount() const = 0;
  /// What was loaded in another way than the plan's first choice, and why: a sentence each.
  virtual std::vector<std::string> notices() const { return {}; }
  /// The one of these that is about commands for which a library was planned and generated kernels
  /// run; empty where there are none.
  virtual std::string withoutLibrary() const { return {}; }
};

/// When a command ran; seconds on the steady clock.
struct CommandTime {
  double begin = 0;
  double end = 0;
};

/// The completion of work that was submitted with this event. A new submission resets it. An event
/// with which nothing was submitted counts as done.
class Event {
public:
  virtual ~Event() = default;
  /// Blocks until the work is done; its outcome.
  virtual Status wait() = 0;
};

/// What happened outside the arena while commands executed, since the device was made.
struct AllocationCounters {
  uint64_t heap = 0;       ///< requests that reached the system heap
  uint64_t transients = 0; ///< requests that the plan's transient pool answered
};

/// One recorded command list.
class CommandBuffer {
public:
  virtual ~CommandBuffer() = default;
  /// Gives every buffer its address. Must precede the first submission; may be called again.
  virtual Status bind(Arena &arena) = 0;
  virtual size_t size() const = 0;
  /// One line on what command `index` does and how; stable text for logs and profiles.
  virtual std::string describe(size_t index) const = 0;
  /// How command `index` is implemented ("kernel NAME", "direct brgconv:avx512_core", …).
  virtual std::string implementation(size_t index) const = 0;
};

/// What to record. Everything pointed to must outlive the command buffer.
struct Recording {
  const gc::plan::Plan *plan = nullptr;
  const gc::plan::CommandList *commands = nullptr; ///< may be null: an empty list
  Executable *executable = nullptr;                ///< may be null when no command is a Dispatch
  uint32_t slot = 0;                               ///< inputs' slots[slot] replaces slots[0]
};

/// Bytes that the host wants to see when a command buffer is done. The target is staging.
struct Readback {
  size_t offset = 0; ///< in the arena
  std::span<std::byte> target;
};

/// What belongs to one submission; nothing of it is kept.
struct Submission {
  Event *after = nullptr;              ///< begin when this one is done
  std::span<CommandTime> times{};      ///< empty or one a command; filled when the event is done
  std::span<const Readback> results{}; ///< filled when the event is done
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// False for devices that record and check, but compute nothing.
  virtual bool executes() const = 0;
  virtual int threads() const = 0;
  /// How its maker's tools name this very device ("GPU-…", "3b:00.0"), so that it can be watched;
  /// empty where they do not.
  virtual std::string uuid() const { return {}; }
  virtual std::string pciBusId() const { return {}; }

  /// The plan's kernels and library graphs. The plan must be verified and outlive the executable.
  virtual Result<std::unique_ptr<Executable>> load(const gc::plan::Plan &plan) = 0;
  virtual Result<std::unique_ptr<CommandBuffer>> record(const Recording &recording) = 0;
  /// `plan` tells where the transient pool is; it must be verified.
  virtual Result<std::unique_ptr<Arena>> createArena(const gc::plan::Plan &plan) = 0;
  virtual Result<std::unique_ptr<Staging>> createStaging(size_t bytes) = 0;
  virtual Result<std::unique_ptr<Event>> createEvent() = 0;
  /// Starts a bound command buffer. The outcome is the event's; an error here means that nothing
  /// was started.
  virtual Status submit(CommandBuffer &buffer, Event &done, const Submission &submission = {}) = 0;
  /// Starts copying staging to the arena, once `after` (may be null) is done. Uploads follow one
  /// another; commands wait for them only where their submission says so.
  virtual Status upload(Arena &arena, size_t offset, std::span<const std::byte> staged,
                        Event *after, Event &done) = 0;
  virtual AllocationCounters allocations() const = 0;

  /// Nothing on devices that compute in the host's memory.
  virtual std::optional<DeviceMemory> memory() { return std::nullopt; }
  /// What the device is, as one JSON object, for reports that people send in.
  virtual Result<std::string> propertiesJson() = 0;
};

struct DeviceOptions {
  int threads = 0; ///< 0: as many as the process may use
  int ordinal = 0; ///< of several devices of the same kind
};

/// What a plugin exports, as extern "C". Returns null and fills `error` on failure; the caller owns
/// the device.
using CreateDeviceFunction = Device *(*)(const DeviceOptions *options, Error *error);
constexpr const char *kCreateDeviceSymbol = "gcCreateDevice";

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_DEVICE_H
