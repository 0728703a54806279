// Counts heap requests made while a step executes, and answers small transient ones from the arena.
//
// Linking this library replaces malloc and its family in the whole process (glibc's own functions
// do the work). Outside an armed step, and on threads that do not execute steps, requests pass
// through. Inside one, they are first tried in the pool given to the scope; what does not fit there
// goes to the system heap and is counted.
#ifndef GC_RUNTIME_HAL_ALLOCATION_ALLOCATION_H
#define GC_RUNTIME_HAL_ALLOCATION_ALLOCATION_H

#include <cstddef>
#include <cstdint>

namespace gc::runtime::allocation {

/// Whether requests are counted and answered from pools. They are not in builds with a sanitizer
/// (GC_SANITIZE), which replaces the same functions for its own purpose.
#ifdef GC_SANITIZED
inline constexpr bool kCountsRequests = false;
#else
inline constexpr bool kCountsRequests = true;
#endif

/// Marks the calling thread as one that executes steps; only marked threads are counted.
void markExecutingThread();

/// Registers [base, base + bytes) as a pool; the memory stays the caller's. Returns a handle, or -1
/// when 64 pools are registered already or the range is too small to be of use.
int addPool(void *base, size_t bytes);
/// Ends a pool. False when something allocated from it is still alive: the memory must then stay
/// mapped for the rest of the process, or a late free would hit a foreign address.
bool removePool(int pool);

/// Arms counting for the life of the scope; scopes do not nest. `pool` may be -1.
class StepScope {
public:
  explicit StepScope(int pool);
  ~StepScope();
  StepScope(const StepScope &) = delete;
  StepScope &operator=(const StepScope &) = delete;
};

struct Counters {
  uint64_t heap = 0;      ///< requests that reached the system heap during armed steps
  uint64_t heapBytes = 0; ///< their bytes
  uint64_t pool = 0;      ///< requests answered from a pool
};
Counters counters();

/// Highest number of bytes ever used in the pool, for sizing it.
size_t poolPeakBytes(int pool);

} // namespace gc::runtime::allocation

#endif // GC_RUNTIME_HAL_ALLOCATION_ALLOCATION_H
