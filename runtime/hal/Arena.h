// Host memory: the arena, one mapping on huge pages where the system has them, touched at creation;
// and staging.
#ifndef GC_RUNTIME_HAL_ARENA_H
#define GC_RUNTIME_HAL_ARENA_H

#include "runtime/hal/Device.h"

namespace gc::runtime::hal {

class HostArena final : public Arena {
public:
  /// Reserves and touches `bytes`; the pool is the plan's transient buffer (poolBytes 0: none).
  /// RunFailed when the system cannot give the memory.
  static Result<std::unique_ptr<HostArena>> create(size_t bytes, size_t poolOffset,
                                                   size_t poolBytes, bool touch);
  ~HostArena() override;
  size_t size() const override { return bytes_; }
  std::byte *hostData() override { return data_; }
  Status write(size_t offset, std::span<const std::byte> source) override;
  Status read(size_t offset, std::span<std::byte> target) override;
  uint64_t residentBytes() const override;
  /// Handle for allocation::StepScope.
  int pool() const { return pool_; }

private:
  HostArena() = default;
  void *mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte *data_ = nullptr;
  size_t bytes_ = 0;
  int pool_ = -1;
  size_t poolOffset_ = 0, poolBytes_ = 0;
};

/// Ordinary memory, for devices that compute on the host.
class HostStaging final : public Staging {
public:
  explicit HostStaging(size_t bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes() override { return bytes_; }

private:
  std::vector<std::byte> bytes_;
};

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_ARENA_H
