// OpenMP's team, held to the number of threads that was planned. oneDNN cuts its work into as many
// parts as it expects threads: in a smaller team it leaves parts out, or waits for ever for threads
// that never come. OpenMP itself gives a smaller team without a word (OMP_THREAD_LIMIT,
// OMP_DYNAMIC, OMP_MAX_ACTIVE_LEVELS, a region inside a region).
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_TEAM_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_TEAM_H

#include "runtime/plan/Result.h"

namespace gc::runtime::cpu {

/// CPUs that this process may use, whatever OpenMP binds its threads to.
int usableThreads();

/// Asks for teams of `threads` in regions that the calling thread opens from now on. What the
/// environment says is overruled where OpenMP allows it. Costs nanoseconds.
void requestTeam(int threads);

/// Device error where a region opened by the calling thread now would have fewer than `threads`
/// threads; it names what stands in the way. Opens none and costs nanoseconds.
Status checkTeam(int threads);

/// Requests a team of `threads`, starts its threads and counts them. Device error where the system
/// or OpenMP has fewer to give.
Status startTeam(int threads);

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_TEAM_H
