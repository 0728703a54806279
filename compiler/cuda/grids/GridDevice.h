//===- GridDevice.h - what kernels are cut for ------------------*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_GRIDS_GRIDDEVICE_H
#define GC_COMPILER_CUDA_GRIDS_GRIDDEVICE_H

#include <cstdint>

namespace gc::cuda {

/// What the cut of a product depends on of a GPU. Plans for one GPU have one such, so that equal
/// ops get equal kernels.
struct GridDevice {
  int64_t multiprocessors;
  int64_t lanes;          // f32, of a multiprocessor
  double clock;           // cycles in a second
  double flopsPerSecond;  // of products whose tiles fill the GPU
  double bytesPerSecond;  // of memory, in products
  double launchSeconds;   // what another launch costs
  bool tf32 = false;      // whether products and convolutions round their operands to TF32
  double tf32Speedup = 1; // how many times the f32 rate tensor cores then reach
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_GRIDDEVICE_H
