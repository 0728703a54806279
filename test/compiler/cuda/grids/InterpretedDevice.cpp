//===- InterpretedDevice.cpp - Runs PTX on a memory that checks -----------===//
#include "test/compiler/cuda/grids/InterpretedDevice.h"

#include <algorithm>
#include <cstring>

namespace gc::test {

using namespace emulator::ptx;

class InterpretedDevice::Memory : public GlobalMemory {
public:
  static constexpr uint8_t empty = 0, full = 1, written = 2; // written: in this launch
  struct Buffer {
    std::vector<std::byte> content;
    std::vector<uint8_t> state;
    bool isConstant;
  };
  std::vector<Buffer> buffers;

  /// Aligned to the 64 bytes that kernels may rely on, and no better; 16 GiB apart.
  static constexpr int spacing = 34;
  static uint64_t addressOf(uint64_t buffer) { return ((buffer + 1) << spacing) + 64; }

  std::byte *access(uint64_t address, uint32_t bytes, AccessKind kind) override {
    uint64_t number = (address >> spacing) - 1, offset = address - addressOf(number);
    auto fail = [&](Fault::Kind fault, const std::string &what) {
      throw Fault(fault, what + ": " + std::to_string(bytes) + " bytes at offset " +
                             std::to_string(int64_t(offset)) + " of buffer " +
                             std::to_string(number));
    };
    if (number >= buffers.size() || offset + bytes > buffers[number].content.size() ||
        offset > buffers[number].content.size())
      fail(Fault::Kind::IllegalAddress, "access out of bounds");
    Buffer &buffer = buffers[number];
    uint8_t *state = buffer.state.data() + offset;
    if (kind == AccessKind::Atomic)
      fail(Fault::Kind::Unsupported, "an atomic makes bits depend on the order of blocks");
    if (std::memchr(state, written, bytes))
      fail(Fault::Kind::Unsupported, "access to what this launch has written");
    if (kind == AccessKind::Read && std::memchr(state, empty, bytes))
      fail(Fault::Kind::Uninitialised, "read of what nothing has written");
    if (kind == AccessKind::Write) {
      if (buffer.isConstant)
        fail(Fault::Kind::Unsupported, "write to an operand");
      std::memset(state, written, bytes);
    }
    return buffer.content.data() + offset;
  }
  uint64_t allocate(size_t, size_t) override {
    throw Fault(Fault::Kind::Unsupported, "kernels have no variables of their own");
  }
};

InterpretedDevice::InterpretedDevice() : memory(std::make_unique<Memory>()) {}
InterpretedDevice::~InterpretedDevice() = default;

int InterpretedDevice::add(size_t bytes) {
  memory->buffers.push_back(
      {std::vector<std::byte>(bytes), std::vector<uint8_t>(bytes, Memory::empty), false});
  return int(memory->buffers.size()) - 1;
}

int InterpretedDevice::add(const std::vector<uint8_t> &content, bool isConstant) {
  int buffer = add(content.size());
  fill(buffer, content);
  memory->buffers[buffer].isConstant = isConstant;
  return buffer;
}

void InterpretedDevice::fill(int buffer, const std::vector<uint8_t> &content) {
  Memory::Buffer &to = memory->buffers[buffer];
  std::memcpy(to.content.data(), content.data(), content.size());
  std::fill(to.state.begin(), to.state.end(), Memory::full);
}

std::optional<std::vector<uint8_t>> InterpretedDevice::fetch(int buffer) const {
  const Memory::Buffer &from = memory->buffers[buffer];
  if (std::count(from.state.begin(), from.state.end(), Memory::empty) != 0)
    return std::nullopt;
  auto *first = reinterpret_cast<const uint8_t *>(from.content.data());
  return std::vector<uint8_t>(first, first + from.content.size());
}

std::string InterpretedDevice::load(const std::string &ptx) {
  try {
    modules.push_back(Module::parse(ptx, *memory));
    return "";
  } catch (const ParseError &error) {
    return "line " + std::to_string(error.line) + ": " + error.what();
  } catch (const Fault &fault) {
    return fault.what();
  }
}

std::string InterpretedDevice::run(const std::string &kernel, Launch launch,
                                   const std::vector<int> &buffers, Statistics *statistics) {
  for (Memory::Buffer &buffer : memory->buffers)
    std::replace(buffer.state.begin(), buffer.state.end(), Memory::written, Memory::full);
  std::vector<uint64_t> addresses;
  for (int buffer : buffers)
    addresses.push_back(Memory::addressOf(buffer));
  launch.parameters = std::as_bytes(std::span(addresses));
  auto module = std::find_if(modules.begin(), modules.end(),
                             [&](const auto &candidate) { return candidate->find(kernel); });
  if (module == modules.end())
    return "no module has a kernel '" + kernel + "'";
  try {
    emulator::ptx::run(**module, kernel, launch, *memory, statistics);
    return "";
  } catch (const Fault &fault) {
    return fault.what();
  }
}

} // namespace gc::test
