//===- Occupancy.cpp - How many blocks a multiprocessor holds -------------===//
#include "compiler/cuda/ptx/Occupancy.h"

#include "llvm/Support/MathExtras.h"
#include <utility>

namespace gc::cuda {

constexpr int warpSize = 32;
// A warp's registers come in such portions, out of the quarter of the multiprocessor that runs it.
constexpr int64_t registerPortion = 256;
constexpr int64_t quarters = 4;

void computeOccupancy(KernelResources &kernel, const DeviceModel &device) {
  int64_t warps = llvm::divideCeil(kernel.threadsPerBlock, warpSize);
  int64_t mostWarps = device.threadsPerMultiprocessor / warpSize;
  int64_t warpRegisters = llvm::alignTo(int64_t(kernel.registers) * warpSize, registerPortion);
  int64_t warpsByRegisters =
      warpRegisters == 0
          ? mostWarps
          : quarters * (DeviceModel::registersPerMultiprocessor / quarters / warpRegisters);
  int64_t sharedPortion = device.version < 80 ? 256 : 128;
  int64_t blockShared =
      llvm::alignTo(kernel.sharedBytes + device.reservedSharedBytes, sharedPortion);
  int64_t blocksByShared = blockShared == 0 ? device.blocksPerMultiprocessor
                                            : device.sharedBytesPerMultiprocessor / blockShared;
  const std::pair<int64_t, const char *> limits[] = {
      {mostWarps / warps, "threads"},
      {device.blocksPerMultiprocessor, "blocks"},
      {warpsByRegisters / warps, "registers"},
      {blocksByShared, "shared"},
  };
  auto least = limits[0];
  for (const auto &limit : limits)
    if (limit.first < least.first)
      least = limit;
  kernel.blocksPerMultiprocessor = int(least.first);
  kernel.limiter = least.second;
  kernel.occupancy = double(least.first * warps) / double(mostWarps);
}

} // namespace gc::cuda
