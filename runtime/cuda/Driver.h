// The CUDA driver, found at run time: this library is built and loaded on machines without one.
#ifndef GC_RUNTIME_CUDA_DRIVER_H
#define GC_RUNTIME_CUDA_DRIVER_H

#include "runtime/cuda/DriverApi.h"
#include "runtime/plan/Result.h"

namespace gc::runtime::cuda {

/// Every function that we call, by its own name. Valid until the process ends.
struct Driver {
#define GC_DRIVER_MEMBER(member, symbol, parameters) CUresult(*member) parameters = nullptr;
  GC_CUDA_DRIVER_FUNCTIONS(GC_DRIVER_MEMBER)
#undef GC_DRIVER_MEMBER

  /// Loads libcuda.so.1 and looks everything up, the first time. Device error when there is no
  /// driver, or one that lacks a function.
  static Result<const Driver *> load();

  /// "CALL failed for SUBJECT: CUDA_ERROR_NAME: the driver's own words"; no "for" without a
  /// subject.
  Error error(CUresult result, const char *call, const std::string &subject = "") const;
  Status check(CUresult result, const char *call, const std::string &subject = "") const;
};

/// Calls a function of the driver and returns an error from the function around on failure.
#define GC_CUDA(driver, call, subject, ...)                                                        \
  do {                                                                                             \
    if (::gc::runtime::cuda::CUresult result_ = (driver).call(__VA_ARGS__);                        \
        result_ != ::gc::runtime::cuda::CUDA_SUCCESS)                                              \
      return (driver).error(result_, #call, subject);                                              \
  } while (false)

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_DRIVER_H
