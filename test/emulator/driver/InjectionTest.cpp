#include "test/emulator/driver/DriverUnderTest.h"

namespace gc::emulator {
namespace {

class InjectionTest : public DriverTest {
protected:
  // One call of everything; the results in order, without the queries of error names.
  std::vector<CUresult> callEverything() {
    LoadedDriver &driver = load();
    std::vector<CUresult> results;
    auto note = [&](CUresult result) { results.push_back(result); };
    int number = 0;
    CUdevice device = 0;
    char name[32];
    CUuuid uuid;
    size_t bytes = 0, total = 0;
    CUcontext context = nullptr;
    CUdeviceptr address = 0, other = 0;
    void *host = nullptr;
    CUevent event = nullptr, after = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    float elapsed = 0;
    const char *text = nullptr;
    stream = nullptr;
    note(driver.cuInit(0));
    note(driver.cuDriverGetVersion(&number));
    note(driver.cuGetErrorName(CUDA_ERROR_UNKNOWN, &text));
    note(driver.cuGetErrorString(CUDA_ERROR_UNKNOWN, &text));
    note(driver.cuDeviceGetCount(&number));
    note(driver.cuDeviceGet(&device, 0));
    note(driver.cuDeviceGetName(name, sizeof name, 0));
    note(driver.cuDeviceGetUuid(&uuid, 0));
    note(driver.cuDeviceGetPCIBusId(name, sizeof name, 0));
    note(driver.cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    note(driver.cuDeviceTotalMem(&total, 0));
    note(driver.cuDevicePrimaryCtxRetain(&context, 0));
    note(driver.cuCtxSetCurrent(context));
    note(driver.cuStreamCreate(&stream, 0));
    note(driver.cuMemGetInfo(&bytes, &total));
    note(driver.cuMemAlloc(&address, 64));
    note(driver.cuMemAlloc(&other, 64));
    note(driver.cuMemHostAlloc(&host, 64, 0));
    note(driver.cuEventCreate(&event, 0));
    note(driver.cuEventCreate(&after, 0));
    note(driver.cuModuleLoadDataEx(&module, misbehaving, 0, nullptr, nullptr));
    note(driver.cuModuleGetFunction(&function, module, "small"));
    note(driver.cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    note(driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64));
    note(driver.cuEventRecord(event, stream));
    note(driver.cuMemcpyHtoDAsync(address, host, 64, stream));
    note(driver.cuStreamSynchronize(stream));
    note(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    note(driver.cuMemcpyDtoDAsync(other, address, 64, stream));
    note(driver.cuMemsetD8Async(other, 1, 32, stream));
    note(launch(function, 1, 32, 0, stream));
    note(driver.cuStreamEndCapture(stream, &graph));
    note(driver.cuGraphInstantiate(&executable, graph, 0));
    note(driver.cuGraphLaunch(executable, stream));
    note(driver.cuStreamWaitEvent(stream, event, 0));
    note(driver.cuMemcpyDtoHAsync(host, address, 64, stream));
    note(driver.cuEventRecord(after, stream));
    note(driver.cuEventSynchronize(after));
    note(driver.cuEventElapsedTime(&elapsed, event, after));
    note(driver.cuCtxSynchronize());
    // What was obtained is given back, whatever happened.
    if (executable)
      note(driver.cuGraphExecDestroy(executable));
    if (graph)
      note(driver.cuGraphDestroy(graph));
    if (module)
      note(driver.cuModuleUnload(module));
    for (CUevent one : {event, after})
      if (one)
        note(driver.cuEventDestroy(one));
    if (stream)
      note(driver.cuStreamDestroy(stream));
    if (host)
      note(driver.cuMemFreeHost(host));
    for (CUdeviceptr one : {address, other})
      if (one)
        note(driver.cuMemFree(one));
    if (context)
      note(driver.cuDevicePrimaryCtxRelease(0));
    loaded.reset();
    return results;
  }

  std::vector<std::pair<std::string, int>> callCounts() const {
    std::istringstream lines(read("calls"));
    std::vector<std::pair<std::string, int>> counts;
    std::string name;
    for (int count; lines >> name >> count;)
      counts.emplace_back(name, count);
    return counts;
  }
};

TEST_F(InjectionTest, CallsAreCountedAndNothingLeaks) {
  setEnvironment("GC_EMULATOR_CALLS", path("calls"));
  setEnvironment("GC_EMULATOR_LEAKS", path("leaks"));
  for (CUresult result : callEverything())
    EXPECT_EQ(result, CUDA_SUCCESS) << log();
  auto counts = callCounts();
  size_t functions = 0;
#define GC_CALL(member, exported, parameters) ++functions;
  GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
  EXPECT_EQ(counts.size(), functions);
  for (const auto &[name, count] : counts)
    EXPECT_EQ(count, name == "cuMemAlloc" || name == "cuMemFree" || name == "cuEventCreate" ||
                             name == "cuEventRecord" || name == "cuEventDestroy"
                         ? 2
                         : 1)
        << name;
  EXPECT_TRUE(std::filesystem::exists(path("leaks")));
  EXPECT_EQ(read("leaks"), "");
}

// Each call of each function fails once in turn, for good and for once; a caller that releases what
// it obtained leaks nothing.
TEST_F(InjectionTest, EachCallFailsInTurn) {
  setEnvironment("GC_EMULATOR_CALLS", path("calls"));
  setEnvironment("GC_EMULATOR_LEAKS", path("leaks"));
  callEverything();
  for (const auto &[name, count] : callCounts())
    for (int number = 1; number <= count; ++number)
      for (const char *result : {"CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_ILLEGAL_ADDRESS", "719"}) {
        std::string fail = name + ":" + std::to_string(number) + "=" + result;
        setEnvironment("GC_EMULATOR_FAIL", fail);
        std::vector<CUresult> results = callEverything();
        CUresult expected = result[0] == '7'    ? CUDA_ERROR_LAUNCH_FAILED
                            : result[11] == 'O' ? CUDA_ERROR_OUT_OF_MEMORY
                                                : CUDA_ERROR_ILLEGAL_ADDRESS;
        auto first = std::find_if(results.begin(), results.end(),
                                  [](CUresult one) { return one != CUDA_SUCCESS; });
        ASSERT_NE(first, results.end()) << fail;
        EXPECT_EQ(*first, expected) << fail;
        bool sticky = expected != CUDA_ERROR_OUT_OF_MEMORY;
        for (auto later = first; sticky && later != results.end(); ++later)
          if (later - results.begin() > 3) { // names and version need no device
            EXPECT_EQ(*later, expected) << fail;
          }
        EXPECT_EQ(read("leaks"), "") << fail;
      }
}

TEST_F(InjectionTest, VersionedNamesWork) {
  setEnvironment("GC_EMULATOR_FAIL", "cuMemAlloc_v2:2=2,cuMemHostAlloc:1=CUDA_ERROR_UNKNOWN");
  LoadedDriver &driver = start();
  CUdeviceptr address = 0;
  void *host = nullptr;
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemHostAlloc(&host, 4, 0), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_UNKNOWN); // lost for good
}

TEST_F(InjectionTest, LeaksAreListed) {
  setEnvironment("GC_EMULATOR_LEAKS", path("leaks"));
  LoadedDriver &driver = start();
  allocate(48);
  pin<float>(3);
  newEvent();
  loadKernel(vectorAdd, "add");
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  loaded.reset();
  std::string leaks = read("leaks");
  for (const char *line :
       {"device memory: 48 bytes at 0xd00000000000, cuMemAlloc call 1\n",
        "pinned memory: 12 bytes, cuMemHostAlloc call 1\n", "event: cuEventCreate call 1\n",
        "module: cuModuleLoadDataEx call 1\n", "stream: cuStreamCreate call 1\n",
        "\ngraph: cuStreamEndCapture call 1\n", "executable graph: cuGraphInstantiate call 1\n",
        "primary context of device 0: retained 1 times more than released\n"})
    EXPECT_NE(leaks.find(line), std::string::npos) << line << leaks;
  EXPECT_EQ(std::count(leaks.begin(), leaks.end(), '\n'), 8) << leaks;
}

// What dies with its context was leaked too.
TEST_F(InjectionTest, LeaksOfADeadContextAreListed) {
  setEnvironment("GC_EMULATOR_LEAKS", path("leaks"));
  LoadedDriver &driver = start();
  allocate(48);
  ASSERT_EQ(driver.cuStreamDestroy(stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  loaded.reset();
  EXPECT_EQ(read("leaks"), "device memory: 48 bytes at 0xd00000000000, cuMemAlloc call 1\n");
}

TEST_F(InjectionTest, StatisticsAreWritten) {
  setEnvironment("GC_EMULATOR_STATISTICS", path("statistics"));
  start();
  CUfunction sum = loadKernel(blockSum, "sum");
  CUdeviceptr in = upload(std::vector<float>(512)), out = allocate(8);
  ASSERT_EQ(launch(sum, 2, 256, 0, stream, in, out), CUDA_SUCCESS);
  ASSERT_EQ(launch(sum, 2, 256, 0, stream, in, out), CUDA_SUCCESS);
  download(out, 2);
  loaded.reset();
  std::string text = read("statistics");
  EXPECT_NE(text.find("{\"kernel\": \"sum\", \"launches\": 2, \"instructions\": "),
            std::string::npos);
  // 4 blocks read 256 floats in 32 sectors, and write one in another.
  EXPECT_NE(text.find("\"transactions\": 132,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"bank_conflicts\": 0,"), std::string::npos) << text;
}

} // namespace
} // namespace gc::emulator
