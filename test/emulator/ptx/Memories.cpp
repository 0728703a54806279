#include "test/emulator/ptx/Memories.h"
#include "test/emulator/ptx/Warp.h"

#include <algorithm>

using namespace gc::emulator::ptx;

static std::string range(uint64_t address, uint32_t bytes) {
  return std::to_string(bytes) + " bytes at " + std::to_string(address);
}

SharedMemory::SharedMemory(uint32_t bytes, uint32_t granule, uint32_t warps)
    : storage(bytes), granules(bytes / granule + 1), clocks(warps * warps), warps(warps),
      shift(std::countr_zero(granule)) {}

void SharedMemory::reset() {
  std::fill(granules.begin(), granules.end(), Granule());
  std::fill(clocks.begin(), clocks.end(), 0);
  now = 1;
}

void SharedMemory::synchronise(uint32_t arrived, uint32_t waiting,
                               const std::vector<uint32_t> &times) {
  ++now;
  std::vector<uint32_t> joined(warps);
  forLanes(arrived, [&](uint32_t warp) {
    for (uint32_t other = 0; other < warps; ++other)
      joined[other] = std::max(joined[other], seen(warp, other));
    // Who waits does nothing until now; who has only arrived goes on at once.
    joined[warp] = std::max(joined[warp], waiting >> warp & 1 ? now : times[warp]);
  });
  forLanes(waiting,
           [&](uint32_t warp) { std::copy(joined.begin(), joined.end(), &seen(warp, 0)); });
}

void SharedMemory::race(uint64_t index, const char *what, uint32_t other, uint32_t lane) const {
  throw LaneFault{Fault::Kind::SharedRace, lane,
                  "race on shared memory: byte " + std::to_string(index << shift) + " is " + what +
                      (other == several ? " several other threads"
                                        : " thread " + std::to_string(other) + " of the block") +
                      " without a barrier in between"};
}

bool SharedMemory::readersBefore(const Granule &granule, uint32_t warp) {
  bool before = true;
  forLanes(granule.readWarps,
           [&](uint32_t other) { before &= granule.readTime < seen(warp, other); });
  return before;
}

void SharedMemory::recordRead(Granule &granule, uint64_t index, bool strong, uint32_t warp,
                              uint32_t lane) {
  uint16_t thread = warp * warpSize + lane;
  if (granule.writeTime == 0)
    throw LaneFault{Fault::Kind::Uninitialised, lane,
                    "read of uninitialised shared memory at " + std::to_string(index << shift)};
  if (granule.writer != thread && !(strong && granule.strongWrite) &&
      granule.writeTime >= seen(warp, granule.writer / warpSize))
    race(index, "read by this thread and was written by", granule.writer, lane);
  if (granule.readTime == 0 || granule.reader == thread || readersBefore(granule, warp)) {
    granule.reader = thread;
    granule.readWarps = 1u << warp;
    granule.strongReads = strong;
  } else {
    granule.reader = several;
    granule.readWarps |= 1u << warp;
    granule.strongReads &= strong;
  }
  granule.readTime = now;
}

void SharedMemory::write(Granule &granule, uint64_t index, bool strong, uint32_t warp,
                         uint32_t lane) {
  uint16_t thread = warp * warpSize + lane;
  if (granule.writeTime != 0 && granule.writer != thread && !(strong && granule.strongWrite) &&
      granule.writeTime >= seen(warp, granule.writer / warpSize))
    race(index, "written by this thread and was written by", granule.writer, lane);
  if (granule.readTime != 0 && granule.reader != thread && !(strong && granule.strongReads) &&
      !readersBefore(granule, warp))
    race(index, "written by this thread and was read by", granule.reader, lane);
  granule.writer = thread;
  granule.writeTime = now;
  granule.strongWrite = strong;
}

void SharedMemory::outOfBounds(uint64_t address, uint32_t bytes, uint32_t lane) const {
  throw LaneFault{Fault::Kind::SharedBounds, lane,
                  "access to shared memory out of bounds: " + range(address, bytes) +
                      ", the block has " + std::to_string(storage.size())};
}

void LocalMemory::resize(uint32_t size) {
  bytes = size;
  storage.resize(size_t(size) * warpSize);
  written.resize(storage.size());
}

void LocalMemory::reset() { std::fill(written.begin(), written.end(), 0); }

std::byte *LocalMemory::access(uint64_t address, uint32_t size, bool write, uint32_t lane) {
  if (address > bytes || size > bytes - address)
    throw LaneFault{Fault::Kind::IllegalAddress, lane,
                    "access to local memory out of bounds: " + range(address, size) +
                        ", the thread has " + std::to_string(bytes)};
  size_t first = size_t(lane) * bytes + address;
  if (write)
    std::fill_n(written.begin() + first, size, 1);
  else if (std::find(written.begin() + first, written.begin() + first + size, 0) !=
           written.begin() + first + size)
    throw LaneFault{Fault::Kind::Uninitialised, lane,
                    "read of uninitialised local memory: " + range(address, size)};
  return storage.data() + first;
}
