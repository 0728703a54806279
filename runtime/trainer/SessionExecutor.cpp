#include "runtime/trainer/SessionExecutor.h"

namespace gc::runtime {

Result<std::byte *> SessionExecutor::map(uint32_t buffer) {
  if (std::span<std::byte> bytes = session.hostView(buffer); bytes.data())
    return bytes.data();
  std::vector<std::byte> &copy = copies[buffer];
  copy.resize(plan().buffers()->Get(buffer)->bytes());
  if (Result<void> read = session.readBuffer(buffer, copy); !read) {
    copies.erase(buffer);
    return read.error();
  }
  return copy.data();
}

Result<void> SessionExecutor::unmap(uint32_t buffer, bool written) {
  auto copy = copies.find(buffer);
  if (copy == copies.end())
    return {};
  Result<void> done;
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

MemoryUse SessionExecutor::memoryUse() {
  MemoryMeasurement measured = session.memory();
  MemoryUse use;
  use.measuredPeakBytes = measured.measuredPeakBytes;
  use.allocationsInStep = session.allocationsInStep();
  use.libraryBytes = measured.libraryBytes;
  use.rssBeforeBytes = measured.rssBeforeBytes;
  use.rssPeakBytes = measured.rssPeakBytes;
  use.device = measured.device;
  return use;
}

std::vector<CommandTime> SessionExecutor::commandTimes() const {
  std::vector<CommandTime> times;
  for (const CommandProfile &profile : session.profile())
    times.push_back({std::string(profile.name), std::string(profile.implementation),
                     std::string(profile.list), profile.flops, profile.bytesMoved,
                     profile.secondsPredicted, profile.op, profile.recomputed, profile.executions,
                     profile.seconds, profile.medianSeconds, profile.lastBegin,
                     profile.lastSeconds});
  return times;
}

} // namespace gc::runtime
