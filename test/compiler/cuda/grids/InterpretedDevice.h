//===- InterpretedDevice.h - Runs PTX on a memory that checks -------------===//
//
// The memory knows which bytes hold something and which must not change. Within a launch no byte is
// written twice, and none is read that was written before: blocks do not see each other.
//
//===----------------------------------------------------------------------===//
#ifndef GC_TEST_COMPILER_CUDA_GRIDS_INTERPRETEDDEVICE_H
#define GC_TEST_COMPILER_CUDA_GRIDS_INTERPRETEDDEVICE_H

#include "test/emulator/ptx/Ptx.h"
#include <optional>
#include <string>
#include <vector>

namespace gc::test {

/// Throws nothing: who uses it may be compiled without exceptions.
class InterpretedDevice {
public:
  InterpretedDevice();
  ~InterpretedDevice();

  /// A buffer of uninitialised bytes; its number.
  int add(size_t bytes);
  /// One with this content, which may not be written to where `isConstant`.
  int add(const std::vector<uint8_t> &content, bool isConstant);
  void fill(int buffer, const std::vector<uint8_t> &content);
  /// The content; nothing where some byte was never written.
  std::optional<std::vector<uint8_t>> fetch(int buffer) const;

  /// Why it cannot be done; empty when it was.
  std::string load(const std::string &ptx);
  /// `launch.parameters` is set here, to the addresses of the buffers.
  std::string run(const std::string &kernel, emulator::ptx::Launch launch,
                  const std::vector<int> &buffers, emulator::ptx::Statistics *statistics = nullptr);

private:
  class Memory;
  std::unique_ptr<Memory> memory;
  std::vector<std::unique_ptr<emulator::ptx::Module>> modules;
};

} // namespace gc::test

#endif // GC_TEST_COMPILER_CUDA_GRIDS_INTERPRETEDDEVICE_H
