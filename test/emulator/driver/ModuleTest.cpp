#include "test/emulator/driver/DriverUnderTest.h"

#include <cstring>
#include <numeric>

namespace gc::emulator {
namespace {

using ModuleTest = DriverTest;

TEST_F(ModuleTest, AddsVectors) {
  LoadedDriver &driver = start();
  CUfunction add = loadKernel(vectorAdd, "add");
  std::vector<float> a(1000), b(1000), expected(1000);
  for (int i = 0; i < 1000; ++i) {
    a[i] = float(i);
    b[i] = 0.5f * float(i);
    expected[i] = a[i] + b[i];
  }
  CUdeviceptr x = upload(a), y = upload(b), z = allocate(4000);
  ASSERT_EQ(launch(add, 8, 128, 0, stream, x, y, z, 1000u), CUDA_SUCCESS);
  EXPECT_EQ(download(z, 1000), expected);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(ModuleTest, SumsInSharedMemory) {
  start();
  CUfunction sum = loadKernel(blockSum, "sum");
  std::vector<float> values(512);
  std::iota(values.begin(), values.end(), 0.0f);
  CUdeviceptr in = upload(values), out = allocate(8);
  ASSERT_EQ(launch(sum, 2, 256, 0, stream, in, out), CUDA_SUCCESS);
  EXPECT_EQ(download(out, 2), (std::vector<float>{32640, 98176})); // 255 * 128, + 256 * 256
}

// A module of one page: what the device has less of after loading it, and after running it.
struct CodeTest : DriverTest {
  std::pair<size_t, size_t> pagesWith(const char *loading) {
    setEnvironment("CUDA_MODULE_LOADING", loading);
    LoadedDriver &driver = start();
    auto pages = [&] {
      size_t free = 0, total = 0;
      EXPECT_EQ(driver.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
      return (total - free) >> 21;
    };
    CUdeviceptr x = upload(std::vector<float>(100));
    size_t before = pages();
    CUfunction add = loadKernel(vectorAdd, "add");
    size_t loaded = pages() - before;
    EXPECT_EQ(launch(add, 1, 32, 0, stream, x, x, x, 1u), CUDA_SUCCESS);
    return {loaded, pages() - before};
  }
};
TEST_F(CodeTest, IsLoadedWhenItFirstRuns) {
  EXPECT_EQ(pagesWith("LAZY"), std::pair(size_t(0), size_t(1)));
}
TEST_F(CodeTest, IsLoadedAtOnce) { EXPECT_EQ(pagesWith("EAGER"), std::pair(size_t(1), size_t(1))); }

TEST_F(ModuleTest, TheWatchdogEndsLongKernels) {
  setEnvironment("GC_EMULATOR_WATCHDOG", "3");
  LoadedDriver &driver = start();
  CUfunction add = loadKernel(vectorAdd, "add");
  CUdeviceptr x = upload(std::vector<float>(100));
  ASSERT_EQ(launch(add, 1, 32, 0, stream, x, x, x, 1u), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_TIMEOUT);
}

// Each mistake of a kernel, the driver's answer, and what the log says.
TEST_F(ModuleTest, KernelOutOfBounds) {
  LoadedDriver &driver = start();
  CUfunction add = loadKernel(vectorAdd, "add");
  CUdeviceptr x = upload(std::vector<float>(100)), y = upload(std::vector<float>(100));
  ASSERT_EQ(launch(add, 1, 128, 0, stream, x, y, x, 101u), CUDA_SUCCESS); // asynchronous
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(log().find("emulated driver: kernel add: "), std::string::npos) << log();
  EXPECT_NE(log().find("outside of every allocation"), std::string::npos) << log();
  EXPECT_NE(log().find("line"), std::string::npos) << log();
  // Sticky: everything fails from now on.
  CUmodule module = nullptr;
  EXPECT_EQ(driver.cuModuleLoadDataEx(&module, vectorAdd, 0, nullptr, nullptr),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(driver.cuMemFree(x), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ModuleTest, KernelUsesFreedMemory) {
  LoadedDriver &driver = start();
  CUfunction add = loadKernel(vectorAdd, "add");
  CUdeviceptr x = upload({1}), y = upload({1});
  ASSERT_EQ(launch(add, 1, 32, 0, stream, x, y, x, 1u), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuMemFree(y), CUDA_SUCCESS); // before the stream got there
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(log().find("was freed"), std::string::npos) << log();
}

TEST_F(ModuleTest, KernelReadsUninitialisedMemory) {
  LoadedDriver &driver = start();
  CUfunction add = loadKernel(vectorAdd, "add");
  CUdeviceptr x = upload({1}), y = allocate(4);
  ASSERT_EQ(launch(add, 1, 32, 0, stream, x, y, x, 1u), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(log().find("was never written"), std::string::npos) << log();
}

TEST_F(ModuleTest, KernelsOfTwoStreamsConflict) {
  LoadedDriver &driver = start();
  CUfunction add = loadKernel(vectorAdd, "add");
  CUstream other = newStream();
  CUdeviceptr x = upload({1}), y = upload({2}), z = allocate(4);
  ASSERT_EQ(launch(add, 1, 32, 0, stream, x, y, z, 1u), CUDA_SUCCESS);
  ASSERT_EQ(launch(add, 1, 32, 0, other, x, y, z, 1u), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(log().find("kernel add of another stream wrote it"), std::string::npos) << log();
}

TEST_F(ModuleTest, KernelMisbehaves) {
  const struct {
    const char *text, *name;
    unsigned block;
    CUresult expected;
  } cases[] = {
      {misbehaving, "trapping", 1, CUDA_ERROR_LAUNCH_FAILED},
      {misbehaving, "misaligned", 1, CUDA_ERROR_MISALIGNED_ADDRESS},
      {misbehaving, "divergent", 64, CUDA_ERROR_LAUNCH_FAILED},
      {sharedRacing, "race", 128, CUDA_ERROR_LAUNCH_FAILED},
  };
  for (const auto &one : cases) {
    LoadedDriver &driver = start();
    CUfunction kernel = loadKernel(one.text, one.name);
    CUdeviceptr out = allocate(512);
    ASSERT_EQ(launch(kernel, 1, one.block, 0, stream, out), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamSynchronize(stream), one.expected) << one.name << log();
    EXPECT_NE(log().find(std::string("emulated driver: kernel ") + one.name), std::string::npos)
        << log();
    loaded.reset();
  }
}

TEST_F(ModuleTest, DynamicSharedMemoryNeedsPermission) {
  LoadedDriver &driver = start();
  CUfunction kernel = loadKernel(dynamicShared, "dynamic");
  CUdeviceptr out = allocate(4);
  unsigned large = 60 * 1024;
  EXPECT_EQ(launch(kernel, 1, 1, large, stream, out, large - 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(log().find("61440 bytes of dynamic shared memory"), std::string::npos) << log();
  auto allow = [&](int bytes) {
    return driver.cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     bytes);
  };
  EXPECT_EQ(allow(101377), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(allow(int(large)), CUDA_SUCCESS);
  int value = 0;
  ASSERT_EQ(
      driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel),
      CUDA_SUCCESS);
  EXPECT_EQ(value, int(large));
  EXPECT_EQ(launch(kernel, 1, 1, large + 4, stream, out, large), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(launch(kernel, 1, 1, large, stream, out, large - 4), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS) << log();
  // One word beyond what the launch asked for.
  ASSERT_EQ(launch(kernel, 1, 1, 1024, stream, out, 1024u), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS) << log();
}

TEST_F(ModuleTest, StaticAndDynamicSharedMemoryShareTheLimit) {
  start();
  CUfunction sum = loadKernel(blockSum, "sum"); // has 1024 bytes itself
  CUdeviceptr in = upload(std::vector<float>(256)), out = allocate(4);
  EXPECT_EQ(launch(sum, 1, 256, 48 * 1024, stream, in, out), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(sum, 1, 256, 47 * 1024, stream, in, out), CUDA_SUCCESS);
}

TEST_F(ModuleTest, LaunchesAreChecked) {
  LoadedDriver &driver = start();
  CUfunction kernel = loadKernel(misbehaving, "small"), exact = loadKernel(misbehaving, "exact"),
             add = loadKernel(vectorAdd, "add");
  auto configured = [&](CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz) {
    return driver.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, 0, stream, nullptr, nullptr);
  };
  EXPECT_EQ(configured(kernel, 1, 1, 1, 64, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(configured(kernel, 1, 1, 1, 65, 1, 1), CUDA_ERROR_INVALID_VALUE); // .maxntid
  EXPECT_EQ(configured(exact, 1, 1, 1, 32, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(configured(exact, 1, 1, 1, 16, 2, 1), CUDA_ERROR_INVALID_VALUE); // .reqntid
  CUfunction trap = loadKernel(misbehaving, "trapping");
  EXPECT_EQ(configured(trap, 0, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(configured(trap, 1, 65536, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(configured(trap, 1, 1, 65536, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(configured(trap, 1, 1, 1, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(configured(trap, 1, 1, 1, 1, 1, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(configured(trap, 1, 1, 1, 512, 4, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(configured(add, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE); // no parameters
  void *withNull[4] = {};
  EXPECT_EQ(driver.cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, withNull, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  void *extra[1] = {};
  EXPECT_EQ(driver.cuLaunchKernel(exact, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(configured(reinterpret_cast<CUfunction>(stream), 1, 1, 1, 1, 1, 1),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS); // no harm done
}

// Parameters are taken at the call, in streams and in captures.
TEST_F(ModuleTest, ParametersAreCopied) {
  LoadedDriver &driver = start();
  CUfunction add = loadKernel(vectorAdd, "add");
  CUdeviceptr x = upload({1}), y = upload({2}), z = allocate(4), wrong = 0;
  unsigned n = 1;
  CUdeviceptr a = x;
  void *parameters[] = {&a, &y, &z, &n};
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr),
            CUDA_SUCCESS);
  a = wrong;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(download(z, 1), std::vector<float>{3});
}

TEST_F(ModuleTest, ImagesAreChecked) {
  setEnvironment("GC_EMULATOR_SM", "8.6");
  LoadedDriver &driver = start();
  CUmodule module = nullptr;
  auto loadText = [&](const std::string &text) {
    return driver.cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr);
  };
  auto withTarget = [](const std::string &target, const std::string &version = "7.8") {
    return ".version " + version + "\n.target " + target +
           "\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n";
  };
  EXPECT_EQ(loadText(std::string("\x7f"
                                 "ELF\2\1\1",
                                 7)),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(loadText(withTarget("sm_80")), CUDA_SUCCESS);
  EXPECT_EQ(loadText(withTarget("sm_86")), CUDA_SUCCESS);
  EXPECT_EQ(loadText(withTarget("sm_90")), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(loadText(withTarget("sm_80", "99.0")), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(loadText("this is not PTX"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(driver.cuModuleLoadDataEx(&module, nullptr, 0, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ModuleTest, CompilerLogIsFilled) {
  LoadedDriver &driver = start();
  char text[256] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {text, reinterpret_cast<void *>(sizeof text)};
  CUmodule module = nullptr;
  std::string wrong = vectorAdd;
  wrong.replace(wrong.find("add.rn.f32"), 10, "frobnicate");
  ASSERT_EQ(driver.cuModuleLoadDataEx(&module, wrong.c_str(), 2, options, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(text).find("frobnicate"), std::string::npos) << text;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values[1]), std::strlen(text));
  values[1] = reinterpret_cast<void *>(sizeof text);
  ASSERT_EQ(driver.cuModuleLoadDataEx(&module, vectorAdd, 2, options, values), CUDA_SUCCESS);
  EXPECT_STREQ(text, "");
}

TEST_F(ModuleTest, FunctionsAreFoundAndDescribed) {
  LoadedDriver &driver = start();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(driver.cuModuleLoadDataEx(&module, blockSum, 0, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuModuleGetFunction(&function, module, "product"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(driver.cuModuleGetFunction(&function, module, "sum"), CUDA_SUCCESS);
  int value = 0;
  ASSERT_EQ(driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  ASSERT_EQ(driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  ASSERT_EQ(driver.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleTest, ModuleUnloadedWhileQueued) {
  LoadedDriver &driver = start();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(driver.cuModuleLoadDataEx(&module, misbehaving, 0, nullptr, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuModuleGetFunction(&function, module, "small"), CUDA_SUCCESS);
  ASSERT_EQ(launch(function, 1, 32, 0, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(log().find("its module was unloaded"), std::string::npos) << log();
}

} // namespace
} // namespace gc::emulator
