// What was measured of memory and of time: one struct each, filled by devices and sessions, read by
// reports.
#ifndef GC_RUNTIME_MEASUREMENTS_H
#define GC_RUNTIME_MEASUREMENTS_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gc::runtime {

/// Where the device's own memory went; measured by its driver, not copied from the plan.
struct DeviceMemory {
  uint64_t total = 0; ///< what the device has
  /// Bytes in use once our context existed: what others had, and the context itself.
  uint64_t usedWithContext = 0;
  /// The context's part of them; absent where it is not told apart. The driver can be asked only
  /// once there is a context, so this is by how much NVML's count grew when it came: a difference,
  /// as the two count from different beginnings. At most usedWithContext.
  std::optional<uint64_t> context{};
  uint64_t libraries = 0; ///< growth from loading kernels and libraries
  uint64_t arena = 0;     ///< growth from creating the arena
  uint64_t staging = 0;   ///< pinned host memory; no part of the device's
  uint64_t used = 0;      ///< in use now, by everybody; as last known where asking fails
};

/// A session's account of memory. On a device with memory of its own, peak and libraries are the
/// device's, the rest is the process's.
struct MemoryMeasurement {
  uint64_t peakBytes = 0;         ///< arena and everything else that came after it: peak − before
  uint64_t allocationsInStep = 0; ///< requests for heap memory while steps ran
  uint64_t libraryBytes = 0;      ///< growth from loading libraries and building primitives
  uint64_t rssBeforeBytes = 0;    ///< resident just before the arena was created
  uint64_t rssPeakBytes = 0;      ///< highest resident since then
  uint64_t arenaBytes = 0;        ///< resident bytes of the arena's mapping
  std::optional<DeviceMemory> device{};
};

/// One of several ops whose work one command does.
struct CommandPart {
  std::string_view name;
  double flops = 0;
  double bytesMoved = 0;
  double secondsPredicted = 0;
  int op = -1; ///< as in CommandTime
};

/// Time of one command over its executions. The texts point into the plan and its session.
struct CommandTime {
  std::string_view name;           ///< the op it came from
  std::string_view implementation; ///< "kernel", or what the library answered
  std::string_view list;           ///< "once", "micro_batch", "step", "evaluate"
  double flops = 0;
  double bytesMoved = 0;
  double secondsPredicted = 0;
  int op = -1; ///< counts ops as the compiler did; commands of one op share it
  bool recomputed = false;
  uint64_t executions = 0;
  double seconds = 0;       ///< sum
  double medianSeconds = 0; ///< of the last executions, at most Session's kProfiledExecutions
  double lastBegin = 0;     ///< seconds since the session began, of the last execution
  double lastSeconds = 0;
  double leastSeconds = 0; ///< of the executions that medianSeconds is of
  std::string_view work{}; ///< equal for ops that take the same time; of an op's first command
  std::vector<CommandPart> parts{}; ///< its ops, where there are several
};

} // namespace gc::runtime

#endif // GC_RUNTIME_MEASUREMENTS_H
