#include "test/emulator/driver/DriverUnderTest.h"

#include <thread>

namespace gc::emulator {
namespace {

class GraphTest : public DriverTest {
protected:
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_EQ(loaded->cuStreamBeginCapture(stream, mode), CUDA_SUCCESS);
  }
  CUgraph end(CUresult expected = CUDA_SUCCESS) {
    CUgraph graph = nullptr;
    EXPECT_EQ(loaded->cuStreamEndCapture(stream, &graph), expected) << log();
    return graph;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(loaded->cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    return executable;
  }
};

TEST_F(GraphTest, RunsWhenLaunchedAndAgain) {
  LoadedDriver &driver = start();
  CUdeviceptr device = upload({1}), copy = allocate(4);
  float *host = pin<float>(1);
  *host = 3;
  begin();
  ASSERT_EQ(driver.cuMemcpyHtoDAsync(device, host, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemcpyDtoDAsync(copy, device, 4, stream), CUDA_SUCCESS);
  CUgraph graph = end();
  EXPECT_EQ(download(device, 1), std::vector<float>{1}); // captured, not run
  CUgraphExec executable = instantiate(graph);
  ASSERT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS); // the executable stays
  for (float value : {4.0f, 5.0f}) {
    *host = value; // read when the graph runs
    ASSERT_EQ(driver.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(download(copy, 1), std::vector<float>{value});
  }
  ASSERT_EQ(driver.cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphLaunch(executable, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_ERROR_INVALID_HANDLE);
}

// The host must not change what a launched graph is still to read.
TEST_F(GraphTest, HostOverwritesWhatAGraphReads) {
  LoadedDriver &driver = start();
  CUdeviceptr device = allocate(4);
  float *host = pin<float>(1);
  begin();
  ASSERT_EQ(driver.cuMemcpyHtoDAsync(device, host, 4, stream), CUDA_SUCCESS);
  CUgraphExec executable = instantiate(end());
  *host = 1;
  ASSERT_EQ(driver.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  *host = 2;
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(GraphTest, EventsForkAndJoin) {
  for (const char *order : {"first", "last"}) {
    setEnvironment("GC_EMULATOR_ORDER", order);
    LoadedDriver &driver = start();
    CUstream other = newStream();
    CUevent fork = newEvent(), join = newEvent();
    CUdeviceptr left = upload({1}), right = upload({1}), both = upload({1, 1});
    begin();
    ASSERT_EQ(driver.cuMemsetD8Async(left, 0, 4, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuEventRecord(fork, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuMemcpyDtoDAsync(right, left, 4, other), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuMemcpyDtoDAsync(both, left, 4, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuEventRecord(join, other), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamWaitEvent(stream, join, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuMemcpyDtoDAsync(both + 4, right, 4, stream), CUDA_SUCCESS);
    CUgraphExec executable = instantiate(end());
    ASSERT_EQ(driver.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(download(both, 2), (std::vector<float>{0, 0})) << log();
    // The other stream is free again.
    EXPECT_EQ(driver.cuStreamSynchronize(other), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuEventSynchronize(join), CUDA_SUCCESS);
    loaded.reset();
  }
}

TEST_F(GraphTest, BranchesWithoutOrderAreFound) {
  LoadedDriver &driver = start();
  CUstream other = newStream();
  CUevent fork = newEvent(), join = newEvent();
  CUdeviceptr left = upload({1}), right = upload({1});
  begin();
  ASSERT_EQ(driver.cuEventRecord(fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemsetD8Async(left, 0, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemcpyDtoDAsync(right, left, 4, other), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventRecord(join, other), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamWaitEvent(stream, join, 0), CUDA_SUCCESS);
  CUgraphExec executable = instantiate(end());
  ASSERT_EQ(driver.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(log().find("no event orders the two"), std::string::npos) << log();
}

TEST_F(GraphTest, UnjoinedWorkIsRefused) {
  LoadedDriver &driver = start();
  CUstream other = newStream();
  CUevent fork = newEvent();
  CUdeviceptr device = upload({1});
  begin();
  ASSERT_EQ(driver.cuEventRecord(fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemsetD8Async(device, 0, 4, other), CUDA_SUCCESS);
  EXPECT_EQ(end(CUresult(904)), nullptr);
  EXPECT_EQ(driver.cuStreamSynchronize(other), CUDA_SUCCESS); // the capture is over
}

// Calls that a capture forbids fail, and so does the capture.
struct Forbidden {
  const char *name;
  CUresult (*call)(LoadedDriver &, CUstream, CUdeviceptr);
  CUresult expected;
  bool alsoRelaxed;
};

class ForbiddenCallTest : public DriverTest, public testing::WithParamInterface<Forbidden> {};

TEST_P(ForbiddenCallTest, InvalidatesTheCapture) {
  for (CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED}) {
    bool forbidden = GetParam().alsoRelaxed || mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    LoadedDriver &driver = start();
    CUdeviceptr device = upload({1});
    ASSERT_EQ(driver.cuStreamBeginCapture(stream, mode), CUDA_SUCCESS);
    EXPECT_EQ(GetParam().call(driver, stream, device),
              forbidden ? GetParam().expected : CUDA_SUCCESS);
    EXPECT_EQ(driver.cuMemsetD8Async(device, 0, 4, stream),
              forbidden ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    CUgraph graph = nullptr;
    EXPECT_EQ(driver.cuStreamEndCapture(stream, &graph),
              forbidden ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    EXPECT_EQ(graph == nullptr, forbidden);
    EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS); // as before
    loaded.reset();
  }
}

const Forbidden forbiddenCalls[] = {
    {"MemAlloc",
     [](LoadedDriver &driver, CUstream, CUdeviceptr) {
       CUdeviceptr address = 0;
       return driver.cuMemAlloc(&address, 4);
     },
     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, false},
    {"MemHostAlloc",
     [](LoadedDriver &driver, CUstream, CUdeviceptr) {
       void *address = nullptr;
       return driver.cuMemHostAlloc(&address, 4, 0);
     },
     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, false},
    {"MemFree",
     [](LoadedDriver &driver, CUstream, CUdeviceptr device) { return driver.cuMemFree(device); },
     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, false},
    {"CtxSynchronize",
     [](LoadedDriver &driver, CUstream, CUdeviceptr) { return driver.cuCtxSynchronize(); },
     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, true},
    {"StreamSynchronize",
     [](LoadedDriver &driver, CUstream stream, CUdeviceptr) {
       return driver.cuStreamSynchronize(stream);
     },
     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, true},
    {"EventSynchronize",
     [](LoadedDriver &driver, CUstream stream, CUdeviceptr) {
       CUevent event = nullptr;
       driver.cuEventCreate(&event, 0);
       driver.cuEventRecord(event, stream);
       return driver.cuEventSynchronize(event);
     },
     CUresult(907), true},
    {"WaitForWorkOutside",
     [](LoadedDriver &driver, CUstream stream, CUdeviceptr) {
       CUstream other = nullptr;
       CUevent event = nullptr;
       driver.cuStreamCreate(&other, 0);
       driver.cuEventCreate(&event, 0);
       driver.cuEventRecord(event, other);
       return driver.cuStreamWaitEvent(stream, event, 0);
     },
     CUresult(905), true},
};

INSTANTIATE_TEST_SUITE_P(, ForbiddenCallTest, testing::ValuesIn(forbiddenCalls),
                         [](const auto &info) { return info.param.name; });

TEST_F(GraphTest, CapturesDoNotMerge) {
  LoadedDriver &driver = start();
  CUstream other = newStream();
  CUevent event = newEvent();
  begin();
  ASSERT_EQ(driver.cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventRecord(event, other), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamWaitEvent(stream, event, 0), CUresult(902));
  EXPECT_EQ(end(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED), nullptr);
}

TEST_F(GraphTest, EndsWhereItBegan) {
  LoadedDriver &driver = start();
  CUstream other = newStream();
  CUevent fork = newEvent();
  CUgraph graph = nullptr;
  EXPECT_EQ(driver.cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  begin();
  EXPECT_EQ(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_ILLEGAL_STATE);
  ASSERT_EQ(driver.cuEventRecord(fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamEndCapture(other, &graph), CUresult(903));
  end(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(GraphTest, EndsInTheThreadThatBegan) {
  LoadedDriver &driver = start();
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  std::thread([&] {
    CUcontext context = nullptr;
    CUgraph graph = nullptr;
    driver.cuDevicePrimaryCtxRetain(&context, 0);
    driver.cuCtxSetCurrent(context);
    CUdeviceptr address = 0;
    EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_SUCCESS); // another thread may
    EXPECT_EQ(driver.cuStreamEndCapture(stream, &graph), CUresult(908));
  }).join();
  end(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(GraphTest, DestroyedStreamEndsItsCapture) {
  LoadedDriver &driver = start();
  begin();
  ASSERT_EQ(driver.cuStreamDestroy(stream), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_SUCCESS);
}

} // namespace
} // namespace gc::emulator
