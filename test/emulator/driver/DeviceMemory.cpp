#include "test/emulator/driver/DeviceMemory.h"

#include "test/emulator/driver/Log.h"

#include <cstring>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace gc::emulator {

using ptx::Fault;

namespace {

constexpr uint64_t alignment = 256;
constexpr uint64_t gap = uint64_t(1) << 20;
constexpr uint64_t pageBytes = uint64_t(2) << 20;

// Words in which accesses of different operations are told apart.
constexpr uint64_t wordBytes = 4;

// The last operations that wrote and read a word. One reader is remembered: of several unordered
// readers, a later writer is compared with the last.
struct Touched {
  Epoch writer, reader;
};

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

bool isSmall(uint64_t bytes) { return bytes < pageBytes / 2; }

} // namespace

Pages::Pages(size_t bytes) : size(bytes) {
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
  start = static_cast<std::byte *>(pages);
}

Pages::Pages(Pages &&other) noexcept
    : start(std::exchange(other.start, nullptr)), size(std::exchange(other.size, 0)) {}

Pages &Pages::operator=(Pages &&other) noexcept {
  std::swap(start, other.start);
  std::swap(size, other.size);
  return *this;
}

Pages::~Pages() {
  if (start)
    munmap(start, size);
}

uint64_t DeviceMemory::allocate(uint64_t bytes, std::string origin) {
  Block block;
  block.base = next;
  block.size = bytes;
  block.origin = std::move(origin);
  block.bytes = Pages(bytes);
  block.initialised = Pages(bytes);
  block.touched = Pages(roundUp(bytes, wordBytes) / wordBytes * sizeof(Touched));
  uint64_t base = block.base;
  next = roundUp(next + bytes + gap, alignment);
  if (isSmall(bytes))
    small += roundUp(bytes, alignment);
  else
    large += roundUp(bytes, pageBytes);
  blocks.emplace(base, std::move(block));
  return base;
}

bool DeviceMemory::free(uint64_t address) {
  auto found = blocks.find(address);
  if (found == blocks.end() || !found->second.live)
    return false;
  Block &block = found->second;
  if (isSmall(block.size))
    small -= roundUp(block.size, alignment);
  else
    large -= roundUp(block.size, pageBytes);
  block.live = false;
  block.bytes = Pages();
  block.initialised = Pages();
  block.touched = Pages();
  recent = nullptr;
  return true;
}

DeviceMemory::Block &DeviceMemory::locate(uint64_t address, uint64_t bytes) {
  if (!recent || address < recent->base || address - recent->base >= recent->size) {
    auto after = blocks.upper_bound(address);
    Block *block = after == blocks.begin() ? nullptr : &std::prev(after)->second;
    if (!block || address - block->base >= block->size)
      throw Fault(Fault::Kind::IllegalAddress,
                  describe(address, bytes) + " is outside of every allocation");
    if (!block->live)
      throw Fault(Fault::Kind::UseAfterFree, describe(address, bytes) + " was freed");
    recent = block;
  }
  if (bytes > recent->size - (address - recent->base))
    throw Fault(Fault::Kind::IllegalAddress,
                describe(address, bytes) + " goes beyond the end of its allocation");
  return *recent;
}

void DeviceMemory::touch(Block &block, uint64_t offset, uint64_t bytes, const Moment &moment,
                         bool writes) {
  // Neighbouring words were mostly touched by the same operation: one that was in order is not
  // asked for again.
  Epoch inOrder = moment.epoch;
  auto check = [&](Epoch earlier, const char *did) {
    if (earlier == inOrder) [[likely]]
      return;
    if (earlier != moment.epoch && !moment.clock.includes(earlier))
      throw Fault(Fault::Kind::SharedRace,
                  describe(block.base + offset, bytes) + " is " + (writes ? "written" : "read") +
                      " by " + nameOf(moment.epoch) + ", and " + nameOf(earlier) +
                      " of another stream " + did + " it: no event orders the two");
    inOrder = earlier;
  };
  auto *words = reinterpret_cast<Touched *>(block.touched.data());
  for (uint64_t word = offset / wordBytes; word * wordBytes < offset + bytes; ++word) {
    Touched &touched = words[word];
    check(touched.writer, "wrote");
    if (writes) {
      check(touched.reader, "read");
      touched.writer = moment.epoch;
    } else {
      touched.reader = moment.epoch;
    }
  }
}

std::byte *DeviceMemory::access(const Moment &moment, uint64_t address, uint64_t bytes,
                                ptx::AccessKind kind) {
  Block &block = locate(address, bytes);
  uint64_t offset = address - block.base;
  std::byte *initialised = block.initialised.data() + offset;
  bool writes = kind != ptx::AccessKind::Read;
  if (kind != ptx::AccessKind::Write)
    if (const void *bad = std::memchr(initialised, 0, bytes))
      throw Fault(Fault::Kind::Uninitialised,
                  describe(address, bytes) + " is read, but byte " +
                      std::to_string(static_cast<const std::byte *>(bad) - initialised) +
                      " of it was never written");
  touch(block, offset, bytes, moment, writes);
  if (writes)
    std::memset(initialised, 1, bytes);
  return block.bytes.data() + offset;
}

void DeviceMemory::copy(const Moment &moment, uint64_t target, uint64_t source, uint64_t bytes) {
  Block &from = locate(source, bytes), &to = locate(target, bytes);
  uint64_t fromOffset = source - from.base, toOffset = target - to.base;
  touch(from, fromOffset, bytes, moment, false);
  touch(to, toOffset, bytes, moment, true);
  std::memmove(to.bytes.data() + toOffset, from.bytes.data() + fromOffset, bytes);
  std::memmove(to.initialised.data() + toOffset, from.initialised.data() + fromOffset, bytes);
}

std::string DeviceMemory::describe(uint64_t address, uint64_t bytes) const {
  std::string text =
      "memory at " + hexadecimal(address) + " (" + std::to_string(bytes) + " bytes, ";
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin())
    return text + "below every allocation)";
  const Block &block = std::prev(after)->second;
  return text + std::to_string(address - block.base) + " bytes into " +
         (block.live ? "" : "freed ") + "allocation of " + std::to_string(block.size) + " bytes, " +
         block.origin + ")";
}

uint64_t DeviceMemory::charged(uint64_t bytes) const {
  return isSmall(bytes) ? large + roundUp(small + roundUp(bytes, alignment), pageBytes)
                        : large + roundUp(small, pageBytes) + roundUp(bytes, pageBytes);
}

} // namespace gc::emulator
