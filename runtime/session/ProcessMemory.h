// What the system charges this process for, read from /proc/self.
#ifndef GC_RUNTIME_SESSION_PROCESSMEMORY_H
#define GC_RUNTIME_SESSION_PROCESSMEMORY_H

#include "runtime/hal/Device.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gc::runtime {

/// Resident bytes now (statm) and the highest since the last reset (VmHWM).
struct ProcessMemory {
  uint64_t resident = 0;
  uint64_t peak = 0;
};
ProcessMemory readProcessMemory();

/// Sets the kernel's high-water mark back to the present. False where that is not allowed; the
/// caller then has to take the highest of its own samples.
bool resetPeakMemory();

/// The session's account of memory; all measured. On a device with memory of its own, measured peak
/// and libraries are the device's, the rest is the process's.
struct MemoryMeasurement {
  uint64_t rssBeforeBytes = 0;    ///< resident just before the arena was created
  uint64_t rssPeakBytes = 0;      ///< highest resident since then
  uint64_t arenaBytes = 0;        ///< resident bytes of the arena's mapping
  uint64_t measuredPeakBytes = 0; ///< arena and everything else that came after it: peak − before
  uint64_t libraryBytes = 0;      ///< growth from loading libraries and building primitives
  std::optional<hal::DeviceMemory> device;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_SESSION_PROCESSMEMORY_H
