// The part of cuDNN 9's backend interface that we use, declared here so that the project builds
// without it. Names, values and signatures are the library's own (its ABI); a test compares them
// with the real header where there is one.
//
// Nothing links against cuDNN: `CudnnGraphs` (Cudnn.h) looks each function up in libcudnn.so.9, and
// only for plans that have library graphs.
#ifndef GC_RUNTIME_CUDA_CUDNNAPI_H
#define GC_RUNTIME_CUDA_CUDNNAPI_H

#include "runtime/cuda/DriverApi.h"

namespace gc::runtime::cuda {

using cudnnHandle_t = struct cudnnContext *;
using cudnnBackendDescriptor_t = void *;

enum cudnnStatus_t : int {
  CUDNN_STATUS_SUCCESS = 0,
};

enum cudnnBackendDescriptorType_t : int {
  CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
  CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
};

enum cudnnBackendAttributeName_t : int {
  CUDNN_ATTR_EXECUTION_PLAN_HANDLE = 400,
  CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
  CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION = 405,
  CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
  CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
  CUDNN_ATTR_VARIANT_PACK_WORKSPACE = 1003,
};

enum cudnnBackendAttributeType_t : int {
  CUDNN_TYPE_HANDLE = 0,
  CUDNN_TYPE_INT64 = 3,
  CUDNN_TYPE_VOID_PTR = 6,
  CUDNN_TYPE_CHAR = 24,
};

// X(name, result, parameters): everything that we call.
#define GC_CUDNN_FUNCTIONS(X)                                                                      \
  X(cudnnGetVersion, size_t, ())                                                                   \
  X(cudnnGetErrorString, const char *, (cudnnStatus_t status))                                     \
  X(cudnnGetLastErrorString, void, (char *message, size_t bytes))                                  \
  X(cudnnCreate, cudnnStatus_t, (cudnnHandle_t * handle))                                          \
  X(cudnnDestroy, cudnnStatus_t, (cudnnHandle_t handle))                                           \
  X(cudnnSetStream, cudnnStatus_t, (cudnnHandle_t handle, CUstream stream))                        \
  X(cudnnBackendCreateDescriptor, cudnnStatus_t,                                                   \
    (cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t * descriptor))                    \
  X(cudnnBackendDestroyDescriptor, cudnnStatus_t, (cudnnBackendDescriptor_t descriptor))           \
  X(cudnnBackendFinalize, cudnnStatus_t, (cudnnBackendDescriptor_t descriptor))                    \
  X(cudnnBackendSetAttribute, cudnnStatus_t,                                                       \
    (cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,                        \
     cudnnBackendAttributeType_t type, int64_t count, const void *elements))                       \
  X(cudnnBackendGetAttribute, cudnnStatus_t,                                                       \
    (cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,                        \
     cudnnBackendAttributeType_t type, int64_t requested, int64_t * count, void *elements))        \
  X(cudnnBackendExecute, cudnnStatus_t,                                                            \
    (cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack))

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_CUDNNAPI_H
