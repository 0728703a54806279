// PTX modules, their functions and launches.
#include "runtime/plan/CudaVersions.h"
#include "test/emulator/driver/Submit.h"

#include <cstring>
#include <string_view>

namespace gc::emulator {
namespace {

constexpr uint64_t modulePage = uint64_t(2) << 20;

// The device's memory as one operation sees it.
class OperationMemory : public ptx::GlobalMemory {
public:
  OperationMemory(DeviceMemory &memory, const Moment &moment, std::string origin = {})
      : memory(memory), moment(moment), origin(std::move(origin)) {}
  std::byte *access(uint64_t address, uint32_t bytes, ptx::AccessKind kind) override {
    std::byte *at = memory.access(moment, address, bytes, kind);
    if (kind != ptx::AccessKind::Read)
      lastByte = at + bytes - 1;
    return at;
  }
  // Makes what was written last wrong, whatever it was: an f32 of 0 becomes 2, a small one huge.
  void spoil() {
    if (lastByte)
      *lastByte ^= std::byte(0x40);
  }
  uint64_t allocate(size_t bytes, size_t) override {
    allocated.push_back(memory.allocate(bytes, "variable of " + origin));
    return allocated.back();
  }
  std::vector<uint64_t> allocated;

private:
  DeviceMemory &memory;
  const Moment &moment;
  std::string origin;
  std::byte *lastByte = nullptr; // of what was written last
};

// The places where the caller wants the compiler's log.
struct JitLog {
  char *buffer = nullptr;
  void **size = nullptr;
};

JitLog logOf(unsigned count, CUjit_option *options, void **values, CUjit_option buffer,
             CUjit_option size) {
  JitLog log;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == buffer)
      log.buffer = static_cast<char *>(values[i]);
    if (options[i] == size)
      log.size = &values[i];
  }
  return log;
}

void fillLog(const JitLog &log, const std::string &text) {
  if (!log.size)
    return;
  size_t room = reinterpret_cast<uintptr_t>(*log.size);
  size_t written = log.buffer && room ? std::min(text.size(), room - 1) : 0;
  if (log.buffer && room) {
    std::memcpy(log.buffer, text.data(), written);
    log.buffer[written] = 0;
  }
  *log.size = reinterpret_cast<void *>(written);
}

// Empty, or why the driver's compiler does not take PTX for `target` ("sm_90", "sm_90a") on a
// device of capability `number`. Targets with a letter are for one architecture or family only.
std::string checkTarget(const std::string &target, int number) {
  std::string device = "sm_" + std::to_string(number);
  std::string_view digits = target;
  char kind = 0;
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    kind = digits.back();
    digits.remove_suffix(1);
  }
  uint64_t wanted = 0;
  if (!digits.starts_with("sm_") || !parseNumber(digits.substr(3), wanted))
    return "target '" + target + "' is not known";
  bool fits = kind == 'a'   ? wanted == uint64_t(number)
              : kind == 'f' ? wanted <= uint64_t(number) && wanted / 10 == uint64_t(number) / 10
                            : wanted <= uint64_t(number);
  return fits ? "" : "PTX for target '" + target + "' does not run on " + device;
}

// PTX of a newer toolkit than the driver's is refused.
bool isTooNew(const std::string &version, int driver) {
  int major = 0, minor = 0;
  std::sscanf(version.c_str(), "%d.%d", &major, &minor);
  return 10 * major + minor > plan::newestPtx(driver);
}

