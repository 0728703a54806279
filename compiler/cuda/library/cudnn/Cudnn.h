//===- Cudnn.h - the library, loaded at run time ----------------*- C++ -*-===//
//
// The headers are cuDNN's own; the library is found when the process starts.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_LIBRARY_CUDNN_CUDNN_H
#define GC_COMPILER_CUDA_LIBRARY_CUDNN_CUDNN_H

#include <cudnn.h>
#include <stdexcept>
#include <string>

namespace gc::cuda {

/// Why a graph has no plan; ends up in PlanAnswer::reason.
struct NoPlan : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What we call of the library.
#define GC_CUDNN_FUNCTIONS(X)                                                                      \
  X(cudnnGetVersion)                                                                               \
  X(cudnnGetErrorString)                                                                           \
  X(cudnnGetLastErrorString)                                                                       \
  X(cudnnBackendCreateDescriptor)                                                                  \
  X(cudnnBackendDestroyDescriptor)                                                                 \
  X(cudnnBackendSetAttribute)                                                                      \
  X(cudnnBackendGetAttribute)                                                                      \
  X(cudnnBackendFinalize)

struct Cudnn {
#define GC_MEMBER(name) decltype(&::name) name = nullptr;
  GC_CUDNN_FUNCTIONS(GC_MEMBER)
#undef GC_MEMBER
  std::string version; // "9.19.0"
  std::string driver;  // what it sees as the driver
};

/// Loads the driver (the system's if it drives a GPU of that version, else the compile-only one)
/// and then the library; throws NoPlan.
void loadCudnn(int version);
const Cudnn &cudnn();

/// Throws NoPlan with `what` and the library's own words.
void check(cudnnStatus_t status, const char *what);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_CUDNN_CUDNN_H
