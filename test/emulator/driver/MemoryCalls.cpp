// Memory of the device and pinned memory of the host, and copies between them.
#include "test/emulator/driver/Driver.h"
#include "test/emulator/driver/Submit.h"

#include <cstring>

namespace gc::emulator {
namespace {

using ptx::AccessKind;

// A guess at PCI Express; kernels and copies on the device are guessed elsewhere.
uint64_t copyTime(size_t bytes) { return 2000 + bytes / 16; }

std::string named(const char *call, size_t bytes, CUdeviceptr address) {
  return std::string(call) + " of " + std::to_string(bytes) + " bytes at " + hexadecimal(address);
}

// Whether `address` is one of a device: the mistake of swapped arguments.
bool isDeviceAddress(const void *address) {
  return reinterpret_cast<uintptr_t>(address) >= 0xd000'0000'0000;
}

// The pinned allocation that has `address`, or null.
std::shared_ptr<Pinned> pinnedAt(Driver &driver, const void *address) {
  const auto *byte = static_cast<const std::byte *>(address);
  auto after = driver.pinned.upper_bound(byte);
  if (after == driver.pinned.begin())
    return nullptr;
  const auto &pinned = std::prev(after)->second;
  return byte < pinned->bytes.get() + pinned->size ? pinned : nullptr;
}

// The host's side of a copy.
struct HostSide {
  std::shared_ptr<Pinned> pinned;
  CUresult result = CUDA_SUCCESS;
};

HostSide inspect(Driver &driver, const void *address, size_t bytes) {
  if (!address || isDeviceAddress(address)) {
    report(driver.origin() + ": the host's address is " + (address ? "one of the device" : "null"));
    return {nullptr, CUDA_ERROR_INVALID_VALUE};
  }
  HostSide side{pinnedAt(driver, address)};
  if (side.pinned && static_cast<const std::byte *>(address) + bytes >
                         side.pinned->bytes.get() + side.pinned->size) {
    report(driver.origin() + ": goes beyond the end of the pinned memory of " +
           side.pinned->origin);
    side.result = CUDA_ERROR_INVALID_VALUE;
  }
  return side;
}

} // namespace

GC_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  return Driver::enter(Call::cuMemGetInfo, Needs::Context, [&](Driver &driver) {
    if (!free || !total)
      return CUDA_ERROR_INVALID_VALUE;
    *total = driver.settings.memory;
    *free = driver.settings.memory - driver.current()->used();
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  return Driver::enter(Call::cuMemAlloc, Needs::Context, [&](Driver &driver) {
    if (!address || bytes == 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = driver.refuseDuringCapture(); result != CUDA_SUCCESS)
      return result;
    Device &device = *driver.current();
    if (bytes > driver.settings.memory || device.used(bytes) > driver.settings.memory)
      return CUDA_ERROR_OUT_OF_MEMORY;
    *address = device.memory.allocate(bytes, driver.origin());
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return Driver::enter(Call::cuMemFree, Needs::Release, [&](Driver &driver) {
    if (CUresult result = driver.refuseDuringCapture(); result != CUDA_SUCCESS)
      return result;
    if (address == 0)
      return CUDA_SUCCESS;
    if (driver.current()->memory.free(address))
      return CUDA_SUCCESS;
    report(driver.origin() + ": nothing is allocated at " + hexadecimal(address));
    return CUDA_ERROR_INVALID_VALUE;
  });
}

GC_EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  return Driver::enter(Call::cuMemHostAlloc, Needs::Context, [&](Driver &driver) {
    // Portable, device-mapped and write-combined.
    if (!address || bytes == 0 || (flags & ~7u))
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = driver.refuseDuringCapture(); result != CUDA_SUCCESS)
      return result;
    auto pinned = std::make_shared<Pinned>();
    pinned->device = driver.current();
    pinned->origin = driver.origin();
    pinned->bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
    pinned->size = bytes;
    std::memset(pinned->bytes.get(), 0xcb, bytes);
    *address = pinned->bytes.get();
    driver.pinned.emplace(pinned->bytes.get(), pinned);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuMemFreeHost(void *address) {
  return Driver::enter(Call::cuMemFreeHost, Needs::Release, [&](Driver &driver) {
    if (CUresult result = driver.refuseDuringCapture(); result != CUDA_SUCCESS)
      return result;
    if (driver.pinned.erase(static_cast<const std::byte *>(address)))
      return CUDA_SUCCESS;
    report(driver.origin() + ": nothing is allocated there");
    return CUDA_ERROR_INVALID_VALUE;
  });
}

GC_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes,
                                        CUstream handle) {
  return Driver::enter(Call::cuMemcpyHtoDAsync, Needs::Context, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    HostSide side = inspect(driver, source, bytes);
    if (side.result != CUDA_SUCCESS || bytes == 0)
      return side.result;
    DeviceMemory &memory = driver.current()->memory;
    Work work{.name = named("cuMemcpyHtoDAsync", bytes, target), .nanoseconds = copyTime(bytes)};
    if (side.pinned || stream->capture) {
      work.run = [=, &memory](const Moment &moment) {
        std::memcpy(memory.access(moment, target, bytes, AccessKind::Write), source, bytes);
      };
    } else {
      // The driver stages pageable memory before it returns.
      auto staged = std::make_shared<std::vector<std::byte>>(
          static_cast<const std::byte *>(source), static_cast<const std::byte *>(source) + bytes);
      work.run = [=, &memory](const Moment &moment) {
        std::memcpy(memory.access(moment, target, bytes, AccessKind::Write), staged->data(), bytes);
        *staged = {};
      };
    }
    if (side.pinned)
      work.reads = {static_cast<std::byte *>(const_cast<void *>(source)), bytes, side.pinned};
    return submit(driver, *stream, std::move(work));
  });
}

GC_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes,
                                        CUstream handle) {
  return Driver::enter(Call::cuMemcpyDtoHAsync, Needs::Context, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    HostSide side = inspect(driver, target, bytes);
    if (side.result != CUDA_SUCCESS || bytes == 0)
      return side.result;
    DeviceMemory &memory = driver.current()->memory;
    Work work{.name = named("cuMemcpyDtoHAsync", bytes, source), .nanoseconds = copyTime(bytes)};
    work.run = [=, &memory](const Moment &moment) {
      std::memcpy(target, memory.access(moment, source, bytes, AccessKind::Read), bytes);
    };
    if (side.pinned)
      work.writes = {static_cast<std::byte *>(target), bytes, side.pinned};
    CUresult result = submit(driver, *stream, std::move(work));
    // The driver returns from a copy to pageable memory only when it is done.
    if (result == CUDA_SUCCESS && !side.pinned && !stream->capture)
      result = driver.queue.waitFor(driver.queue.last(stream->lane));
    return result;
  });
}

GC_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                        CUstream handle) {
  return Driver::enter(Call::cuMemcpyDtoDAsync, Needs::Context, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == 0)
      return CUDA_SUCCESS;
    DeviceMemory &memory = driver.current()->memory;
    return submit(
        driver, *stream,
        {.name = named("cuMemcpyDtoDAsync", bytes, target),
         .run = [=, &memory](const Moment &moment) { memory.copy(moment, target, source, bytes); },
         .nanoseconds = 2000 + bytes / 200});
  });
}

GC_EXPORT CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes,
                                   CUstream handle) {
  return Driver::enter(Call::cuMemsetD8Async, Needs::Context, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == 0)
      return CUDA_SUCCESS;
    DeviceMemory &memory = driver.current()->memory;
    return submit(driver, *stream,
                  {.name = named("cuMemsetD8Async", bytes, target),
                   .run =
                       [=, &memory](const Moment &moment) {
                         std::memset(memory.access(moment, target, bytes, AccessKind::Write), value,
                                     bytes);
                       },
                   .nanoseconds = 2000 + bytes / 400});
  });
}

} // namespace gc::emulator
