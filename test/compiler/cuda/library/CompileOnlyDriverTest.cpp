// The compile-only driver takes kernels and refuses to run anything. It is opened in children only:
// no process that lives on may have it.
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

constexpr int success = 0, noDevice = 100, notFound = 500, notSupported = 801;

template <typename... Arguments> int call(const char *name, Arguments... arguments) {
  void *driver = dlopen(GC_COMPILE_ONLY_DRIVER, RTLD_NOW);
  void *function = driver ? dlsym(driver, name) : nullptr;
  if (!function)
    return -1;
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

// Ends the child with the driver's answer, in so far as a process can say it.
#define EXPECT_ANSWER(call, answer)                                                                \
  EXPECT_EXIT(std::_Exit((call) == (answer) ? 0 : 1), testing::ExitedWithCode(0), "")

TEST(CompileOnlyDriver, TakesKernels) {
  static void *library, *kernel;
  static const char image[] = "an image";
  EXPECT_ANSWER(call("cuInit", 0u), success);
  EXPECT_ANSWER(call("cuLibraryLoadData", &library, static_cast<const void *>(image), nullptr,
                     nullptr, 0u, nullptr, nullptr, 0u),
                success);
  EXPECT_ANSWER(call("cuLibraryGetKernel", &kernel, static_cast<void *>(nullptr), "name"), success);
}

TEST(CompileOnlyDriver, HasNoDeviceAndRunsNothing) {
  static int number;
  static unsigned long long address;
  EXPECT_ANSWER(call("cuDeviceGetCount", &number) + number, success + 0);
  EXPECT_ANSWER(call("cuDeviceGet", &number, 0), noDevice);
  EXPECT_ANSWER(call("cuMemAlloc_v2", &address, size_t(16)), notSupported);
  EXPECT_ANSWER(call("cuLaunchKernel"), notSupported);
  EXPECT_ANSWER(call("cuLaunchKernelEx"), notSupported);
  EXPECT_ANSWER(call("cuGetExportTable"), notSupported);
}

TEST(CompileOnlyDriver, LooksUpWhatItHasAndNothingElse) {
  static void *function;
  static int status;
  EXPECT_ANSWER(call("cuGetProcAddress_v2", "cuLibraryLoadData", &function, 12000, 0ull, &status),
                success);
  EXPECT_ANSWER(call("cuGetProcAddress_v2", "cuGraphLaunch", &function, 12000, 0ull, &status),
                notFound);
}

} // namespace
