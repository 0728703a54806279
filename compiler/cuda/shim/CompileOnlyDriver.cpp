//===- CompileOnlyDriver.cpp - a libcuda.so.1 that can only load ----------===//
//
// cuDNN compiles kernels while it plans and hands them to the driver. Where the system has none,
// this one takes them: it accepts images and names of kernels, knows of no device, and refuses
// everything that would need one. Types are spelled as pointers and numbers: it is an ABI, not an
// API.
//
//===----------------------------------------------------------------------===//
#include <cstring>

#define GC_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
enum Result { Success = 0, InvalidValue = 1, NoDevice = 100, NotFound = 500, NotSupported = 801 };
constexpr int version = 13000; // of the interface that is imitated
char loaded;                   // what every handle points to: nothing is ever done with it
} // namespace

GC_EXPORT int cuInit(unsigned) { return Success; }
GC_EXPORT int cuDriverGetVersion(int *number) { return *number = version, Success; }
GC_EXPORT int cuDeviceGetCount(int *count) { return *count = 0, Success; }
GC_EXPORT int cuDeviceGet(int *, int) { return NoDevice; }

GC_EXPORT int cuGetErrorName(int error, const char **name) {
  switch (error) {
  case Success:
    return *name = "CUDA_SUCCESS", Success;
  case NoDevice:
    return *name = "CUDA_ERROR_NO_DEVICE", Success;
  case NotSupported:
    return *name = "CUDA_ERROR_NOT_SUPPORTED", Success;
  default:
    return *name = nullptr, InvalidValue;
  }
}
GC_EXPORT int cuGetErrorString(int error, const char **text) {
  *text = error == Success ? "no error" : "this driver of gc only compiles; it runs nothing";
  return Success;
}

//===----------------------------------------------------------------------===//
// Kernels are loaded and named, and that is all
//===----------------------------------------------------------------------===//

GC_EXPORT int cuLibraryLoadData(void **library, const void *image, void *, void **, unsigned,
                                void *, void **, unsigned) {
  if (!image)
    return InvalidValue;
  return *library = &loaded, Success;
}
GC_EXPORT int cuLibraryUnload(void *) { return Success; }
GC_EXPORT int cuLibraryGetKernel(void **kernel, void *, const char *) {
  return *kernel = &loaded, Success;
}
// cuDNN from 9.20 on asks for the function behind a kernel before anything is launched.
GC_EXPORT int cuKernelGetFunction(void **function, void *kernel) {
  if (!kernel)
    return InvalidValue;
  return *function = &loaded, Success;
}
GC_EXPORT int cuModuleLoadData(void **module, const void *image) {
  if (!image)
    return InvalidValue;
  return *module = &loaded, Success;
}
GC_EXPORT int cuModuleUnload(void *) { return Success; }
GC_EXPORT int cuModuleGetFunction(void **function, void *, const char *) {
  return *function = &loaded, Success;
}
// How much shared memory a launch may ask for: a promise about launches, of which there are none.
GC_EXPORT int cuKernelSetAttribute(int, int, void *, int) { return Success; }

//===----------------------------------------------------------------------===//
// What would be execution, or needs a context to execute in
//===----------------------------------------------------------------------===//

#define GC_REFUSED(X)                                                                              \
  X(cuCtxGetCurrent)                                                                               \
  X(cuCtxGetLimit)                                                                                 \
  X(cuCtxPopCurrent)                                                                               \
  X(cuCtxPushCurrent)                                                                              \
  X(cuGetExportTable)                                                                              \
  X(cuKernelGetAttribute)                                                                          \
  X(cuLaunchCooperativeKernel)                                                                     \
  X(cuLaunchKernel)                                                                                \
  X(cuLaunchKernelEx)                                                                              \
  X(cuLibraryLoadFromFile)                                                                         \
  X(cuLinkAddData)                                                                                 \
  X(cuLinkComplete)                                                                                \
  X(cuLinkCreate)                                                                                  \
  X(cuLinkDestroy)                                                                                 \
  X(cuMemAlloc_v2)                                                                                 \
  X(cuMemAllocAsync)                                                                               \
  X(cuOccupancyMaxPotentialClusterSize)                                                            \
  X(cuStreamGetCtx)                                                                                \
  X(cuTensorMapEncodeIm2col)                                                                       \
  X(cuTensorMapEncodeTiled)
#define GC_DEFINE(name)                                                                            \
  GC_EXPORT int name() { return NotSupported; }
GC_REFUSED(GC_DEFINE)

//===----------------------------------------------------------------------===//
// The functions by name
//===----------------------------------------------------------------------===//

GC_EXPORT int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);
GC_EXPORT int cuGetProcAddress(const char *name, void **function, int driver,
                               unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, driver, flags, nullptr);
}

#define GC_TAKEN(X)                                                                                \
  X(cuInit)                                                                                        \
  X(cuDriverGetVersion)                                                                            \
  X(cuDeviceGetCount)                                                                              \
  X(cuDeviceGet)                                                                                   \
  X(cuGetErrorName)                                                                                \
  X(cuGetErrorString)                                                                              \
  X(cuGetProcAddress)                                                                              \
  X(cuKernelGetFunction)                                                                           \
  X(cuKernelSetAttribute)                                                                          \
  X(cuLibraryGetKernel)                                                                            \
  X(cuLibraryLoadData)                                                                             \
  X(cuLibraryUnload)                                                                               \
  X(cuModuleGetFunction)                                                                           \
  X(cuModuleLoadData)                                                                              \
  X(cuModuleUnload)
#define GC_ENTRY(name) {#name, reinterpret_cast<void *>(&name)},
static const struct {
  const char *name;
  void *function;
} functions[] = {GC_TAKEN(GC_ENTRY) GC_REFUSED(GC_ENTRY)};

GC_EXPORT int cuGetProcAddress_v2(const char *name, void **function, int, unsigned long long,
                                  int *status) {
  *function = nullptr;
  for (auto &entry : functions)
    if (std::strcmp(entry.name, name) == 0)
      *function = entry.function;
  if (status)
    *status = *function ? 0 : 1; // found, or no such symbol
  return *function ? Success : NotFound;
}
