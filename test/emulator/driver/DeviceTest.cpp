#include "test/emulator/driver/DriverUnderTest.h"

#include <thread>

namespace gc::emulator {
namespace {

using DeviceTest = DriverTest;

TEST_F(DeviceTest, NothingBeforeInit) {
  LoadedDriver &driver = load();
  int count = 0;
  CUdeviceptr address = 0;
  EXPECT_EQ(driver.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_NOT_INITIALIZED);
  int version = 0;
  EXPECT_EQ(driver.cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 13000);
  EXPECT_EQ(driver.cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DeviceTest, SharedPartitionedAndFarAway) {
  setEnvironment("GC_EMULATOR_OTHERS", "Xorg:300MiB,other:1MiB");
  setEnvironment("GC_EMULATOR_MIG", "1");
  setEnvironment("GC_EMULATOR_PCI_DOMAIN", "2");
  setEnvironment("GC_EMULATOR_MEMORY", "512MiB");
  LoadedDriver &driver = load();
  ASSERT_EQ(driver.cuInit(0), CUDA_SUCCESS);
  CUuuid uuid;
  EXPECT_EQ(driver.cuDeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(uuid.bytes, 15), "gc-emulated-mig");
  char bus[16];
  EXPECT_EQ(driver.cuDeviceGetPCIBusId(bus, sizeof bus, 0), CUDA_SUCCESS);
  EXPECT_STREQ(bus, "0002:01:00.0");
  CUcontext context = nullptr;
  ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
  size_t free = 0, total = 0;
  EXPECT_EQ(driver.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(free, size_t(512 - 301 - 96) << 20);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST_F(DeviceTest, Properties) {
  setEnvironment("GC_EMULATOR_DEVICES", "2");
  setEnvironment("GC_EMULATOR_SM", "8.6");
  setEnvironment("GC_EMULATOR_MEMORY", "512MiB");
  LoadedDriver &driver = load();
  ASSERT_EQ(driver.cuInit(0), CUDA_SUCCESS);
  int count = 0;
  EXPECT_EQ(driver.cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2);
  CUdevice device = -1;
  EXPECT_EQ(driver.cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  char name[32], cut[4];
  EXPECT_EQ(driver.cuDeviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
  EXPECT_STREQ(name, "gc emulated GPU");
  EXPECT_EQ(driver.cuDeviceGetName(cut, sizeof cut, 1), CUDA_SUCCESS);
  EXPECT_STREQ(cut, "gc ");
  CUuuid first, second;
  EXPECT_EQ(driver.cuDeviceGetUuid(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDeviceGetUuid(&second, 1), CUDA_SUCCESS);
  EXPECT_NE(first.bytes[15], second.bytes[15]);
  EXPECT_EQ(driver.cuDeviceGetPCIBusId(name, sizeof name, 1), CUDA_SUCCESS);
  EXPECT_STREQ(name, "0000:02:00.0");
  EXPECT_EQ(driver.cuDeviceGetPCIBusId(cut, sizeof cut, 1), CUDA_ERROR_INVALID_VALUE);
  size_t total = 0;
  EXPECT_EQ(driver.cuDeviceTotalMem(&total, 0), CUDA_SUCCESS);
  EXPECT_EQ(total, size_t(512) << 20);
  auto attribute = [&](CUdevice_attribute which) {
    int value = -1;
    EXPECT_EQ(driver.cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 6);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 101376);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), 1536);
  int value = 0;
  EXPECT_EQ(driver.cuDeviceGetAttribute(&value, CUdevice_attribute(9999), 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DeviceTest, NoDevice) {
  setEnvironment("GC_EMULATOR_DEVICES", "0");
  EXPECT_EQ(load().cuInit(0), CUDA_ERROR_NO_DEVICE);
}

// A misspelt variable must not make a test pass that tests nothing.
TEST_F(DeviceTest, WrongSettingsAreRefused) {
  const std::pair<const char *, const char *> wrong[] = {
      {"GC_EMULATOR_SM", "86"},
      {"GC_EMULATOR_MEMORY", "2 GB"},
      {"GC_EMULATOR_ORDER", "random"},
      {"GC_EMULATOR_FAIL", "cuMemAloc:1=2"},
      {"GC_EMULATOR_FAIL", "cuMemAlloc:0=2"},
      {"GC_EMULATOR_FAIL", "cuMemAlloc:1=CUDA_ERROR_X"},
      {"GC_EMULATOR_FAIL", "cuMemAlloc:1=CUDA_SUCCESS"},
      {"GC_EMULATOR_FAIL", "cuMemAlloc:1=wrong"},
      {"GC_EMULATOR_DEVICES", "-1"}};
  for (auto [name, value] : wrong) {
    setEnvironment(name, value);
    EXPECT_EQ(load().cuInit(0), CUDA_ERROR_INVALID_VALUE) << name << "=" << value;
    EXPECT_NE(log().find(std::string(name) + "='" + value + "': expected"), std::string::npos)
        << log();
    unsetenv(name);
    loaded.reset();
  }
}

TEST_F(DeviceTest, CallsNeedACurrentContext) {
  LoadedDriver &driver = load();
  ASSERT_EQ(driver.cuInit(0), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(driver.cuCtxSetCurrent(reinterpret_cast<CUcontext>(0x1230)),
            CUDA_ERROR_INVALID_CONTEXT);
  CUcontext context = nullptr;
  ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT); // retained, not current
  ASSERT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_SUCCESS);
  std::thread([&] {
    CUdeviceptr other = 0;
    EXPECT_EQ(driver.cuMemAlloc(&other, 4), CUDA_ERROR_INVALID_CONTEXT); // of each thread
  }).join();
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(DeviceTest, ErrorsHaveNames) {
  LoadedDriver &driver = load();
  const char *text = nullptr;
  EXPECT_EQ(driver.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(driver.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(driver.cuGetErrorName(CUresult(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(DeviceTest, HandlesOfAnotherDeviceAreRefused) {
  setEnvironment("GC_EMULATOR_DEVICES", "2");
  LoadedDriver &driver = start();
  CUcontext second = nullptr;
  ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuCtxSetCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_NE(log().find("another context"), std::string::npos);
}

TEST_F(DeviceTest, ProcAddress) {
  LoadedDriver &driver = load();
  auto lookUp = reinterpret_cast<CUresult (*)(const char *, void **, int, uint64_t, int *)>(
      driver.symbol("cuGetProcAddress_v2"));
  void *function = nullptr;
  int status = -1;
  EXPECT_EQ(lookUp("cuMemAlloc", &function, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(function, driver.symbol("cuMemAlloc_v2"));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lookUp("cuGraphInstantiate", &function, 12000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(function, driver.symbol("cuGraphInstantiateWithFlags"));
  EXPECT_EQ(lookUp("cuNoSuchThing", &function, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(lookUp("cuStreamBeginCapture", &function, 10000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 2);
  EXPECT_EQ(lookUp("cuInit", &function, 99000, 0, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(lookUp(nullptr, &function, 12000, 0, &status), CUDA_ERROR_INVALID_VALUE);
}

// Only what a driver exports, and one function for the fake NVML.
TEST_F(DeviceTest, NothingElseIsExported) {
  LoadedDriver &driver = load();
  EXPECT_NE(driver.symbol("gcEmulatorMemoryUsed"), nullptr);
  EXPECT_THROW(driver.symbol("_ZN2gc8emulator6reportERKNSt7__cxx1112basic_stringIcSt11char_"
                             "traitsIcESaIcEEE"),
               std::runtime_error);
  EXPECT_THROW(driver.symbol("cuMemAlloc"), std::runtime_error); // a driver's is another function
}

} // namespace
} // namespace gc::emulator
