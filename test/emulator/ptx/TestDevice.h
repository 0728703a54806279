//===- TestDevice.h - a small device memory for the interpreter's tests ----===//
#pragma once

#include "test/emulator/ptx/Ptx.h"

#include <cstring>
#include <map>

namespace gc::emulator::ptx {

/// Allocations with gaps between them; knows which bytes were written and what was freed.
class TestMemory : public GlobalMemory {
public:
  std::byte *access(uint64_t address, uint32_t bytes, AccessKind kind) override {
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin())
      throw Fault(Fault::Kind::IllegalAddress, "no memory at " + std::to_string(address));
    auto &[start, allocation] = *std::prev(next);
    uint64_t offset = address - start;
    if (offset + bytes > allocation.storage.size())
      throw Fault(Fault::Kind::IllegalAddress, "out of bounds at " + std::to_string(address));
    if (allocation.freed)
      throw Fault(Fault::Kind::UseAfterFree, "use after free at " + std::to_string(address));
    for (uint64_t i = offset; i < offset + bytes; ++i) {
      if (kind != AccessKind::Write && !allocation.written[i])
        throw Fault(Fault::Kind::Uninitialised, "uninitialised at " + std::to_string(address));
      if (kind != AccessKind::Read)
        allocation.written[i] = true;
    }
    ++accesses;
    return allocation.storage.data() + offset;
  }
  uint64_t allocate(size_t bytes, size_t alignment) override {
    uint64_t address = (top + alignment - 1) / alignment * alignment;
    allocations[address] = {std::vector<std::byte>(bytes), std::vector<uint8_t>(bytes), false};
    top = address + bytes + 4096;
    return address;
  }
  void free(uint64_t address) { allocations.at(address).freed = true; }

  template <class T> uint64_t upload(const std::vector<T> &values) {
    uint64_t address = allocate(values.size() * sizeof(T), 256);
    std::memcpy(access(address, values.size() * sizeof(T), AccessKind::Write), values.data(),
                values.size() * sizeof(T));
    return address;
  }
  template <class T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), access(address, count * sizeof(T), AccessKind::Read),
                count * sizeof(T));
    return values;
  }
  uint64_t accesses = 0;

private:
  struct Allocation {
    std::vector<std::byte> storage;
    std::vector<uint8_t> written;
    bool freed;
  };
  std::map<uint64_t, Allocation> allocations;
  uint64_t top = 0x700000000000;
};

/// Kernel parameters, laid out with their natural alignment.
template <class... Ts> std::vector<std::byte> pack(Ts... values) {
  std::vector<std::byte> bytes;
  auto add = [&](auto value) {
    bytes.resize((bytes.size() + sizeof(value) - 1) / sizeof(value) * sizeof(value));
    bytes.resize(bytes.size() + sizeof(value));
    std::memcpy(bytes.data() + bytes.size() - sizeof(value), &value, sizeof(value));
  };
  (add(values), ...);
  return bytes;
}

} // namespace gc::emulator::ptx
