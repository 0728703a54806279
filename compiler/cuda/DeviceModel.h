//===- DeviceModel.h - the GPUs that we compile for -------------*- C++ -*-===//
//
// What planning needs to know of a GPU: of one that is not there by its data sheet, of one that is
// there by what its driver says.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_DEVICEMODEL_H
#define GC_COMPILER_CUDA_DEVICEMODEL_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gc::cuda {

struct DeviceModel {
  std::string target; // sm_80
  std::string name;   // A100 80 GB
  int version;        // 80
  int multiprocessors;
  /// The most multiprocessors of a GPU that plans for this one serve: of all cards of the
  /// architecture where that alone was asked for. Workspaces of library graphs grow with them.
  int servedMultiprocessors;
  int coresPerMultiprocessor;  // f32 lanes
  int64_t sharedBytesPerBlock; // the largest, by opting in
  int64_t sharedBytesPerMultiprocessor;
  int64_t reservedSharedBytes; // of each block
  int threadsPerMultiprocessor;
  int blocksPerMultiprocessor;
  int64_t clockKHz;
  int64_t memoryClockKHz;
  int memoryBusBits;
  int64_t cacheBytes; // L2
  int64_t memoryBytes;
  int tf32FlopsPerClock = 0; // of a multiprocessor's tensor cores; 0: none, or not known

  static constexpr int64_t registersPerMultiprocessor = 65536;
  static constexpr int64_t defaultSharedBytesPerBlock = 48 << 10;

  /// The version of PTX that is generated, 80 for 8.0: the oldest that knows the target, but no
  /// older than CUDA 12.0's, as old drivers refuse new versions.
  int ptxVersion() const { return version >= 120 ? 87 : version >= 100 ? 86 : 80; }
  bool hasTf32() const { return version >= 80; }
  double flopsPerSecond() const; // f32, multiply and add counted as two
  double bytesPerSecond() const; // of device memory
  /// How many times as fast products are whose operands are rounded to TF32, by the data sheet; 1
  /// where it is not known.
  double tf32Speedup() const;
  /// The description that cuDNN takes in place of a device with this many multiprocessors and a
  /// driver of this CUDA. (The runtime writes the real ones into the plans.)
  std::string cudnnJson(int multiprocessorCount, int driverVersion = 13000) const;
};

/// One for each architecture, from the oldest to the newest: a common card of it.
std::span<const DeviceModel> deviceModels();
/// The cards that we know by name, from the oldest architecture to the newest.
std::span<const DeviceModel> cards();
/// By target ("sm_86") or by a card's name, in which case, spaces, dashes and the words NVIDIA,
/// GeForce, Quadro and Tesla do not matter ("rtx-4090"); null when there is none.
const DeviceModel *findDeviceModel(const std::string &target);
/// The newest that is not newer than a GPU of this compute capability (86 for 8.6), for which code
/// is compiled where nothing else was asked for; null when it is older than all.
const DeviceModel *deviceModelFor(int version);
/// The GPU that described itself (hal::Device::propertiesJson). Nothing, and `reason`, where the
/// text lacks something or the GPU is older than all that we compile for.
std::optional<DeviceModel> describedDevice(const std::string &propertiesJson, std::string &reason);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_DEVICEMODEL_H
