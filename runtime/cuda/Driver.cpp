#include "runtime/cuda/Driver.h"

#include <cstdlib>
#include <dlfcn.h>

namespace gc::runtime::cuda {

/// Drivers load a kernel's code when it first runs, which takes memory after the arena was placed
/// and is forbidden while commands are captured. Whoever set the variable knows better.
static void loadModulesEagerly() { ::setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0); }

static Result<Driver> find() {
  loadModulesEagerly();
  // Never closed: the driver has threads of its own.
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = ::dlerror();
    return deviceError(std::string("no CUDA driver: cannot load libcuda.so.1 (") +
                       (reason ? reason : "no reason given") +
                       "); install the NVIDIA driver, or use --device=cpu");
  }
  Driver driver;
#define GC_DRIVER_FIND(member, symbol, parameters)                                                 \
  driver.member = reinterpret_cast<CUresult(*) parameters>(::dlsym(library, #symbol));             \
  if (!driver.member)                                                                              \
    return deviceError("the CUDA driver has no function " #symbol                                  \
                       "; install a newer NVIDIA driver, or use --device=cpu");
  GC_CUDA_DRIVER_FUNCTIONS(GC_DRIVER_FIND)
#undef GC_DRIVER_FIND
  return driver;
}

Result<const Driver *> Driver::load() {
  static const Result<Driver> driver = find();
  if (!driver)
    return driver.error();
  return &*driver;
}

/// What to do about a result that says little by itself; "" where the driver's words are enough.
static const char *adviceFor(CUresult result) {
  switch (result) {
  case CUDA_ERROR_LAUNCH_TIMEOUT:
    return "the driver ends kernels that take seconds on a GPU that drives a display: use one "
           "without a display, or more micro-batches (--accumulate), whose kernels are shorter";
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
    return "another process has the GPU for itself (nvidia-smi shows it, and the compute mode)";
  case CUDA_ERROR_SYSTEM_NOT_READY:
    return "GPUs that are joined by NVSwitch need a service: start nvidia-fabricmanager";
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    return "the driver's library is not of the version of its kernel module: restart the machine";
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return "the libcuda.so.1 of a cuda-compat package serves data-center GPUs alone: take it out "
           "of LD_LIBRARY_PATH";
  default:
    return "";
  }
}

Error Driver::error(CUresult result, const char *call, const std::string &subject) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS)
    name = nullptr;
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS)
    text = nullptr;
  std::string message = std::string(call) + " failed";
  if (!subject.empty())
    message += " for " + subject;
  message += ": " + (name ? std::string(name) : "error " + std::to_string(int(result)));
  if (text)
    message += std::string(": ") + text;
  if (const char *advice = adviceFor(result); *advice)
    message += std::string("; ") + advice;
  return deviceError(message);
}

Status Driver::check(CUresult result, const char *call, const std::string &subject) const {
  if (result == CUDA_SUCCESS)
    return {};
  return error(result, call, subject);
}

} // namespace gc::runtime::cuda
