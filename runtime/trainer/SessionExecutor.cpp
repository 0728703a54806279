#include "runtime/trainer/SessionExecutor.h"

#include <fmt/format.h>

#include <cstdio>

namespace gc::runtime {

std::vector<std::string> noticesOf(const Session &session, bool told) {
  std::vector<std::string> notices = session.notices();
  for (const std::string &notice : notices)
    if (told)
      fmt::print(stderr, "note: {}\n", notice);
  return notices;
}

Result<std::byte *> SessionExecutor::map(uint32_t buffer) {
  if (std::span<std::byte> bytes = session.hostView(buffer); bytes.data())
    return bytes.data();
  std::vector<std::byte> &copy = copies[buffer];
  copy.resize(plan().buffers()->Get(buffer)->bytes());
  if (Status read = session.readBuffer(buffer, copy); !read) {
    copies.erase(buffer);
    return read.error();
  }
  return copy.data();
}

Status SessionExecutor::unmap(uint32_t buffer, bool written) {
  auto copy = copies.find(buffer);
  if (copy == copies.end())
    return {};
  Status done;
  if (written)
    done = session.writeBuffer(buffer, copy->second);
  copies.erase(copy);
  return done;
}

WatchedDevice SessionExecutor::watchedDevice() const {
  return {session.device().uuid(), session.device().pciBusId()};
}

Result<std::byte *> SessionExecutor::inputSlot(size_t input, size_t slot) {
  const plan::Input &entry = *plan().inputs()->Get(static_cast<flatbuffers::uoffset_t>(input));
  std::span<std::byte> bytes =
      session.input(entry.name()->string_view(), static_cast<uint32_t>(slot));
  if (bytes.empty())
    return deviceError("the session has no slot " + std::to_string(slot) + " of input '" +
                       entry.name()->str() + "'");
  return bytes.data();
}

Result<float> SessionExecutor::readMetric(uint32_t buffer) { return session.metric(buffer); }

MemoryMeasurement SessionExecutor::memoryUse() { return session.memory(); }

std::vector<CommandTime> SessionExecutor::commandTimes() const { return session.profile(); }

} // namespace gc::runtime