// How a driver answers a cubin or a bundle of them. From CUDA 13 on cubins have another ABI in byte
// 7 of their header, and older drivers know no such image. There is no device here to run others.
CUresult refuseBinary(const void *image, int driver) {
  constexpr unsigned char abiOfCuda13 = 0x41;
  bool isNewer = static_cast<const unsigned char *>(image)[7] == abiOfCuda13 && driver < 13000;
  return isNewer ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult loadPtx(Driver &driver, const char *text, std::shared_ptr<Module> &module,
                 std::string &problem) {
  Device &device = *driver.current();
  module = std::make_shared<Module>();
  module->device = &device;
  module->origin = driver.origin();
  module->bytes = (std::strlen(text) + modulePage - 1) / modulePage * modulePage;
  if (device.used() + module->bytes > driver.settings.memory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  Moment now;
  OperationMemory memory(device.memory, now, module->origin);
  CUresult result = CUDA_SUCCESS;
  try {
    module->program = ptx::Module::parse(text, memory);
    problem =
        checkTarget(module->program->target(), driver.settings.major * 10 + driver.settings.minor);
    if (!problem.empty()) {
      result = CUDA_ERROR_INVALID_PTX;
    } else if (isTooNew(module->program->version(), driver.settings.driver)) {
      problem = "PTX version " + module->program->version() + " is newer than the driver";
      result = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
  } catch (const ptx::ParseError &error) {
    problem = "PTX line " + std::to_string(error.line) + ": " + error.what();
    result = CUDA_ERROR_INVALID_PTX;
  }
  if (result != CUDA_SUCCESS)
    for (uint64_t address : memory.allocated)
      device.memory.free(address);
  module->variables = std::move(memory.allocated);
  return result;
}

// Takes the memory of a module's code off the device, once. False where there is too little.
bool loadCode(Driver &driver, Module &module) {
  if (module.charged)
    return true;
  if (module.device->used() + module.bytes > driver.settings.memory)
    return false;
  module.device->moduleBytes += module.bytes;
  return module.charged = true;
}

// What cuLaunchKernel refuses at once. Empty where it does not.
std::string checkLaunch(Driver &driver, const Function &function, const ptx::Launch &launch) {
  const ptx::KernelInfo &kernel = *function.kernel;
  auto limit = [&](uint32_t value, const char *what, CUdevice_attribute attribute) -> std::string {
    uint32_t largest = uint32_t(driver.attribute(attribute));
    if (value >= 1 && value <= largest)
      return {};
    return std::string(what) + " is " + std::to_string(value) + ", allowed are 1 to " +
           std::to_string(largest);
  };
  const struct {
    uint32_t value;
    const char *what;
    CUdevice_attribute attribute;
  } dimensions[] = {
      {launch.grid.x, "gridDimX", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
      {launch.grid.y, "gridDimY", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
      {launch.grid.z, "gridDimZ", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
      {launch.block.x, "blockDimX", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
      {launch.block.y, "blockDimY", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
      {launch.block.z, "blockDimZ", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
  };
  for (const auto &dimension : dimensions)
    if (auto text = limit(dimension.value, dimension.what, dimension.attribute); !text.empty())
      return text;
  uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  if (auto text = limit(threads, "the number of threads of a block",
                        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
      !text.empty())
    return text;
  if (kernel.maxThreads && threads > kernel.maxThreads)
    return "a block has " + std::to_string(threads) + " threads, the kernel allows " +
           std::to_string(kernel.maxThreads);
  const uint32_t *required = kernel.requiredThreads;
  if (required[0] && (launch.block.x != required[0] || launch.block.y != required[1] ||
                      launch.block.z != required[2]))
    return "the kernel requires blocks of " + std::to_string(required[0]) + " x " +
           std::to_string(required[1]) + " x " + std::to_string(required[2]) + " threads";
  if (launch.dynamicSharedBytes > uint32_t(function.maximumDynamicShared))
    return std::to_string(launch.dynamicSharedBytes) +
           " bytes of dynamic shared memory, the function's attribute allows " +
           std::to_string(function.maximumDynamicShared);
  if (launch.dynamicSharedBytes + kernel.staticSharedBytes > launch.limits.sharedBytesPerBlock)
    return std::to_string(launch.dynamicSharedBytes) + " bytes of dynamic and " +
           std::to_string(kernel.staticSharedBytes) +
           " bytes of static shared memory, a block may have " +
           std::to_string(launch.limits.sharedBytesPerBlock);
  return {};
}

// The parameters as the kernel sees them, copied now: the caller may change them after the call.
// Empty and `problem` where one is missing.
std::vector<std::byte> packParameters(const ptx::KernelInfo &kernel, void **parameters,
                                      std::string &problem) {
  std::vector<std::byte> bytes(kernel.parameterBytes);
  if (!parameters && !kernel.parameters.empty()) {
    problem = "no parameters, the kernel has " + std::to_string(kernel.parameters.size());
    return {};
  }
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!parameters[i]) {
      problem = "parameter " + std::to_string(i) + " is null";
      return {};
    }
    std::memcpy(bytes.data() + kernel.parameters[i].offset, parameters[i],
                kernel.parameters[i].bytes);
  }
  return bytes;
}

Work launchWork(Driver &driver, const Function &function, ptx::Launch launch,
                std::vector<std::byte> parameters) {
  std::string name = function.kernel->name;
  uint64_t threads = uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z * launch.block.x *
                     launch.block.y * launch.block.z;
  DeviceMemory &memory = driver.current()->memory;
  auto run = [&driver, &memory, launch, name, isWrong = driver.isToBeWrong,
              module = function.module,
              parameters = std::move(parameters)](const Moment &moment) mutable {
    if (!module->loaded)
      throw ptx::Fault(ptx::Fault::Kind::Trap,
                       "its module was unloaded before the stream got there");
    launch.parameters = parameters;
    OperationMemory view(memory, moment);
    auto &statistics = driver.statistics[name];
    ++statistics.launches;
    ptx::run(*module->program, name, launch, view,
             driver.settings.statisticsFile.empty() ? nullptr : &statistics.sums);
    if (isWrong)
      view.spoil();
  };
  return {.name = "kernel " + name, .run = std::move(run), .nanoseconds = 3000 + threads / 8};
}

} // namespace

GC_EXPORT CUresult cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned optionCount,
                                      CUjit_option *options, void **values) {
  return Driver::enter(Call::cuModuleLoadDataEx, Needs::Context, [&](Driver &driver) {
    if (!handle || !image || (optionCount && (!options || !values)))
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = driver.refuseDuringCapture(); result != CUDA_SUCCESS)
      return result;
    uint32_t magic = 0;
    std::memcpy(&magic, image, 1);
    if (magic == 0x7f || magic == 0x50)
      std::memcpy(&magic, image, 4);
    if (magic == 0x464c457f || magic == 0xba55ed50)
      return refuseBinary(image, driver.settings.driver);
    std::shared_ptr<Module> module;
    std::string problem;
    CUresult result = loadPtx(driver, static_cast<const char *>(image), module, problem);
    fillLog(logOf(optionCount, options, values, CU_JIT_ERROR_LOG_BUFFER,
                  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES),
            problem);
    fillLog(logOf(optionCount, options, values, CU_JIT_INFO_LOG_BUFFER,
                  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES),
            "");
    if (result != CUDA_SUCCESS) {
      if (!problem.empty())
        report(driver.origin() + ": " + problem);
      return result;
    }
    if (!driver.settings.loadsLazily)
      loadCode(driver, *module);
    *handle = driver.modules.add(std::move(module));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuModuleUnload(CUmodule handle) {
  return Driver::enter(Call::cuModuleUnload, Needs::Release, [&](Driver &driver) {
    auto module = driver.find(driver.modules, handle);
    if (!module)
      return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult result = driver.refuseDuringCapture(); result != CUDA_SUCCESS)
      return result;
    for (uint64_t address : module->variables)
      module->device->memory.free(address);
    module->device->moduleBytes -= module->charged ? module->bytes : 0;
    module->loaded = false;
    driver.functions.removeIf([&](const Function &function) { return function.module == module; });
    driver.modules.remove(handle);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuModuleGetFunction(CUfunction *handle, CUmodule moduleHandle,
                                       const char *name) {
  return Driver::enter(Call::cuModuleGetFunction, Needs::Context, [&](Driver &driver) {
    auto module = driver.find(driver.modules, moduleHandle);
    if (!module)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!handle || !name)
      return CUDA_ERROR_INVALID_VALUE;
    const ptx::KernelInfo *kernel = module->program->find(name);
    if (!kernel)
      return CUDA_ERROR_NOT_FOUND;
    auto function = std::make_shared<Function>();
    function->device = driver.current();
    function->module = module;
    function->kernel = kernel;
    *handle = driver.functions.add(std::move(function));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                      CUfunction handle) {
  return Driver::enter(Call::cuFuncGetAttribute, Needs::Context, [&](Driver &driver) {
    auto function = driver.find(driver.functions, handle);
    if (!function)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    const ptx::KernelInfo &kernel = *function->kernel;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = kernel.maxThreads ? int(kernel.maxThreads)
                                 : driver.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = int(kernel.staticSharedBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = int(kernel.localBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      // Virtual registers are not what a GPU would need of real ones; a bound of what it has.
      *value = int(std::min<uint32_t>(kernel.registers, 255));
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->maximumDynamicShared;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

GC_EXPORT CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                                      int value) {
  return Driver::enter(Call::cuFuncSetAttribute, Needs::Context, [&](Driver &driver) {
    auto function = driver.find(driver.functions, handle);
    if (!function)
      return CUDA_ERROR_INVALID_HANDLE;
    int largest = driver.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                  int(function->kernel->staticSharedBytes);
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > largest)
      return CUDA_ERROR_INVALID_VALUE;
    function->maximumDynamicShared = value;
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY, unsigned gridZ,
                                  unsigned blockX, unsigned blockY, unsigned blockZ,
                                  unsigned sharedBytes, CUstream streamHandle, void **parameters,
                                  void **extra) {
  return Driver::enter(Call::cuLaunchKernel, Needs::Context, [&](Driver &driver) {
    auto function = driver.find(driver.functions, handle);
    auto stream = driver.find(driver.streams, streamHandle);
    if (!function || !stream)
      return CUDA_ERROR_INVALID_HANDLE;
    ptx::Launch launch;
    launch.grid = {gridX, gridY, gridZ};
    launch.block = {blockX, blockY, blockZ};
    launch.dynamicSharedBytes = sharedBytes;
    launch.limits.sharedBytesPerBlock =
        uint32_t(driver.attribute(function->maximumDynamicShared > 48 * 1024
                                      ? CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
                                      : CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    if (driver.settings.watchdog)
      launch.limits.warpInstructions = driver.settings.watchdog;
    std::string problem =
        extra ? "the parameter 'extra' is not emulated" : checkLaunch(driver, *function, launch);
    std::vector<std::byte> bytes;
    if (problem.empty())
      bytes = packParameters(*function->kernel, parameters, problem);
    if (!problem.empty()) {
      report(driver.origin() + ", kernel " + function->kernel->name + ": " + problem);
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!loadCode(driver, *function->module))
      return CUDA_ERROR_OUT_OF_MEMORY;
    return submit(driver, *stream, launchWork(driver, *function, launch, std::move(bytes)));
  });
}

} // namespace gc::emulator
