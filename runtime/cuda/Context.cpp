#include "runtime/cuda/Context.h"

#include "runtime/nvml/NvmlProcesses.h"
#include "runtime/nvml/NvmlSampler.h"

#include <cstdio>
#include <cstdlib>

namespace gc::runtime::cuda {

Result<std::unique_ptr<Context>> Context::create(int ordinal) {
  std::unique_ptr<Context> context(new Context());
  if (Status opened = context->open(ordinal); !opened)
    return opened.error();
  return context;
}

/// The UUID as NVML and nvidia-smi write it. A part of a partitioned GPU (MIG) has one of its own,
/// which NVML knows with another beginning: Nvml::find tries both.
static std::string uuidText(const CUuuid &uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    char byte[4];
    std::snprintf(byte, sizeof(byte), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += byte;
    if (i == 3 || i == 5 || i == 7 || i == 9)
      text += '-';
  }
  return text;
}

/// The driver hides GPUs that this variable does not name.
static std::string visibleText() {
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible ? std::string("; CUDA_VISIBLE_DEVICES is '") + visible + "'" : "";
}

static Error noGpu(const std::string &how) {
  return deviceError("the CUDA driver finds no GPU" + how + visibleText() + "; use --device=cpu");
}

/// Why the driver does not begin.
static Error explainStart(const Driver &driver, CUresult result) {
  if (result == CUDA_ERROR_STUB_LIBRARY)
    return deviceError(
        "no CUDA driver: the libcuda.so.1 that was loaded is the CUDA toolkit's stub "
        "for linking (result 34); install the NVIDIA driver, or take the stub out of "
        "the library path, or use --device=cpu");
  if (result == CUDA_ERROR_NO_DEVICE)
    return noGpu(" (cuInit: CUDA_ERROR_NO_DEVICE)");
  Error error = driver.error(result, "cuInit");
  if (result == CUDA_ERROR_UNKNOWN)
    error.message +=
        "; mostly the kernel module nvidia-uvm is not loaded (`nvidia-modprobe -u -c=0` "
        "loads it), or the machine wants a restart";
  return error;
}

Status Context::open(int ordinal) {
  auto driver = Driver::load();
  if (!driver)
    return driver.error();
  driver_ = *driver;
  const Driver &d = *driver_;
  if (CUresult started = d.cuInit(0); started != CUDA_SUCCESS)
    return explainStart(d, started);
  GC_CUDA(d, cuDriverGetVersion, "", &driverVersion_);
  int count = 0;
  GC_CUDA(d, cuDeviceGetCount, "", &count);
  if (count == 0)
    return noGpu("");
  if (ordinal >= count)
    return deviceError(
        "there is no device 'cuda:" + std::to_string(ordinal) + "'; this machine has " +
        std::to_string(count) +
        (count == 1 ? " GPU, cuda:0" : " GPUs, cuda:0 to cuda:" + std::to_string(count - 1)));
  ordinal_ = ordinal;
  GC_CUDA(d, cuDeviceGet, "", &device_, ordinal);
  char name[256] = "";
  GC_CUDA(d, cuDeviceGetName, "", name, sizeof(name), device_);
  name_ = name;
  CUuuid uuid{};
  GC_CUDA(d, cuDeviceGetUuid, "", &uuid, device_);
  int major = 0, minor = 0;
  std::pair<int *, CUdevice_attribute> attributes[] = {
      {&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
      {&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
      {&multiprocessors_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {&sharedPerBlock_, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN}};
  for (auto [value, attribute] : attributes)
    GC_CUDA(d, cuDeviceGetAttribute, "", value, attribute, device_);
  architecture_ = 10 * major + minor;
  char busId[32] = ""; // "0000:3b:00.0", with the domain
  GC_CUDA(d, cuDeviceGetPCIBusId, "", busId, sizeof(busId), device_);
  watched_ = {uuidText(uuid), busId};
  // The driver itself says how much is in use only once there is a context.
  std::optional<uint64_t> before = nvmlMemoryUsed(watched_);
  GC_CUDA(d, cuDevicePrimaryCtxRetain, "", &context_, device_);
  std::optional<uint64_t> after = before ? nvmlMemoryUsed(watched_) : std::nullopt;
  if (after && *after >= *before)
    contextBytes_ = *after - *before;
  if (Status entered = enter(); !entered)
    return entered;
  for (Stream *stream : {&compute_, &copy_}) {
    *stream = Stream(*this);
    GC_CUDA(d, cuStreamCreate, "", stream->out(), CU_STREAM_NON_BLOCKING);
  }
  return {};
}

Context::~Context() {
  compute_ = {};
  copy_ = {};
  if (!context_)
    return;
  (void)driver_->cuCtxSetCurrent(nullptr);
  (void)driver_->cuDevicePrimaryCtxRelease(device_);
}

Status Context::enter() const {
  return driver_->check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

void Context::drain() const {
  if (enter())
    (void)driver_->cuCtxSynchronize();
}

Result<Context::Memory> Context::memory() const {
  Memory memory;
  GC_CUDA(*driver_, cuMemGetInfo, "", &memory.free, &memory.total);
  return memory;
}

std::string Context::memoryText() const {
  Result<Memory> now = memory();
  if (!now)
    return "";
  std::string others = processesText(nvmlOtherProcesses(watched_));
  return "; " + std::to_string(now->free) + " of the GPU's " + std::to_string(now->total) +
         " bytes are free; compile with a --budget below that, or end what else uses the GPU" +
         (others.empty() ? "" : ": " + others);
}

} // namespace gc::runtime::cuda
