// What the system charges this process for, read from /proc/self.
#ifndef GC_RUNTIME_SESSION_PROCESSMEMORY_H
#define GC_RUNTIME_SESSION_PROCESSMEMORY_H

#include <cstddef>
#include <cstdint>

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

} // namespace gc::runtime

#endif // GC_RUNTIME_SESSION_PROCESSMEMORY_H
