#include "runtime/cuda/Driver.h"

#include <dlfcn.h>

namespace gc::runtime::cuda {

static Result<Driver> find() {
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
  return deviceError(message);
}

Status Driver::check(CUresult result, const char *call, const std::string &subject) const {
  if (result == CUDA_SUCCESS)
    return {};
  return error(result, call, subject);
}

} // namespace gc::runtime::cuda
