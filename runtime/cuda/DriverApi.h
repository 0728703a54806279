// The part of the CUDA driver's interface that we use: its types, numbers and functions, declared
// here so that the project builds without the toolkit. Names, values and signatures are the
// driver's own (its ABI); a test compares every one with the real cuda.h where there is one.
//
// Nothing links against the driver: `Driver` (Driver.h) looks each function up in libcuda.so.1. The
// emulated driver of the tests exports the same names.
#ifndef GC_RUNTIME_CUDA_DRIVERAPI_H
#define GC_RUNTIME_CUDA_DRIVERAPI_H

#include <cstddef>
#include <cstdint>

namespace gc::runtime::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
struct CUuuid {
  char bytes[16];
};

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_ILLEGAL_STATE = 401,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_SYSTEM_NOT_READY = 802,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_UNKNOWN = 999,
};

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
  CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
  CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
  CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
};

enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum CUjit_option : int {
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

enum CUstreamCaptureMode : int {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
constexpr unsigned CU_EVENT_DEFAULT = 0;
constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;

// X(member, exported name, parameters): everything that we call; all return CUresult.
#define GC_CUDA_DRIVER_FUNCTIONS(X)                                                                \
  X(cuInit, cuInit, (unsigned flags))                                                              \
  X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                        \
  X(cuGetErrorName, cuGetErrorName, (CUresult error, const char **name))                           \
  X(cuGetErrorString, cuGetErrorString, (CUresult error, const char **text))                       \
  X(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                              \
  X(cuDeviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                                    \
  X(cuDeviceGetName, cuDeviceGetName, (char *name, int length, CUdevice device))                   \
  X(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                         \
  X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *id, int length, CUdevice device))             \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute,                                                    \
    (int *value, CUdevice_attribute attribute, CUdevice device))                                   \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                      \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))    \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                    \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))                                         \
  X(cuCtxSynchronize, cuCtxSynchronize, ())                                                        \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t * free, size_t * total))                                \
  X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                              \
  X(cuMemFree, cuMemFree_v2, (CUdeviceptr address))                                                \
  X(cuMemHostAlloc, cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                \
  X(cuMemFreeHost, cuMemFreeHost, (void *address))                                                 \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                       \
    (CUdeviceptr target, const void *source, size_t bytes, CUstream stream))                       \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                       \
    (void *target, CUdeviceptr source, size_t bytes, CUstream stream))                             \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                       \
    (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream))                       \
  X(cuMemsetD8Async, cuMemsetD8Async,                                                              \
    (CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream))                      \
  X(cuStreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                           \
  X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                        \
  X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                                   \
  X(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))        \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))    \
  X(cuStreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph * graph))                    \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                               \
    (CUgraphExec * executable, CUgraph graph, unsigned long long flags))                           \
  X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec executable, CUstream stream))                       \
  X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))                                               \
  X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec executable))                              \
  X(cuEventCreate, cuEventCreate, (CUevent * event, unsigned flags))                               \
  X(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                            \
  X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                                \
  X(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                       \
  X(cuEventElapsedTime, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))     \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx,                                                        \
    (CUmodule * module, const void *image, unsigned optionCount, CUjit_option *options,            \
     void **values))                                                                               \
  X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                             \
  X(cuModuleGetFunction, cuModuleGetFunction,                                                      \
    (CUfunction * function, CUmodule module, const char *name))                                    \
  X(cuFuncGetAttribute, cuFuncGetAttribute,                                                        \
    (int *value, CUfunction_attribute attribute, CUfunction function))                             \
  X(cuFuncSetAttribute, cuFuncSetAttribute,                                                        \
    (CUfunction function, CUfunction_attribute attribute, int value))                              \
  X(cuLaunchKernel, cuLaunchKernel,                                                                \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,         \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters,   \
     void **extra))

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_DRIVERAPI_H
