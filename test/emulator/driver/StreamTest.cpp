#include "test/emulator/driver/DriverUnderTest.h"

namespace gc::emulator {
namespace {

using StreamTest = DriverTest;

TEST_F(StreamTest, WorkWaitsForSynchronisation) {
  LoadedDriver &driver = start();
  CUdeviceptr device = upload({5});
  float *host = pin<float>(1);
  *host = 1;
  ASSERT_EQ(driver.cuMemcpyDtoHAsync(host, device, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(*host, 1); // not yet
  ASSERT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(*host, 5);
}

TEST_F(StreamTest, HostOverwritesWhatACopyReads) {
  LoadedDriver &driver = start();
  CUdeviceptr device = allocate(4);
  float *host = pin<float>(1);
  *host = 1;
  ASSERT_EQ(driver.cuMemcpyHtoDAsync(device, host, 4, stream), CUDA_SUCCESS);
  *host = 2;
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(log().find("the host changed the 4 bytes of pinned memory"), std::string::npos);
}

TEST_F(StreamTest, PageableMemoryIsStaged) {
  LoadedDriver &driver = start();
  CUdeviceptr device = allocate(4);
  float host = 1;
  ASSERT_EQ(driver.cuMemcpyHtoDAsync(device, &host, 4, stream), CUDA_SUCCESS);
  host = 2;
  EXPECT_EQ(download(device, 1), std::vector<float>{1}); // such a copy back waits by itself
}

// The stream's own copy into the buffer that it reads next is no mistake.
TEST_F(StreamTest, StreamMayChangePinnedMemory) {
  LoadedDriver &driver = start();
  CUdeviceptr from = upload({7}), to = allocate(4);
  float *host = pin<float>(1);
  ASSERT_EQ(driver.cuMemcpyDtoHAsync(host, from, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemcpyHtoDAsync(to, host, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(download(to, 1), std::vector<float>{7});
}

TEST_F(StreamTest, EventsOrderStreams) {
  for (const char *order : {"first", "last", "random:1", "random:2"}) {
    setEnvironment("GC_EMULATOR_ORDER", order);
    LoadedDriver &driver = start();
    CUstream other = newStream();
    CUdeviceptr device = upload({1});
    CUevent ready = newEvent(CU_EVENT_DISABLE_TIMING);
    float *host = pin<float>(2);
    host[0] = 9;
    ASSERT_EQ(driver.cuMemcpyHtoDAsync(device, host, 4, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuEventRecord(ready, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamWaitEvent(other, ready, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuMemcpyDtoHAsync(host + 1, device, 4, other), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamSynchronize(other), CUDA_SUCCESS) << order << log();
    EXPECT_EQ(host[1], 9) << order;
    loaded.reset();
  }
}

// Without the event each order is a mistake, whatever came out.
TEST_F(StreamTest, UnorderedAccessesAreFound) {
  for (const char *order : {"first", "last", "random:1", "random:2"})
    for (bool writesFirst : {false, true}) {
      setEnvironment("GC_EMULATOR_ORDER", order);
      LoadedDriver &driver = start();
      CUstream other = newStream();
      CUdeviceptr device = upload({1});
      float *host = pin<float>(2);
      host[0] = 9;
      if (writesFirst) {
        ASSERT_EQ(driver.cuMemcpyHtoDAsync(device, host, 4, stream), CUDA_SUCCESS);
      }
      ASSERT_EQ(driver.cuMemcpyDtoHAsync(host + 1, device, 4, other), CUDA_SUCCESS);
      if (!writesFirst) {
        ASSERT_EQ(driver.cuMemcpyHtoDAsync(device, host, 4, stream), CUDA_SUCCESS);
      }
      EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED) << order;
      EXPECT_NE(log().find("no event orders the two"), std::string::npos) << log();
      loaded.reset();
    }
}

// Where nothing conflicts, either may go first; what the host sees shows which did.
TEST_F(StreamTest, OrderIsChosen) {
  for (bool first : {true, false}) {
    setEnvironment("GC_EMULATOR_ORDER", first ? "first" : "last");
    LoadedDriver &driver = start();
    CUstream other = newStream();
    CUdeviceptr device = upload({5, 6});
    float *host = pin<float>(2);
    host[0] = host[1] = 0;
    ASSERT_EQ(driver.cuMemcpyDtoHAsync(host, device, 4, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuMemcpyDtoHAsync(host + 1, device + 4, 4, other), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamSynchronize(first ? stream : other), CUDA_SUCCESS);
    EXPECT_EQ(host[0], first ? 5 : 0);
    EXPECT_EQ(host[1], first ? 0 : 6);
    ASSERT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(host[0], 5);
    EXPECT_EQ(host[1], 6);
    loaded.reset();
  }
}

// The host that waited orders what it asks for afterwards.
TEST_F(StreamTest, HostOrdersStreams) {
  LoadedDriver &driver = start();
  CUstream other = newStream();
  CUdeviceptr device = upload({1});
  ASSERT_EQ(driver.cuMemsetD8Async(device, 0, 4, other), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(download(device, 1), std::vector<float>{0});
  EXPECT_EQ(log(), "");
}

TEST_F(StreamTest, EventsTellTime) {
  LoadedDriver &driver = start();
  CUevent start = newEvent(), end = newEvent(), untimed = newEvent(CU_EVENT_DISABLE_TIMING);
  CUdeviceptr device = allocate(1 << 20);
  float elapsed = -1;
  EXPECT_EQ(driver.cuEventSynchronize(start), CUDA_SUCCESS); // never recorded
  EXPECT_EQ(driver.cuEventElapsedTime(&elapsed, start, end), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(driver.cuEventRecord(start, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemsetD8Async(device, 0, 1 << 20, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventRecord(end, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventRecord(untimed, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventElapsedTime(&elapsed, start, end), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(driver.cuEventSynchronize(end), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventElapsedTime(&elapsed, start, end), CUDA_SUCCESS);
  EXPECT_GT(elapsed, 0);
  EXPECT_LT(elapsed, 1);
  EXPECT_EQ(driver.cuEventElapsedTime(&elapsed, start, untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamTest, WrongHandlesAreRefused) {
  LoadedDriver &driver = start();
  CUdeviceptr device = allocate(4);
  CUevent event = newEvent();
  EXPECT_EQ(driver.cuMemsetD8Async(device, 0, 4, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuStreamSynchronize(reinterpret_cast<CUstream>(event)),
            CUDA_ERROR_INVALID_HANDLE);
  CUstream gone = newStream();
  ASSERT_EQ(driver.cuStreamDestroy(gone), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamDestroy(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuMemsetD8Async(device, 0, 4, gone), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(driver.cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  CUstream created = nullptr;
  EXPECT_EQ(driver.cuStreamCreate(&created, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuEventCreate(&event, 64), CUDA_ERROR_INVALID_VALUE);
}

// What was queued still runs, as on a GPU.
TEST_F(StreamTest, DestroyedStreamsFinishTheirWork) {
  LoadedDriver &driver = start();
  CUdeviceptr device = upload({1});
  CUstream other = newStream();
  ASSERT_EQ(driver.cuMemsetD8Async(device, 0, 4, other), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamDestroy(other), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(download(device, 1), std::vector<float>{0});
}

// So does what nobody waits for, before the context dies.
TEST_F(StreamTest, ReleaseRunsWhatIsQueued) {
  LoadedDriver &driver = start();
  CUdeviceptr device = allocate(4);
  ASSERT_EQ(driver.cuMemsetD8Async(device, 0, 5, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_ILLEGAL_ADDRESS);
}

} // namespace
} // namespace gc::emulator
