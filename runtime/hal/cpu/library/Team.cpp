#include "runtime/hal/cpu/library/Team.h"
#include "runtime/HelperThread.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <omp.h>
#include <pthread.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace gc::runtime::cpu {
namespace {

Error tooFew(int threads, int has, const std::string &reason) {
  return deviceError("the cpu device needs " + std::to_string(threads) + " threads, OpenMP gives " +
                     std::to_string(has) + ": " + reason);
}

/// libgomp ends the process where it cannot create a thread: exit(1), in the middle of a region.
/// That must not look like a run that failed.
bool startingTeam = false;
void exitAsDeviceError() {
  if (!startingTeam)
    return;
  std::fputs("the cpu device cannot start its threads; is OMP_STACKSIZE too large?\n", stderr);
  std::fflush(nullptr);
  _exit(exits::Device);
}

/// So we try first: as many threads as it will create, all alive at the same time.
Status tryThreads(int count) {
  std::latch allTried(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    auto thread = tryThread([&] { allTried.wait(); });
    if (!thread)
      break;
    threads.push_back(std::move(*thread));
  }
  auto created = static_cast<int>(threads.size());
  allTried.count_down();
  for (std::thread &thread : threads)
    thread.join();
  if (created == count)
    return {};
  return deviceError("the cpu device needs " + std::to_string(count + 1) +
                     " threads, the system gives " + std::to_string(created + 1) +
                     "; raise the limit on processes (ulimit -u, pids.max) or memory (ulimit -v), "
                     "or compile and run with fewer --threads");
}

} // namespace

int usableThreads() { return std::max(1, omp_get_num_procs()); }

void requestTeam(int threads) {
  omp_set_num_threads(threads);
  omp_set_dynamic(0);
  omp_set_max_active_levels(1);
}

Status checkTeam(int threads) {
  if (threads <= 1)
    return {};
  if (omp_in_parallel())
    return tooFew(threads, 1, "the caller is inside a parallel region");
  if (int limit = omp_get_thread_limit(); limit < threads)
    return tooFew(threads, limit,
                  "unset OMP_THREAD_LIMIT, or compile and run with --threads=" +
                      std::to_string(limit));
  if (omp_get_dynamic())
    return tooFew(threads, 1, "OMP_DYNAMIC lets it choose; unset it");
  if (omp_get_max_active_levels() < 1)
    return tooFew(threads, 1, "OMP_MAX_ACTIVE_LEVELS forbids parallel regions; unset it");
  return {};
}

/// Kernels keep small arrays on their stack.
constexpr size_t kSmallestStack = 256 * 1024;

/// Of the calling thread.
static size_t stackBytes() {
  pthread_attr_t attributes;
  size_t bytes = SIZE_MAX;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return bytes;
}

Status startTeam(int threads) {
  requestTeam(threads);
  if (Status possible = checkTeam(threads); !possible)
    return possible;
  if (Status created = tryThreads(threads - 1); !created)
    return created;
  [[maybe_unused]] static const int registered = std::atexit(exitAsDeviceError);
  int team = 0;
  std::atomic<bool> isTight = false;
  startingTeam = true;
#pragma omp parallel num_threads(threads)
  {
    if (stackBytes() < kSmallestStack)
      isTight = true;
#pragma omp single
    team = omp_get_num_threads();
  }
  startingTeam = false;
  if (isTight)
    return deviceError("the threads of OpenMP have stacks of less than " +
                       std::to_string(kSmallestStack / 1024) +
                       " KiB, too few for kernels; unset OMP_STACKSIZE");
  if (team != threads)
    return tooFew(threads, team, "unset the variables OMP_* and GOMP_* of the environment");
  return {};
}

} // namespace gc::runtime::cpu
