// A libcudnn.so.9 that checks how it is called. No real one starts without a real driver. It
// insists on the order of the backend's interface, and "executes" a graph by copying 16 bytes from
// the tensor with id 11 to the one with id 12, on the handle's stream, where scalar 13 is 0.5.
//
//   GC_FAKE_CUDNN_FAIL=CALL      that call fails
//   GC_FAKE_CUDNN_WORKSPACE=N    what a restored plan says it needs (default 256)
//   GC_FAKE_CUDNN_WAIT=1         it waits for its stream, which no capture allows
//
//   GC_FAKE_CUDNN_ANY=1          it takes any graph, and writes a zero to its first tensor
//
// What is not given back is said on standard error when the library goes.
#include "runtime/cuda/CudnnApi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <string>
#include <vector>

using namespace gc::runtime::cuda;

struct gc::runtime::cuda::cudnnContext {
  CUstream stream = nullptr;
};

namespace {

struct Descriptor {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<int, std::vector<char>> attributes;
};

int handles = 0, descriptors = 0;
std::string lastError;

struct AtExit {
  ~AtExit() {
    if (handles || descriptors)
      std::fprintf(stderr, "fake cuDNN: %d handles and %d descriptors were not given back\n",
                   handles, descriptors);
  }
} atExit;

cudnnStatus_t refuse(int status, const std::string &why) {
  lastError = why;
  return static_cast<cudnnStatus_t>(status);
}
bool injected(const char *call) {
  const char *wanted = std::getenv("GC_FAKE_CUDNN_FAIL");
  return wanted && std::strcmp(wanted, call) == 0;
}
#define GC_ENTER                                                                                   \
  if (injected(__func__))                                                                          \
  return refuse(4000, std::string(__func__) + " was told to fail")

template <typename T> const T *values(const Descriptor &d, int attribute, size_t &count) {
  auto found = d.attributes.find(attribute);
  count = found == d.attributes.end() ? 0 : found->second.size() / sizeof(T);
  return found == d.attributes.end() ? nullptr : reinterpret_cast<const T *>(found->second.data());
}

} // namespace

extern "C" {

size_t cudnnGetVersion() { return 91900; }
const char *cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS"
         : status == 2000               ? "CUDNN_STATUS_BAD_PARAM"
                                        : "CUDNN_STATUS_INTERNAL_ERROR";
}
void cudnnGetLastErrorString(char *message, size_t bytes) {
  std::snprintf(message, bytes, "%s", lastError.c_str());
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  GC_ENTER;
  *handle = new cudnnContext;
  ++handles;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  --handles;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, CUstream stream) {
  GC_ENTER;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *descriptor) {
  GC_ENTER;
  *descriptor = new Descriptor{type, false, {}};
  ++descriptors;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Descriptor *>(descriptor);
  --descriptors;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *elements) {
  GC_ENTER;
  auto &d = *static_cast<Descriptor *>(descriptor);
  std::map<int, std::pair<int, size_t>> known = {
      {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, {CUDNN_TYPE_HANDLE, sizeof(void *)}},
      {CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, {CUDNN_TYPE_CHAR, 1}},
      {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {CUDNN_TYPE_INT64, 8}},
      {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, {CUDNN_TYPE_VOID_PTR, sizeof(void *)}},
      {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {CUDNN_TYPE_VOID_PTR, sizeof(void *)}}};
  auto found = known.find(name);
  bool ofPlan = name < CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS;
  if (d.finalized || found == known.end() || found->second.first != type ||
      ofPlan != (d.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR))
    return refuse(2000, "an attribute that does not belong here");
  const char *bytes = static_cast<const char *>(elements);
  d.attributes[name].assign(bytes, bytes + static_cast<size_t>(count) * found->second.second);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  GC_ENTER;
  auto &d = *static_cast<Descriptor *>(descriptor);
  size_t count = 0, others = 0;
  if (d.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    const char *text = values<char>(d, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, count);
    values<void *>(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, others);
    if (others != 1 || count < 3 || text[0] != '{' || text[count - 2] != '}' || text[count - 1])
      return refuse(2000, "no handle, or no JSON with a zero at its end");
  } else {
    values<int64_t>(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, count);
    values<void *>(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, others);
    if (count == 0 || count != others)
      return refuse(2000, "as many ids as pointers");
  }
  d.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t requested,
                                       int64_t *count, void *elements) {
  GC_ENTER;
  if (!static_cast<Descriptor *>(descriptor)->finalized ||
      name != CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE || type != CUDNN_TYPE_INT64 ||
      requested != 1)
    return refuse(2000, "only a finished plan's workspace can be asked for");
  const char *bytes = std::getenv("GC_FAKE_CUDNN_WORKSPACE");
  *static_cast<int64_t *>(elements) = bytes ? std::atoll(bytes) : 256;
  *count = 1;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  GC_ENTER;
  const auto &p = *static_cast<Descriptor *>(plan), &v = *static_cast<Descriptor *>(pack);
  size_t count = 0, one = 0;
  const int64_t *ids = values<int64_t>(v, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, count);
  void *const *pointers = values<void *>(v, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, count);
  void *const *workspace = values<void *>(v, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, one);
  bool takesAny = std::getenv("GC_FAKE_CUDNN_ANY") != nullptr;
  if (!p.finalized || !v.finalized || one != 1 || (!*workspace && !takesAny))
    return refuse(2000, "a plan, a pack and a workspace are needed");
  if (reinterpret_cast<uintptr_t>(*workspace) % 256 != 0)
    return refuse(2000, "the workspace is not at a multiple of 256 bytes");
  std::map<int64_t, void *> bound;
  for (size_t i = 0; i < count; ++i)
    bound[ids[i]] = pointers[i];
  if (!takesAny && (bound.size() != 3 || *static_cast<float *>(bound[13]) != 0.5f))
    return refuse(2000, "tensors 11 and 12 and scalar 13 are needed");
  void *driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto copy = reinterpret_cast<CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream)>(
      ::dlsym(driver, "cuMemcpyDtoDAsync_v2"));
  auto fill = reinterpret_cast<CUresult (*)(CUdeviceptr, unsigned char, size_t, CUstream)>(
      ::dlsym(driver, "cuMemsetD8Async"));
  CUresult done = takesAny ? fill(reinterpret_cast<CUdeviceptr>(pointers[0]), 0, 4, handle->stream)
                           : copy(reinterpret_cast<CUdeviceptr>(bound[12]),
                                  reinterpret_cast<CUdeviceptr>(bound[11]), 16, handle->stream);
  if (done == CUDA_SUCCESS && std::getenv("GC_FAKE_CUDNN_WAIT"))
    done = reinterpret_cast<CUresult (*)(CUstream)>(::dlsym(driver, "cuStreamSynchronize"))(
        handle->stream);
  ::dlclose(driver);
  return done == CUDA_SUCCESS ? CUDNN_STATUS_SUCCESS : refuse(5001, "the driver refused");
}
}
