#include "test/emulator/driver/DriverUnderTest.h"

#include <cstring>

namespace gc::emulator {
namespace {

using MemoryTest = DriverTest;

TEST_F(MemoryTest, CopiesThereAndBack) {
  LoadedDriver &driver = start();
  CUdeviceptr first = upload({1, 2, 3, 4}), second = allocate(16);
  EXPECT_EQ(first % 256, 0u);
  EXPECT_EQ(second % 256, 0u);
  ASSERT_EQ(driver.cuMemcpyDtoDAsync(second, first, 16, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemsetD8Async(second + 4, 0, 8, stream), CUDA_SUCCESS);
  EXPECT_EQ(download(second, 4), (std::vector<float>{1, 0, 0, 4}));
  EXPECT_EQ(log(), "");
}

TEST_F(MemoryTest, DeviceAddressesAreNoHostPointers) {
  LoadedDriver &driver = start();
  CUdeviceptr address = allocate(16);
  EXPECT_GT(address, uint64_t(1) << 47);
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(address, reinterpret_cast<void *>(address), 4, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemcpyDtoHAsync(nullptr, address, 4, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, MemoryIsCharged) {
  setEnvironment("GC_EMULATOR_MEMORY", "256MiB");
  LoadedDriver &driver = start();
  auto memoryUsed = reinterpret_cast<void (*)(uint64_t *)>(driver.symbol("gcEmulatorMemoryUsed"));
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(driver.cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  EXPECT_EQ(total, size_t(256) << 20);
  EXPECT_LT(before, total); // the context
  CUdeviceptr address = allocate((size_t(3) << 20) + 1);
  ASSERT_EQ(driver.cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(before - after, size_t(4) << 20); // pages of 2 MiB
  uint64_t used = 0;
  memoryUsed(&used);
  EXPECT_EQ(used, total - after);
  CUdeviceptr none = 0;
  EXPECT_EQ(driver.cuMemAlloc(&none, total), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemAlloc(&none, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(driver.cuMemFree(address), CUDA_SUCCESS);
  CUdeviceptr small = allocate(1), other = allocate(1); // share one page
  ASSERT_EQ(driver.cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(before - after, size_t(2) << 20);
  driver.cuMemFree(small);
  driver.cuMemFree(other);
  ASSERT_EQ(driver.cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(before, after);
}

TEST_F(MemoryTest, FreesOnlyWhatIsAllocated) {
  LoadedDriver &driver = start();
  CUdeviceptr address = allocate(64);
  EXPECT_EQ(driver.cuMemFree(address + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemFree(address), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemFree(0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFreeHost(&address), CUDA_ERROR_INVALID_VALUE);
}

// Copies fault as kernels do, when they run; then nothing works any more.
struct Mistake {
  const char *name;
  void (*make)(LoadedDriver &, CUdeviceptr, CUstream);
  const char *message;
};

class MemoryMistakeTest : public DriverTest, public testing::WithParamInterface<Mistake> {};

TEST_P(MemoryMistakeTest, IsFoundAndSticks) {
  LoadedDriver &driver = start();
  CUdeviceptr address = allocate(64);
  GetParam().make(driver, address, stream);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(log().find(GetParam().message), std::string::npos) << log();
  CUdeviceptr other = 0;
  EXPECT_EQ(driver.cuMemAlloc(&other, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  const char *text = nullptr;
  EXPECT_EQ(driver.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
}

const Mistake mistakes[] = {
    {"BeyondTheEnd",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       driver.cuMemsetD8Async(address + 60, 0, 5, stream);
     },
     "goes beyond the end of its allocation"},
    {"Outside",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       driver.cuMemsetD8Async(address + 64, 0, 1, stream);
     },
     "is outside of every allocation"},
    {"Below",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       driver.cuMemsetD8Async(address - 1, 0, 1, stream);
     },
     "below every allocation"},
    {"AfterFree",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       driver.cuMemFree(address);
       driver.cuMemsetD8Async(address, 0, 64, stream);
     },
     "was freed"},
    {"FreedWhileQueued",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       driver.cuMemsetD8Async(address, 0, 64, stream);
       driver.cuMemFree(address);
     },
     "was freed"},
    {"Uninitialised",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       driver.cuMemsetD8Async(address, 0, 63, stream);
       void *host = nullptr;
       driver.cuMemHostAlloc(&host, 64, 0);
       driver.cuMemcpyDtoHAsync(host, address, 64, stream);
     },
     "byte 63 of it was never written"},
    {"UninitialisedCopied",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       CUdeviceptr other = 0;
       void *host = nullptr;
       driver.cuMemAlloc(&other, 64);
       driver.cuMemcpyDtoDAsync(other, address, 64, stream); // no mistake yet
       driver.cuMemHostAlloc(&host, 64, 0);
       driver.cuMemcpyDtoHAsync(host, other, 64, stream);
     },
     "byte 0 of it was never written"},
    {"PinnedSourceFreedWhileQueued",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       void *host = nullptr;
       driver.cuMemHostAlloc(&host, 64, 0);
       driver.cuMemcpyHtoDAsync(address, host, 64, stream);
       driver.cuMemFreeHost(host);
     },
     "its pinned memory was freed"},
    {"PinnedSourceOfAGraphFreed",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       void *host = nullptr;
       CUgraph graph = nullptr;
       CUgraphExec executable = nullptr;
       driver.cuMemHostAlloc(&host, 64, 0);
       driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
       driver.cuMemcpyHtoDAsync(address, host, 64, stream);
       driver.cuStreamEndCapture(stream, &graph);
       driver.cuGraphInstantiate(&executable, graph, 0);
       driver.cuMemFreeHost(host);
       driver.cuGraphLaunch(executable, stream);
     },
     "its pinned memory was freed"},
    {"PinnedTargetFreedWhileQueued",
     [](LoadedDriver &driver, CUdeviceptr address, CUstream stream) {
       void *host = nullptr;
       driver.cuMemsetD8Async(address, 0, 64, stream);
       driver.cuMemHostAlloc(&host, 64, 0);
       driver.cuMemcpyDtoHAsync(host, address, 64, stream);
       driver.cuMemFreeHost(host);
     },
     "its pinned memory was freed"},
};

INSTANTIATE_TEST_SUITE_P(, MemoryMistakeTest, testing::ValuesIn(mistakes),
                         [](const auto &info) { return info.param.name; });

TEST_F(MemoryTest, CopyBeyondPinnedMemoryIsRefused) {
  LoadedDriver &driver = start();
  float *host = pin<float>(4);
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(allocate(32), host + 1, 16, stream), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace gc::emulator
