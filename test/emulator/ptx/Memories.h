//===- Memories.h - shared and local memory with their checks --------------===//
#pragma once

#include "test/emulator/ptx/Program.h"

namespace gc::emulator::ptx {

/// A fault of one lane; `run` adds kernel, line, block and thread to the message.
struct LaneFault {
  Fault::Kind kind;
  uint32_t lane;
  std::string message;
};

/// A block's shared memory. Each granule (the kernel's smallest access) remembers who wrote and who
/// read it last, and when: two accesses of different threads, at least one a write, must have a
/// barrier between them.
///
/// Time is a counter that every synchronisation raises. `seen(a, b)` is the time up to which warp
/// b's accesses happened before what warp a does now; for a == b it is the last bar.warp.sync, shfl
/// or vote. Barriers join the clocks of the warps that take part, so barriers of some warps order
/// just those warps.
class SharedMemory {
public:
  SharedMemory(uint32_t bytes, uint32_t granule, uint32_t warps);

  /// Forgets contents and history: a new block.
  void reset();
  uint32_t bytes() const { return static_cast<uint32_t>(storage.size()); }

  /// Host pointer, after the checks; throws LaneFault. `strong` accesses (atomics, volatile) do not
  /// race with each other.
  std::byte *access(uint64_t address, uint32_t bytes, AccessKind kind, bool strong, uint32_t warp,
                    uint32_t lane) {
    if (address > storage.size() || bytes > storage.size() - address)
      outOfBounds(address, bytes, lane);
    uint64_t last = (address + bytes - 1) >> shift;
    for (uint64_t i = address >> shift; i <= last; ++i) {
      if (kind != AccessKind::Write)
        read(granules[i], i, strong, warp, lane);
      if (kind != AccessKind::Read)
        write(granules[i], i, strong, warp, lane);
    }
    return storage.data() + address;
  }

  void synchroniseWarp(uint32_t warp) { seen(warp, warp) = ++now; }
  /// A new point in time, at which a warp arrives at a barrier.
  uint32_t arrive() { return ++now; }
  /// A barrier at which the warps of `arrived` (a mask) came at `times`, and those of `waiting` go
  /// on.
  void synchronise(uint32_t arrived, uint32_t waiting, const std::vector<uint32_t> &times);

private:
  static constexpr uint16_t nobody = 0xFFFF, several = 0xFFFE;
  struct Granule {
    uint32_t writeTime = 0, readTime = 0; ///< 0: never
    uint32_t readWarps = 0;
    uint16_t writer = nobody, reader = nobody; ///< threads
    bool strongWrite = false, strongReads = false;
  };
  uint32_t &seen(uint32_t warp, uint32_t other) { return clocks[warp * warps + other]; }
  void read(Granule &granule, uint64_t index, bool strong, uint32_t warp, uint32_t lane) {
    uint16_t thread = warp * warpSize + lane;
    // The common case: written before a barrier, and the reader is already on record.
    bool recorded = granule.readTime == now && granule.strongReads == strong &&
                    (granule.reader == thread ||
                     (granule.reader == several && (granule.readWarps >> warp & 1)));
    if (recorded && granule.writeTime && granule.writeTime < seen(warp, granule.writer / warpSize))
        [[likely]]
      return;
    recordRead(granule, index, strong, warp, lane);
  }
  void recordRead(Granule &granule, uint64_t index, bool strong, uint32_t warp, uint32_t lane);
  void write(Granule &granule, uint64_t index, bool strong, uint32_t warp, uint32_t lane);
  bool readersBefore(const Granule &granule, uint32_t warp);
  [[noreturn]] void outOfBounds(uint64_t address, uint32_t bytes, uint32_t lane) const;
  [[noreturn]] void race(uint64_t index, const char *what, uint32_t other, uint32_t lane) const;

  std::vector<std::byte> storage;
  std::vector<Granule> granules;
  std::vector<uint32_t> clocks;
  uint32_t warps, shift; ///< log2 of a granule's bytes
  uint32_t now = 1;
};

/// The local memory of a warp's threads.
class LocalMemory {
public:
  void resize(uint32_t bytes);
  void reset();
  /// Throws LaneFault.
  std::byte *access(uint64_t address, uint32_t bytes, bool write, uint32_t lane);

private:
  uint32_t bytes = 0;
  std::vector<std::byte> storage;
  std::vector<uint8_t> written;
};

} // namespace gc::emulator::ptx
