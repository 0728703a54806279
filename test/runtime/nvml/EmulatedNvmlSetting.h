// What a test asks of the emulated NVML, until it goes out of scope. Nothing may be initialized
// then.
#ifndef GC_TEST_RUNTIME_NVML_EMULATEDNVMLSETTING_H
#define GC_TEST_RUNTIME_NVML_EMULATEDNVMLSETTING_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <string>

struct EmulatedNvmlSetting {
  EmulatedNvmlSetting(const std::string &name, const std::string &value,
                      const std::string &prefix = "GC_EMULATOR_NVML_")
      : variable(prefix + name) {
    ::setenv(variable.c_str(), value.c_str(), 1);
  }
  ~EmulatedNvmlSetting() { ::unsetenv(variable.c_str()); }
  EmulatedNvmlSetting(const EmulatedNvmlSetting &) = delete;
  const std::string variable;
};

/// Of the emulated driver's first device.
inline constexpr const char *kEmulatedUuid = "GPU-67632d65-6d75-6c61-7465-642d67707500";

/// How many initializations of the library are open.
inline int openInitializations(const char *library = GC_EMULATED_NVML) {
  void *handle = ::dlopen(library, RTLD_NOW);
  auto count =
      handle ? reinterpret_cast<int (*)()>(::dlsym(handle, "gcEmulatorNvmlInitialized")) : nullptr;
  return count ? count() : -1;
}

#endif // GC_TEST_RUNTIME_NVML_EMULATEDNVMLSETTING_H
