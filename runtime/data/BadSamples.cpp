#include "runtime/data/BadSamples.h"

#include <fmt/format.h>

#include <cstdio>

namespace gc::runtime {

void BadSamples::add(const Dataset &dataset, int64_t index, const std::string &why) {
  std::lock_guard lock(mutex);
  ++count;
  if (!seen.emplace(&dataset, index).second)
    return;
  if (told.size() < kMostTold) {
    told.push_back(why);
    fmt::print(stderr, "warning: a sample is left out: {}\n", why);
  } else if (seen.size() == kMostTold + 1) {
    fmt::print(stderr, "warning: more samples are left out; they are counted, not named\n");
  }
}

uint64_t BadSamples::samples() const {
  std::lock_guard lock(mutex);
  return seen.size();
}

uint64_t BadSamples::times() const {
  std::lock_guard lock(mutex);
  return count;
}

std::vector<std::string> BadSamples::reasons() const {
  std::lock_guard lock(mutex);
  return told;
}

} // namespace gc::runtime
