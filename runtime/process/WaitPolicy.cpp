#include "runtime/process/WaitPolicy.h"

#include <cstdlib>
#include <unistd.h>

namespace gc::runtime {

/// Rounds of libgomp's loop, some nanoseconds each. docs/terminal.md has the measurement.
static constexpr const char *kSpinCount = "1000";

void waitWithLittleSpinning(char **argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT"))
    return;
  char path[4096];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0 || length == sizeof(path) - 1)
    return;
  path[length] = '\0';
  if (::setenv("GOMP_SPINCOUNT", kSpinCount, /*overwrite=*/1) != 0)
    return; // or it would start itself for ever
  ::execv(path, argv);
  ::unsetenv("GOMP_SPINCOUNT"); // it goes on as it was started
}

} // namespace gc::runtime
