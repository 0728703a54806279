// cuGetProcAddress_v2: functions by name and version of the interface.
#include "test/emulator/driver/Driver.h"

namespace gc::emulator {
namespace {

enum Status : int { found = 0, notFound = 1, versionNotSufficient = 2 };

// Since when a name means the function that we export; older versions mean another one or none.
int introduced(std::string_view name) {
  constexpr struct {
    std::string_view name;
    int version;
  } later[] = {
      {"cuGetProcAddress", 12000},        {"cuDeviceGetUuid", 11040},
      {"cuDevicePrimaryCtxRetain", 7000}, {"cuDevicePrimaryCtxRelease", 11000},
      {"cuGetErrorName", 6000},           {"cuGetErrorString", 6000},
      {"cuStreamBeginCapture", 10010},    {"cuStreamEndCapture", 10000},
      {"cuGraphInstantiate", 12000},      {"cuGraphInstantiateWithFlags", 11040},
      {"cuGraphLaunch", 10000},           {"cuGraphDestroy", 10000},
      {"cuGraphExecDestroy", 10000},      {"cuFuncSetAttribute", 9000},
  };
  for (const auto &entry : later)
    if (entry.name == name)
      return entry.version;
  return 4000;
}

} // namespace

// The status is CUdriverProcAddressQueryResult of cuda.h. Not found is a success with a null
// pointer.
GC_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                       uint64_t flags, int *status) {
  if (!symbol || !function || version > driverVersion || flags > 2)
    return CUDA_ERROR_INVALID_VALUE;
  std::string_view name = symbol;
  void *address = nullptr;
#define GC_CALL(member, exported, parameters)                                                      \
  if (name == #member)                                                                             \
    address = reinterpret_cast<void *>(&exported);
  GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
  if (name == "cuGraphInstantiateWithFlags")
    address = reinterpret_cast<void *>(&cuGraphInstantiateWithFlags);
  if (name == "cuGetProcAddress")
    address = reinterpret_cast<void *>(&cuGetProcAddress_v2);
  bool recent = version >= introduced(name);
  *function = recent ? address : nullptr;
  if (status)
    *status = !address ? notFound : recent ? found : versionNotSufficient;
  return CUDA_SUCCESS;
}

} // namespace gc::emulator
