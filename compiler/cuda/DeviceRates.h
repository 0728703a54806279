//===- DeviceRates.h - what is reached of a data sheet's peaks --*- C++ -*-===//
//
// Shares of the peaks that are assumed, not measured: `gc-run --profile` on a device gives measured
// seconds for --costs. The cut of products and the prediction of a step take them from here.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_DEVICERATES_H
#define GC_COMPILER_CUDA_DEVICERATES_H

#include "compiler/cuda/DeviceModel.h"
#include "compiler/cuda/grids/GridDevice.h"

namespace gc::cuda {

inline constexpr double launchesPerSecond = 4e5; // as nodes of a graph that run one by one
inline constexpr double productFlopsShare = 0.6; // by products where their tiles fill the GPU
inline constexpr double productBytesShare = 0.8; // of memory's rate, by products

/// What generated kernels are cut for. With `allowTf32` products round their operands, on devices
/// that can multiply such.
inline GridDevice gridDeviceOf(const DeviceModel &device, bool allowTf32 = false) {
  return {device.multiprocessors,
          device.coresPerMultiprocessor,
          1e3 * double(device.clockKHz),
          productFlopsShare * device.flopsPerSecond(),
          productBytesShare * device.bytesPerSecond(),
          1 / launchesPerSecond,
          allowTf32 && device.hasTf32(),
          device.tf32Speedup()};
}

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_DEVICERATES_H
