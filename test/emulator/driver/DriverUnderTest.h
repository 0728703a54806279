// The built library, loaded anew for each test with an environment of its own.
#ifndef GC_TEST_EMULATOR_DRIVER_DRIVERUNDERTEST_H
#define GC_TEST_EMULATOR_DRIVER_DRIVERUNDERTEST_H

#include "runtime/cuda/DriverApi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace gc::emulator {

using namespace gc::runtime::cuda;

// The driver's functions as members. Reports are written when it is unloaded.
class LoadedDriver {
public:
  LoadedDriver() : library(dlopen(GC_EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL)) {
    if (!library)
      throw std::runtime_error(dlerror());
#define GC_CALL(member, exported, parameters)                                                      \
  member = reinterpret_cast<CUresult(*) parameters>(symbol(#exported));
    GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
  }
  ~LoadedDriver() { unload(); }
  void unload() {
    if (library)
      dlclose(library);
    library = nullptr;
  }
  void *symbol(const char *name) const {
    void *address = dlsym(library, name);
    if (!address)
      throw std::runtime_error(dlerror());
    return address;
  }

#define GC_CALL(member, exported, parameters) CUresult(*member) parameters = nullptr;
  GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL

private:
  void *library;
};

// Kernels of the tests, in KernelTexts.cpp.
extern const char *const vectorAdd;     // add(a, b, c, n): c = a + b
extern const char *const blockSum;      // sum(in, out): one sum per block of 256, in shared memory
extern const char *const sharedRacing;  // race(out): the reduction without its barrier
extern const char *const dynamicShared; // dynamic(out): touches shared memory of the launch
extern const char
    *const misbehaving; // trapping, misaligned(out), divergent; small and exact behave

// Sets up one device with a stream, and takes everything down again.
class DriverTest : public testing::Test {
protected:
  void SetUp() override {
    // The child of a death test begins here too, but never comes to TearDown: it uses its parent's.
    const char *parents = std::getenv("GC_TEST_EMULATOR_FOLDER");
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '-'); // of a parameter: else a folder below another
    folder = parents ? std::filesystem::path(parents)
                     : std::filesystem::temp_directory_path() /
                           ("gc-emulator-" + std::to_string(getpid()) + "-" + name);
    std::filesystem::create_directories(folder);
    setEnvironment("GC_TEST_EMULATOR_FOLDER", folder.string());
    setEnvironment("GC_EMULATOR_LOG", (folder / "log").string());
  }
  void TearDown() override {
    loaded.reset();
    for (const std::string &name : changed)
      unsetenv(name.c_str());
    std::filesystem::remove_all(folder);
  }

  void setEnvironment(const std::string &name, const std::string &value) {
    setenv(name.c_str(), value.c_str(), 1);
    changed.push_back(name);
  }
  // The library alone.
  LoadedDriver &load() { return *(loaded = std::make_unique<LoadedDriver>()); }
  // The library with a current context and a stream.
  LoadedDriver &start() {
    LoadedDriver &driver = load();
    CUcontext context = nullptr;
    EXPECT_EQ(driver.cuInit(0), CUDA_SUCCESS) << log();
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return driver;
  }
  std::string read(const std::string &name) const {
    std::ifstream file(folder / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string log() const { return read("log"); }
  std::string path(const std::string &name) const { return (folder / name).string(); }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(loaded->cuMemAlloc(&address, bytes), CUDA_SUCCESS) << log();
    return address;
  }
  template <class T> T *pin(size_t count) {
    void *address = nullptr;
    EXPECT_EQ(loaded->cuMemHostAlloc(&address, count * sizeof(T), 0), CUDA_SUCCESS) << log();
    return static_cast<T *>(address);
  }
  // Initialised device memory; the copy is done when it returns.
  CUdeviceptr upload(const std::vector<float> &values) {
    CUdeviceptr address = allocate(values.size() * 4);
    EXPECT_EQ(loaded->cuMemcpyHtoDAsync(address, values.data(), values.size() * 4, stream),
              CUDA_SUCCESS);
    EXPECT_EQ(loaded->cuStreamSynchronize(stream), CUDA_SUCCESS) << log();
    return address;
  }
  std::vector<float> download(CUdeviceptr address, size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(loaded->cuMemcpyDtoHAsync(values.data(), address, count * 4, stream), CUDA_SUCCESS)
        << log();
    return values;
  }
  CUstream newStream() {
    CUstream created = nullptr;
    EXPECT_EQ(loaded->cuStreamCreate(&created, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return created;
  }
  CUevent newEvent(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent event = nullptr;
    EXPECT_EQ(loaded->cuEventCreate(&event, flags), CUDA_SUCCESS);
    return event;
  }
  CUfunction loadKernel(const char *text, const char *name) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(loaded->cuModuleLoadDataEx(&module, text, 0, nullptr, nullptr), CUDA_SUCCESS)
        << log();
    EXPECT_EQ(loaded->cuModuleGetFunction(&function, module, name), CUDA_SUCCESS) << log();
    return function;
  }
  template <class... Values>
  CUresult launch(CUfunction function, unsigned grid, unsigned block, unsigned shared,
                  CUstream where, Values... values) {
    void *parameters[] = {&values..., nullptr};
    return loaded->cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, where, parameters,
                                  nullptr);
  }

  std::filesystem::path folder;
  std::unique_ptr<LoadedDriver> loaded;
  CUstream stream = nullptr;

private:
  std::vector<std::string> changed;
};

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_DRIVERUNDERTEST_H
