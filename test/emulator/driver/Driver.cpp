#include "test/emulator/driver/Driver.h"

#include <csignal>
#include <unistd.h>

namespace gc::emulator {
namespace {

constexpr uint64_t contextBytes = uint64_t(96) << 20;

thread_local Device *currentDevice = nullptr;

} // namespace

uint64_t Device::used(uint64_t bytes) const {
  return ofOthers + (retained ? contextBytes : 0) + moduleBytes + memory.charged(bytes);
}

Driver &Driver::get() {
  // Never destroyed: programs call the driver until their very end.
  static Driver *driver = new Driver;
  return *driver;
}

Driver::Driver() : wrongSettings(readSettings(settings)), queue(settings) {
  for (int ordinal = 0; ordinal < settings.devices; ++ordinal)
    devices.push_back(
        std::make_unique<Device>(ordinal, [this](Epoch epoch) { return queue.nameOf(epoch); }));
  if (!devices.empty())
    devices.front()->ofOthers = settings.memoryOfOthers;
}

std::string Driver::origin() const {
  return std::string(callNames[size_t(present)]) + " call " +
         std::to_string(counts[size_t(present)]);
}

Device *Driver::current() const { return currentDevice; }

CUresult Driver::admit(Call call, Needs needs) {
  present = call;
  failed = CUDA_SUCCESS;
  isToBeWrong = false;
  uint64_t number = ++counts[size_t(call)];
  for (const Injection &injection : settings.injections)
    if (injection.call == call && injection.number == number) {
      if (injection.kind == Injection::Kind::Hang)
        while (true)
          ::pause();
      if (injection.kind == Injection::Kind::Crash)
        ::raise(SIGSEGV);
      if (injection.kind == Injection::Kind::Wrong)
        isToBeWrong = true;
      else
        failed = settle(injection.result);
    }
  if (needs == Needs::Nothing)
    return failed;
  if (!failing())
    failed = broken;
  if (!initialised && call != Call::cuInit)
    return failing() ? failed : CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::Initialised)
    return failed;
  if (call == Call::cuDevicePrimaryCtxRelease)
    return CUDA_SUCCESS; // names its context itself
  if (!currentDevice)
    return failing() ? failed : CUDA_ERROR_INVALID_CONTEXT;
  if (!currentDevice->retained)
    return failing() ? failed : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return CUDA_SUCCESS;
}

CUresult Driver::settle(CUresult result) {
  if (broken == CUDA_SUCCESS && isSticky(result)) {
    broken = result;
    queue.drop();
  }
  return result;
}

CUresult Driver::refuseDuringCapture(bool evenRelaxed) {
  if (failing())
    return CUDA_SUCCESS; // it fails anyway, and may have to take something back
  CUresult result = CUDA_SUCCESS;
  for (const auto &capture : captures) {
    bool own = capture->thread == std::this_thread::get_id();
    if (evenRelaxed || capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
        (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && own)) {
      report(origin() + ": not allowed while a stream captures; the capture is invalid now");
      capture->valid = false;
      result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  return result;
}

std::vector<std::string> Driver::leaksOf(const Device *device) const {
  std::vector<std::string> lines;
  auto of = [&](const Object &object) { return !device || object.device == device; };
  for (const auto &owner : devices)
    if (!device || owner.get() == device)
      for (const auto &[base, block] : owner->memory.all())
        if (block.live)
          lines.push_back("device memory: " + std::to_string(block.size) + " bytes at " +
                          hexadecimal(base) + ", " + block.origin);
  for (const auto &[start, memory] : pinned)
    if (of(*memory))
      lines.push_back("pinned memory: " + std::to_string(memory->size) + " bytes, " +
                      memory->origin);
  auto list = [&](const char *kind, const auto &table) {
    for (const auto &[handle, object] : table.all())
      if (of(*object))
        lines.push_back(std::string(kind) + ": " + object->origin);
  };
  list("module", modules);
  list("stream", streams);
  list("event", events);
  list("graph", graphs);
  list("executable graph", executables);
  return lines;
}

void Driver::destroyContext(Device &device) {
  for (std::string &line : leaksOf(&device))
    abandoned.push_back(std::move(line));
  auto of = [&](const Object &object) { return object.device == &device; };
  std::erase_if(captures, [&](const auto &capture) { return of(*capture->graph); });
  streams.removeIf(of);
  events.removeIf(of);
  graphs.removeIf(of);
  executables.removeIf(of);
  functions.removeIf(of);
  modules.removeIf(of);
  std::erase_if(pinned, [&](const auto &entry) { return of(*entry.second); });
  device.moduleBytes = 0;
  for (const auto &[base, block] : device.memory.all())
    device.memory.free(base);
}

GC_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return Driver::enter(Call::cuCtxSetCurrent, Needs::Initialised, [&](Driver &driver) {
    if (!context) {
      currentDevice = nullptr;
      return CUDA_SUCCESS;
    }
    for (const auto &device : driver.devices)
      if (reinterpret_cast<CUcontext>(device.get()) == context && device->retained) {
        currentDevice = device.get();
        return CUDA_SUCCESS;
      }
    return CUDA_ERROR_INVALID_CONTEXT;
  });
}

// What the fake libnvidia-ml.so.1 shows as used memory of the first device.
GC_EXPORT void gcEmulatorMemoryUsed(uint64_t *bytes) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  *bytes = driver.devices.empty() ? 0 : driver.devices.front()->used();
}

} // namespace gc::emulator
