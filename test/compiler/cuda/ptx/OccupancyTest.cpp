//===- OccupancyTest.cpp - Blocks of a multiprocessor, by hand ------------===//
#include "compiler/cuda/ptx/Occupancy.h"
#include <gtest/gtest.h>

using namespace gc::cuda;

namespace {

KernelResources occupancy(const char *target, int threads, int registers, int64_t shared) {
  KernelResources kernel;
  kernel.threadsPerBlock = threads;
  kernel.registers = registers;
  kernel.sharedBytes = shared;
  computeOccupancy(kernel, *findDeviceModel(target));
  return kernel;
}

void expect(const KernelResources &kernel, int blocks, double occupancy, const char *limiter) {
  EXPECT_EQ(kernel.blocksPerMultiprocessor, blocks);
  EXPECT_DOUBLE_EQ(kernel.occupancy, occupancy);
  EXPECT_EQ(kernel.limiter, limiter);
}

TEST(Occupancy, Threads) {
  // 8 warps a block. 64 warps: 8 blocks; 24 registers: 3 x 256 a warp, 85 warps.
  expect(occupancy("sm_80", 256, 24, 0), 8, 1.0, "threads");
  // 48 warps: 6 blocks.
  expect(occupancy("sm_86", 256, 24, 0), 6, 1.0, "threads");
  // 32 warps of 48 are one block of 1024 threads.
  expect(occupancy("sm_86", 1024, 24, 0), 1, 32.0 / 48, "threads");
}

TEST(Occupancy, Blocks) {
  // One warp a block: 32, 16 and 24 blocks at most.
  expect(occupancy("sm_80", 32, 24, 0), 32, 32.0 / 64, "blocks");
  expect(occupancy("sm_86", 32, 24, 0), 16, 16.0 / 48, "blocks");
  expect(occupancy("sm_120", 32, 24, 0), 24, 24.0 / 48, "blocks");
  // 33 threads take two warps.
  expect(occupancy("sm_75", 33, 24, 0), 16, 32.0 / 32, "threads");
}

TEST(Occupancy, Registers) {
  // 65 x 32 = 2080, in portions of 256: 2304. A quarter has 16384: 7 warps, 28 in all, 3 blocks
  // of 8.
  expect(occupancy("sm_80", 256, 65, 0), 3, 24.0 / 64, "registers");
  // 255 x 32 -> 8192: 2 warps a quarter, 8 in all.
  expect(occupancy("sm_80", 256, 255, 0), 1, 8.0 / 64, "registers");
  // 1024 threads of 65 registers do not fit at all.
  expect(occupancy("sm_80", 1024, 65, 0), 0, 0.0, "registers");
}

TEST(Occupancy, Shared) {
  // 33792 + 1024 reserved = 34816: 167936 / 34816 = 4.8.
  expect(occupancy("sm_80", 128, 32, 33792), 4, 16.0 / 64, "shared");
  // 102400 / 34816 = 2.9.
  expect(occupancy("sm_86", 128, 32, 33792), 2, 8.0 / 48, "shared");
  // Nothing reserved: 65536 / 32768.
  expect(occupancy("sm_75", 128, 32, 32768), 2, 8.0 / 32, "shared");
  // One byte more takes a portion of 256 more: 65536 / 33024 = 1.98.
  expect(occupancy("sm_75", 128, 32, 32769), 1, 4.0 / 32, "shared");
  // All that a block can have.
  expect(occupancy("sm_90", 256, 32, 227 << 10), 1, 8.0 / 64, "shared");
}

} // namespace
