#include "runtime/weights/BufferCopy.h"

#include "runtime/plan/Plan_generated.h"

#include <cstring>
#include <new>
#include <string>

namespace gc::runtime {

/// So that values of any type lie where they may.
static constexpr uint64_t kAlignment = 64;

Result<BufferCopy> BufferCopy::create(const plan::Plan &plan,
                                      const std::vector<uint32_t> &buffers) {
  BufferCopy copy;
  for (uint32_t buffer : buffers) {
    uint64_t bytes = plan.buffers()->Get(buffer)->bytes();
    if (copy.places.try_emplace(buffer, Place{copy.size, bytes}).second)
      copy.size += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  copy.memory.reset(new (std::nothrow) std::byte[copy.size]);
  if (!copy.memory)
    return runFailed("there is no memory for the " + std::to_string(copy.size) +
                     " bytes from which checkpoints are written while training goes on");
  std::memset(copy.memory.get(), 0, copy.size);
  return copy;
}

Status BufferCopy::take(BufferAccess &source) {
  for (const auto &[buffer, place] : places) {
    Result<std::byte *> mapped = source.map(buffer);
    if (!mapped)
      return mapped.error();
    std::memcpy(memory.get() + place.offset, *mapped, place.bytes);
    if (Status done = source.unmap(buffer, /*written=*/false); !done)
      return done;
  }
  return {};
}

Result<std::byte *> BufferCopy::map(uint32_t buffer) {
  auto found = places.find(buffer);
  if (found == places.end())
    return runFailed("internal error: buffer " + std::to_string(buffer) + " was not copied");
  return memory.get() + found->second.offset;
}

} // namespace gc::runtime
