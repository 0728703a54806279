#include "runtime/session/Disturbance.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gc::runtime {

/// The second number of /proc/self/schedstat, in nanoseconds. Allocates nothing: steps are being
/// watched for that.
static double waitedForCpu() {
  int fd = ::open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0; // the kernel does not tell
  char text[128] = {};
  ssize_t count = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  if (count <= 0)
    return 0;
  char *end = nullptr;
  std::strtoull(text, &end, 10);
  return 1e-9 * static_cast<double>(std::strtoull(end, nullptr, 10));
}

Disturbance Disturbance::now() {
  Disturbance now;
  now.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  now.waitedSeconds = waitedForCpu();
  rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    now.pagesFromDisk = usage.ru_majflt;
  return now;
}

double Disturbance::waitedSince(const Disturbance &begin) const {
  double elapsed = seconds - begin.seconds;
  return elapsed > 0 ? (waitedSeconds - begin.waitedSeconds) / elapsed : 0;
}

bool Disturbance::spoils(const Disturbance &begin) const {
  return pagesFromDisk != begin.pagesFromDisk || waitedSince(begin) > 0.1;
}

} // namespace gc::runtime
