// The emulated NVML itself: it stops on misuse, fails where it is told to, and follows the driver.
#include "runtime/nvml/Nvml.h"
#include "test/emulator/driver/DriverUnderTest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <optional>

using namespace gc::runtime::nvml;

namespace {

struct Emulated : testing::Test {
  void SetUp() override {
    // A program whose monitor thread could be running is started anew for each death.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    library = ::dlopen(GC_EMULATED_NVML, RTLD_NOW);
    ASSERT_NE(library, nullptr) << ::dlerror();
#define GC_LOOK_UP(result, symbol, parameters)                                                     \
  api.symbol = reinterpret_cast<decltype(api.symbol)>(::dlsym(library, #symbol));                  \
  ASSERT_NE(api.symbol, nullptr) << #symbol;
    GC_NVML_FUNCTIONS(GC_LOOK_UP)
#undef GC_LOOK_UP
  }
  void TearDown() override {
    for (; started > 0; --started)
      api.nvmlShutdown();
    for (const char *name : {"FAIL", "DEVICES", "MEMORY", "PROCESS"})
      ::unsetenv((std::string("GC_EMULATOR_NVML_") + name).c_str());
  }
  nvmlDevice_t start() {
    EXPECT_EQ(api.nvmlInit_v2(), NVML_SUCCESS);
    ++started;
    nvmlDevice_t device = nullptr;
    EXPECT_EQ(api.nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
    return device;
  }
  void *library = nullptr;
  Functions api;
  int started = 0;
};

} // namespace

TEST_F(Emulated, StopsOnCallsBeforeInit) {
  unsigned count = 0;
  EXPECT_DEATH(api.nvmlDeviceGetCount_v2(&count),
               "emulated NVML: nvmlDeviceGetCount_v2 was called before nvmlInit_v2");
  EXPECT_DEATH(api.nvmlShutdown(), "nvmlShutdown was called before nvmlInit_v2");
}

TEST_F(Emulated, StopsOnNullPointersAndStrangeHandles) {
  nvmlDevice_t device = start();
  EXPECT_DEATH(api.nvmlDeviceGetCount_v2(nullptr), "nvmlDeviceGetCount_v2: count is null");
  EXPECT_DEATH(api.nvmlDeviceGetHandleByUUID(nullptr, &device), "the UUID is null");
  EXPECT_DEATH(api.nvmlDeviceGetPowerUsage(device, nullptr), "milliwatts is null");
  nvmlUtilization_t rates;
  EXPECT_DEATH(api.nvmlDeviceGetUtilizationRates(nullptr, &rates), "no handle of a device");
  EXPECT_DEATH(api.nvmlDeviceGetUtilizationRates(reinterpret_cast<nvmlDevice_t>(&rates), &rates),
               "no handle of a device");
  nvmlMemory_v2_t memory = {};
  EXPECT_DEATH(api.nvmlDeviceGetMemoryInfo_v2(device, &memory), "does not say its version");
}

TEST_F(Emulated, StopsOnOneShutdownTooMany) {
  start();
  EXPECT_EQ(api.nvmlShutdown(), NVML_SUCCESS);
  --started;
  EXPECT_DEATH(api.nvmlShutdown(), "nvmlShutdown was called before nvmlInit_v2");
}

TEST_F(Emulated, StopsAtExitWhereSomebodyForgotToShutDown) {
  EXPECT_DEATH(
      {
        api.nvmlInit_v2();
        api.nvmlInit_v2();
        api.nvmlShutdown();
        std::exit(0);
      },
      "emulated NVML: 1 nvmlInit_v2 without nvmlShutdown");
  EXPECT_EXIT(
      {
        api.nvmlInit_v2();
        api.nvmlShutdown();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(Emulated, FailsTheCallThatItIsTold) {
  ::setenv("GC_EMULATOR_NVML_FAIL", "nvmlDeviceGetPowerUsage:2=15,nvmlDeviceGetTemperature:*=3", 1);
  nvmlDevice_t device = start();
  unsigned value = 0;
  EXPECT_EQ(api.nvmlDeviceGetPowerUsage(device, &value), NVML_SUCCESS);
  EXPECT_EQ(api.nvmlDeviceGetPowerUsage(device, &value), NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(api.nvmlDeviceGetPowerUsage(device, &value), NVML_SUCCESS);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(api.nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &value),
              NVML_ERROR_NOT_SUPPORTED);
}

TEST_F(Emulated, StopsOnWishesThatItDoesNotUnderstand) {
  for (const char *wish : {"nvmlNothing:1=3", "nvmlDeviceGetName:0=3", "nvmlDeviceGetName:1=0",
                           "nvmlDeviceGetName=3", "x"}) {
    ::setenv("GC_EMULATOR_NVML_FAIL", wish, 1);
    EXPECT_DEATH(api.nvmlInit_v2(), "is not FUNCTION:N=CODE") << wish;
  }
}

TEST_F(Emulated, SaysHowMuchRoomProcessesNeed) {
  ::setenv("GC_EMULATOR_OTHERS", "other:1MiB", 1);
  nvmlDevice_t device = start();
  unsigned count = 1;
  nvmlProcessInfo_t processes[2];
  EXPECT_EQ(api.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes),
            NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(api.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes), NVML_SUCCESS);
  ::unsetenv("GC_EMULATOR_OTHERS");
}

TEST_F(Emulated, FollowsTheDriverThatIsLoaded) {
  nvmlDevice_t device = start();
  auto used = [&] {
    nvmlMemory_v2_t memory = {};
    memory.version = kMemoryVersion2;
    EXPECT_EQ(api.nvmlDeviceGetMemoryInfo_v2(device, &memory), NVML_SUCCESS);
    EXPECT_EQ(memory.total, memory.free + memory.used + memory.reserved);
    return memory.used;
  };
  ::setenv("GC_EMULATOR_NVML_MEMORY", "777KiB", 1);
  EXPECT_EQ(used(), 777u << 10);
  {
    gc::emulator::LoadedDriver driver;
    using namespace gc::runtime::cuda;
    EXPECT_EQ(used(), 0u);
    ASSERT_EQ(driver.cuInit(0), CUDA_SUCCESS);
    // The same device under the same name, as `nvidia-smi` writes it.
    CUuuid uuid;
    ASSERT_EQ(driver.cuDeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
    std::string name = "GPU-";
    for (int i = 0; i < 16; ++i) {
      const char *digits = "0123456789abcdef";
      if (i >= 4 && i <= 10 && i % 2 == 0)
        name += '-';
      name += {digits[uuid.bytes[i] >> 4 & 15], digits[uuid.bytes[i] & 15]};
    }
    nvmlDevice_t found = nullptr;
    EXPECT_EQ(api.nvmlDeviceGetHandleByUUID(name.c_str(), &found), NVML_SUCCESS) << name;
    EXPECT_EQ(found, device);
    // The same memory as the driver counts.
    CUcontext context = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    uint64_t before = used();
    CUdeviceptr memory = 0;
    ASSERT_EQ(driver.cuMemAlloc(&memory, 32 << 20), CUDA_SUCCESS);
    EXPECT_EQ(used(), before + (32 << 20));
    size_t free = 0, total = 0;
    ASSERT_EQ(driver.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    EXPECT_EQ(used(), total - free);
    EXPECT_EQ(driver.cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_EQ(used(), before);
    EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }
  EXPECT_EQ(used(), 777u << 10) << "it keeps a driver loaded that nobody uses";
}
