// The memory of an emulated device. Addresses are no host pointers and are never used twice, so
// that a freed range is told from one that never was; between any two allocations lies a gap. Each
// byte knows whether it was written, and each word which operation touched it last.
#ifndef GC_TEST_EMULATOR_DRIVER_DEVICEMEMORY_H
#define GC_TEST_EMULATOR_DRIVER_DEVICEMEMORY_H

#include "test/emulator/driver/Moment.h"
#include "test/emulator/ptx/Ptx.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace gc::emulator {

// Zeroed pages that cost nothing until they are touched.
class Pages {
public:
  Pages() = default;
  // Throws std::bad_alloc where the host has no room.
  explicit Pages(size_t bytes);
  Pages(Pages &&other) noexcept;
  Pages &operator=(Pages &&other) noexcept;
  ~Pages();
  std::byte *data() const { return start; }

private:
  std::byte *start = nullptr;
  size_t size = 0;
};

class DeviceMemory {
public:
  struct Block {
    uint64_t base = 0, size = 0;
    // How it came to be, for leak reports.
    std::string origin;
    bool live = true;
    Pages bytes, initialised, touched;
  };

  // `nameOf` says what an operation was, for messages about conflicts.
  DeviceMemory(uint64_t firstAddress, std::function<std::string(Epoch)> nameOf)
      : next(firstAddress), nameOf(std::move(nameOf)) {}

  // Uninitialised memory, aligned to 256 bytes. Throws std::bad_alloc where the host has no room.
  uint64_t allocate(uint64_t bytes, std::string origin);
  // Only for the first address of a live block.
  bool free(uint64_t address);

  const std::map<uint64_t, Block> &all() const { return blocks; }

  // The bytes at `address`, which the operation `moment` reads or writes. Throws ptx::Fault if they
  // are not all of one live block, if it reads what was never written, or if nothing orders it
  // after an earlier operation that conflicts. What is written counts as initialised from then on.
  // The pointer is good until the block is freed.
  std::byte *access(const Moment &moment, uint64_t address, uint64_t bytes, ptx::AccessKind kind);
  // Copies what was never written too, as never written.
  void copy(const Moment &moment, uint64_t target, uint64_t source, uint64_t bytes);

  // What the driver takes off the device for the live blocks, with one more of `bytes`: large ones
  // take pages of 2 MiB, small ones share them.
  uint64_t charged(uint64_t bytes = 0) const;

private:
  Block &locate(uint64_t address, uint64_t bytes);
  void touch(Block &block, uint64_t offset, uint64_t bytes, const Moment &moment, bool writes);
  std::string describe(uint64_t address, uint64_t bytes) const;

  std::map<uint64_t, Block> blocks;
  // The block of the last access: kernels stay in one block mostly.
  Block *recent = nullptr;
  uint64_t next;
  uint64_t small = 0, large = 0;
  std::function<std::string(Epoch)> nameOf;
};

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_DEVICEMEMORY_H
