// Devices, their properties and their primary contexts; errors by name.
#include "test/emulator/driver/Driver.h"

#include <cstdio>
#include <cstring>

namespace gc::emulator {
namespace {

// Per capability: the shared memory that a block may ask for, and what fits on a multiprocessor.
struct Capability {
  int atLeast;
  int sharedOptIn, threads, blocks;
};
constexpr Capability capabilities[] = {
    {120, 101376, 1536, 24}, {100, 232448, 2048, 32}, {90, 232448, 2048, 32},
    {89, 101376, 1536, 24},  {86, 101376, 1536, 16},  {80, 166912, 2048, 32},
    {75, 65536, 1024, 16},   {70, 98304, 2048, 32},   {0, 49152, 2048, 32},
};

int attributeOf(const Settings &settings, int ordinal, CUdevice_attribute attribute) {
  int number = settings.major * 10 + settings.minor;
  const Capability *capability = capabilities;
  while (capability->atLeast > number)
    ++capability;
  int reserved = settings.major >= 8 ? 1024 : 0;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return 2147483647;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 49152;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return 1500000;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return 16;
  case CU_DEVICE_ATTRIBUTE_INTEGRATED:
  case CU_DEVICE_ATTRIBUTE_TCC_DRIVER:
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    return 0;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    return ordinal + 1;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 7000000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 128;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return 4 << 20;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return capability->threads;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return settings.major;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return settings.minor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return capability->sharedOptIn + reserved;
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    return 1;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return capability->sharedOptIn;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return capability->blocks;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return reserved;
  }
  return -1;
}

} // namespace

int Driver::attribute(CUdevice_attribute attribute) const {
  return attributeOf(settings, 0, attribute);
}

Device *Driver::device(CUdevice ordinal) const {
  return ordinal >= 0 && size_t(ordinal) < devices.size() ? devices[size_t(ordinal)].get()
                                                          : nullptr;
}

GC_EXPORT CUresult cuInit(unsigned flags) {
  return Driver::enter(Call::cuInit, Needs::Initialised, [&](Driver &driver) {
    if (!driver.wrongSettings.empty()) {
      report(driver.wrongSettings);
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (driver.devices.empty())
      return CUDA_ERROR_NO_DEVICE;
    driver.initialised = true;
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDriverGetVersion(int *version) {
  return Driver::enter(Call::cuDriverGetVersion, Needs::Nothing, [&](Driver &driver) {
    if (!version)
      return CUDA_ERROR_INVALID_VALUE;
    *version = driver.settings.driver;
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuGetErrorName(CUresult error, const char **name) {
  return Driver::enter(Call::cuGetErrorName, Needs::Nothing, [&](Driver &) {
    if (!name)
      return CUDA_ERROR_INVALID_VALUE;
    *name = resultName(error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

GC_EXPORT CUresult cuGetErrorString(CUresult error, const char **text) {
  return Driver::enter(Call::cuGetErrorString, Needs::Nothing, [&](Driver &) {
    if (!text)
      return CUDA_ERROR_INVALID_VALUE;
    *text = resultText(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

GC_EXPORT CUresult cuDeviceGetCount(int *count) {
  return Driver::enter(Call::cuDeviceGetCount, Needs::Initialised, [&](Driver &driver) {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = int(driver.devices.size());
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return Driver::enter(Call::cuDeviceGet, Needs::Initialised, [&](Driver &driver) {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.device(ordinal))
      return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return Driver::enter(Call::cuDeviceGetName, Needs::Initialised, [&](Driver &driver) {
    if (!name || length <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.device(device))
      return CUDA_ERROR_INVALID_DEVICE;
    std::strncpy(name, driver.settings.name.c_str(), size_t(length) - 1);
    name[length - 1] = 0;
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  return Driver::enter(Call::cuDeviceGetUuid, Needs::Initialised, [&](Driver &driver) {
    if (!uuid)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.device(device))
      return CUDA_ERROR_INVALID_DEVICE;
    // "gc-emulated-gpu" and the ordinal.
    std::memcpy(uuid->bytes, "gc-emulated-gpu", 16);
    uuid->bytes[15] = char(device);
    // A part of a partitioned GPU has a UUID of its own.
    if (driver.settings.isPartition && device == 0)
      std::memcpy(uuid->bytes, "gc-emulated-mig", 15);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  return Driver::enter(Call::cuDeviceGetPCIBusId, Needs::Initialised, [&](Driver &driver) {
    if (!id || length < 13)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.device(device))
      return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(id, size_t(length), "%04x:%02x:00.0", driver.settings.pciDomain,
                  unsigned(device) + 1);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return Driver::enter(Call::cuDeviceGetAttribute, Needs::Initialised, [&](Driver &driver) {
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.device(device))
      return CUDA_ERROR_INVALID_DEVICE;
    int number = attributeOf(driver.settings, device, attribute);
    if (number < 0)
      return CUDA_ERROR_INVALID_VALUE;
    *value = number;
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  return Driver::enter(Call::cuDeviceTotalMem, Needs::Initialised, [&](Driver &driver) {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.device(device))
      return CUDA_ERROR_INVALID_DEVICE;
    *bytes = driver.settings.memory;
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice ordinal) {
  return Driver::enter(Call::cuDevicePrimaryCtxRetain, Needs::Initialised, [&](Driver &driver) {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    Device *device = driver.device(ordinal);
    if (!device)
      return CUDA_ERROR_INVALID_DEVICE;
    ++device->retained;
    if (device->used() > driver.settings.memory) {
      --device->retained;
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *context = reinterpret_cast<CUcontext>(device);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return Driver::enter(Call::cuDevicePrimaryCtxRelease, Needs::Release, [&](Driver &driver) {
    Device *device = driver.device(ordinal);
    if (!device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!device->retained)
      return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = CUDA_SUCCESS;
    if (device->retained == 1) {
      // What nobody waited for runs too, so that its mistakes come to light.
      if (!driver.failing())
        result = driver.queue.waitForAll();
      driver.destroyContext(*device);
    }
    --device->retained;
    return result;
  });
}

} // namespace gc::emulator
