//===- DeviceModel.h - the GPUs that we compile for -------------*- C++ -*-===//
//
// What planning needs to know of a GPU that is not there. The numbers are from data sheets; a
// self-test on a real one prints the real ones.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_DEVICEMODEL_H
#define GC_COMPILER_CUDA_DEVICEMODEL_H

#include <cstdint>
#include <span>
#include <string>

namespace gc::cuda {

struct DeviceModel {
  const char *target; // sm_80
  const char *name;   // A100 80 GB
  int version;        // 80
  int multiprocessors;
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

  static constexpr int64_t registersPerMultiprocessor = 65536;
  static constexpr int64_t defaultSharedBytesPerBlock = 48 << 10;

  double flopsPerSecond() const; // f32, multiply and add counted as two
  double bytesPerSecond() const; // of device memory
  /// The description that cuDNN takes in place of a device.
  std::string cudnnJson() const;
};

/// All of them, from the oldest to the newest.
std::span<const DeviceModel> deviceModels();
/// By target ("sm_86"); null when there is none.
const DeviceModel *findDeviceModel(const std::string &target);
/// The newest that is not newer than a GPU of this compute capability (86 for 8.6), for which code
/// is compiled where nothing else was asked for; null when it is older than all.
const DeviceModel *deviceModelFor(int version);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_DEVICEMODEL_H
