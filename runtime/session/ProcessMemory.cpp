#include "runtime/session/ProcessMemory.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace gc::runtime {

ProcessMemory readProcessMemory() {
  ProcessMemory memory;
  // Read without stdio's heap buffer, so that measuring does not itself grow the process.
  char text[4096];
  int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return memory;
  size_t used = 0;
  ssize_t got;
  while (used + 1 < sizeof(text) && (got = ::read(file, text + used, sizeof(text) - 1 - used)) > 0)
    used += static_cast<size_t>(got);
  ::close(file);
  text[used] = '\0';
  auto field = [&](const char *key) -> uint64_t {
    const char *at = std::strstr(text, key);
    unsigned long long kib = 0;
    return at && std::sscanf(at + std::strlen(key), "%llu", &kib) == 1 ? kib * 1024 : 0;
  };
  memory.resident = field("VmRSS:");
  memory.peak = field("VmHWM:");
  return memory;
}

bool resetPeakMemory() {
  int file = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  bool done = ::write(file, "5", 1) == 1;
  ::close(file);
  return done;
}

} // namespace gc::runtime
