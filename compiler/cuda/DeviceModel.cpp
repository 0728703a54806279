//===- DeviceModel.cpp - the GPUs that we compile for ---------------------===//
#include "compiler/cuda/DeviceModel.h"
#include <array>
#include <nlohmann/json.hpp>

namespace gc::cuda {

constexpr int64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

static constexpr std::array<DeviceModel, 7> models{{
    {"sm_75", "Tesla T4", 75, 40, 64, 64 * KiB, 64 * KiB, 0, 1024, 16, 1590000, 5001000, 256,
     4 * MiB, 16 * GiB},
    {"sm_80", "A100 80 GB", 80, 108, 64, 163 * KiB, 164 * KiB, KiB, 2048, 32, 1410000, 1593000,
     5120, 40 * MiB, 80 * GiB},
    {"sm_86", "RTX 3090", 86, 82, 128, 99 * KiB, 100 * KiB, KiB, 1536, 16, 1695000, 9751000, 384,
     6 * MiB, 24 * GiB},
    {"sm_89", "L40S", 89, 142, 128, 99 * KiB, 100 * KiB, KiB, 1536, 24, 2520000, 9001000, 384,
     96 * MiB, 48 * GiB},
    {"sm_90", "H100 80 GB", 90, 132, 128, 227 * KiB, 228 * KiB, KiB, 2048, 32, 1980000, 2619000,
     5120, 50 * MiB, 80 * GiB},
    {"sm_100", "B200", 100, 148, 128, 227 * KiB, 228 * KiB, KiB, 2048, 32, 1965000, 3996000, 8192,
     132644864, 180 * GiB},
    {"sm_120", "RTX 5090", 120, 170, 128, 99 * KiB, 100 * KiB, KiB, 1536, 24, 2407000, 14001000,
     512, 96 * MiB, 32 * GiB},
}};

std::span<const DeviceModel> deviceModels() { return models; }

const DeviceModel *findDeviceModel(const std::string &target) {
  for (const DeviceModel &model : models)
    if (target == model.target)
      return &model;
  return nullptr;
}

const DeviceModel *deviceModelFor(int version) {
  const DeviceModel *best = nullptr;
  for (const DeviceModel &model : models)
    if (model.version <= version)
      best = &model;
  return best;
}

double DeviceModel::flopsPerSecond() const {
  return 2e3 * double(multiprocessors) * coresPerMultiprocessor * double(clockKHz);
}

// Memory transfers twice in a clock.
double DeviceModel::bytesPerSecond() const {
  return 2e3 * double(memoryClockKHz) * (memoryBusBits / 8.0);
}

std::string DeviceModel::cudnnJson() const {
  nlohmann::json json;
  json["maxGridSize"] = {2147483647, 65535, 65535};
  json["maxBlockSize"] = {1024, 1024, 64};
  json["regsPerBlock"] = registersPerMultiprocessor;
  json["multiProcessorCount"] = multiprocessors;
  json["warpSize"] = 32;
  json["maxSharedMemoryPerBlock"] = defaultSharedBytesPerBlock;
  json["maxSharedMemoryPerBlockOptin"] = sharedBytesPerBlock;
  json["reservedSharedMemoryPerBlock"] = reservedSharedBytes;
  json["maxRegistersPerSM"] = registersPerMultiprocessor;
  json["maxCtasPerSM"] = blocksPerMultiprocessor;
  json["maxThreadsPerBlock"] = 1024;
  json["maxThreadsPerSM"] = threadsPerMultiprocessor;
  json["pciDeviceId"] = 0;
  json["isTccDriver"] = 0;
  json["supportCoopLaunch"] = 1;
  json["totalGlobalMem"] = memoryBytes;
  json["smClockRateKHz"] = clockKHz;
  json["memClockRateKHz"] = memoryClockKHz;
  json["l2CacheSize"] = cacheBytes;
  json["cudaDeviceId"] = 0;
  json["deviceVer"] = version * 10;
  json["driverVer"] = 13000;
  json["deviceName"] = name;
  return json.dump();
}

} // namespace gc::cuda
