// The part of NVML's interface that we use, declared here so that the project builds without its
// header. Names, values and signatures are NVML's own (its ABI); test/runtime/nvml compares every
// one with the real nvml.h where CMake finds it.
//
// Nothing links against NVML: `Nvml` (Nvml.h) looks each function up in libnvidia-ml.so.1. The
// emulated library of the tests exports the same names.
#ifndef GC_RUNTIME_NVML_NVMLAPI_H
#define GC_RUNTIME_NVML_NVMLAPI_H

namespace gc::runtime::nvml {

using nvmlDevice_t = struct nvmlDevice_st *;

enum nvmlReturn_t : unsigned {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_UNKNOWN = 999,
};

enum nvmlClockType_t : unsigned { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum nvmlTemperatureSensors_t : unsigned { NVML_TEMPERATURE_GPU = 0 };

struct nvmlMemory_t {
  unsigned long long total, free;
  unsigned long long used; // with what the system reserves
};
struct nvmlMemory_v2_t {
  unsigned version;
  unsigned long long total, reserved, free;
  unsigned long long used; // without `reserved`
};
/// What nvmlMemory_v2_t::version must be: the size, and the version above it.
inline constexpr unsigned kMemoryVersion2 = sizeof(nvmlMemory_v2_t) | 2u << 24;

struct nvmlUtilization_t {
  unsigned gpu, memory; // percent
};

struct nvmlProcessInfo_t {
  unsigned pid;
  unsigned long long usedGpuMemory; // kNotAvailable where the driver does not manage memory
  unsigned gpuInstanceId, computeInstanceId;
};
inline constexpr unsigned long long kNotAvailable = -1ull;

/// Every function that we use: X(result, symbol, parameters).
#define GC_NVML_FUNCTIONS(X)                                                                       \
  X(nvmlReturn_t, nvmlInit_v2, ())                                                                 \
  X(nvmlReturn_t, nvmlShutdown, ())                                                                \
  X(const char *, nvmlErrorString, (nvmlReturn_t result))                                          \
  X(nvmlReturn_t, nvmlDeviceGetCount_v2, (unsigned *count))                                        \
  X(nvmlReturn_t, nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device))             \
  X(nvmlReturn_t, nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvmlDevice_t *device))        \
  X(nvmlReturn_t, nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvmlDevice_t *device))           \
  X(nvmlReturn_t, nvmlDeviceGetName, (nvmlDevice_t device, char *name, unsigned length))           \
  X(nvmlReturn_t, nvmlDeviceGetMemoryInfo, (nvmlDevice_t device, nvmlMemory_t * memory))           \
  X(nvmlReturn_t, nvmlDeviceGetMemoryInfo_v2, (nvmlDevice_t device, nvmlMemory_v2_t * memory))     \
  X(nvmlReturn_t, nvmlDeviceGetUtilizationRates, (nvmlDevice_t device, nvmlUtilization_t * rates)) \
  X(nvmlReturn_t, nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned *milliwatts))            \
  X(nvmlReturn_t, nvmlDeviceGetClockInfo,                                                          \
    (nvmlDevice_t device, nvmlClockType_t type, unsigned *megahertz))                              \
  X(nvmlReturn_t, nvmlDeviceGetTemperature,                                                        \
    (nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned *celsius))                     \
  X(nvmlReturn_t, nvmlDeviceGetComputeRunningProcesses_v3,                                         \
    (nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *processes))                          \
  X(nvmlReturn_t, nvmlDeviceGetGraphicsRunningProcesses_v3,                                        \
    (nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *processes))                          \
  X(nvmlReturn_t, nvmlSystemGetProcessName, (unsigned pid, char *name, unsigned length))

} // namespace gc::runtime::nvml

#endif // GC_RUNTIME_NVML_NVMLAPI_H
