#include "runtime/process/TemporaryNames.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace gc::runtime {

static std::atomic<char *> remembered[64];
static_assert(std::atomic<char *>::is_always_lock_free, "a signal handler reads them");

TemporaryName::TemporaryName(const std::string &path) : name(::strdup(path.c_str())) {
  for (std::atomic<char *> &slot : remembered) {
    char *none = nullptr;
    if (slot.compare_exchange_strong(none, name))
      return;
  }
}

TemporaryName::TemporaryName(TemporaryName &&other) noexcept
    : name(std::exchange(other.name, nullptr)) {}

TemporaryName &TemporaryName::operator=(TemporaryName &&other) noexcept {
  std::swap(name, other.name);
  return *this;
}

TemporaryName::~TemporaryName() {
  if (!name)
    return;
  for (std::atomic<char *> &slot : remembered) {
    char *mine = name;
    if (slot.compare_exchange_strong(mine, nullptr))
      break;
  }
  std::free(name);
}

void removeTemporaries() {
  for (std::atomic<char *> &slot : remembered)
    if (const char *name = slot.load())
      ::unlink(name);
}

} // namespace gc::runtime
