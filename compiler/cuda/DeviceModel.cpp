//===- DeviceModel.cpp - the GPUs that we compile for ---------------------===//
#include "compiler/cuda/DeviceModel.h"
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace gc::cuda {
namespace {

constexpr int64_t KiB = 1024, GiB = 1024 * 1024 * KiB;

/// What all GPUs of a compute capability have in common.
struct Architecture {
  int version, coresPerMultiprocessor;
  int64_t sharedBytesPerBlock, sharedBytesPerMultiprocessor, reservedSharedBytes;
  int threadsPerMultiprocessor, blocksPerMultiprocessor;
};

const Architecture architectures[] = {
    {75, 64, 64 * KiB, 64 * KiB, 0, 1024, 16},      {80, 64, 163 * KiB, 164 * KiB, KiB, 2048, 32},
    {86, 128, 99 * KiB, 100 * KiB, KiB, 1536, 16},  {89, 128, 99 * KiB, 100 * KiB, KiB, 1536, 24},
    {90, 128, 227 * KiB, 228 * KiB, KiB, 2048, 32}, {100, 128, 227 * KiB, 228 * KiB, KiB, 2048, 32},
    {120, 128, 99 * KiB, 100 * KiB, KiB, 1536, 24},
};

/// By data sheet: boost clock, and the memory clock at which two transfers a clock give the
/// bandwidth.
struct Card {
  int version;
  const char *name;
  int multiprocessors;
  int64_t clockKHz, memoryClockKHz;
  int memoryBusBits;
  int64_t cacheBytes, memoryBytes;
  int tf32FlopsPerClock; // dense, of a multiprocessor; cards for games have half of it
};
const Card cardTable[] = {
    {75, "GTX 1660 Ti", 24, 1770000, 6000000, 192, 1536 * KiB, 6 * GiB, 0},
    {75, "RTX 2060", 30, 1680000, 7000000, 192, 3072 * KiB, 6 * GiB, 0},
    {75, "RTX 2070", 36, 1620000, 7000000, 256, 4096 * KiB, 8 * GiB, 0},
    {75, "RTX 2080", 46, 1710000, 7000000, 256, 4096 * KiB, 8 * GiB, 0},
    {75, "RTX 2080 Ti", 68, 1545000, 7000000, 352, 5632 * KiB, 11 * GiB, 0},
    {75, "TITAN RTX", 72, 1770000, 7000000, 384, 6144 * KiB, 24 * GiB, 0},
    {75, "Tesla T4", 40, 1590000, 5001000, 256, 4096 * KiB, 16 * GiB, 0},
    {80, "A30", 56, 1440000, 1214844, 3072, 24576 * KiB, 24 * GiB, 1024},
    {80, "A100 40 GB", 108, 1410000, 1214844, 5120, 40960 * KiB, 40 * GiB, 1024},
    {80, "A100 80 GB", 108, 1410000, 1593000, 5120, 40960 * KiB, 80 * GiB, 1024},
    {86, "RTX 3050", 20, 1777000, 7000000, 128, 2048 * KiB, 8 * GiB, 256},
    {86, "RTX 3060", 28, 1777000, 7500000, 192, 3072 * KiB, 12 * GiB, 256},
    {86, "RTX 3060 Ti", 38, 1665000, 7000000, 256, 4096 * KiB, 8 * GiB, 256},
    {86, "RTX 3070", 46, 1725000, 7000000, 256, 4096 * KiB, 8 * GiB, 256},
    {86, "RTX 3080", 68, 1710000, 9500000, 320, 5120 * KiB, 10 * GiB, 256},
    {86, "RTX 3080 Ti", 80, 1665000, 9500000, 384, 6144 * KiB, 12 * GiB, 256},
    {86, "RTX 3090", 82, 1695000, 9751000, 384, 6144 * KiB, 24 * GiB, 256},
    {86, "RTX 3090 Ti", 84, 1860000, 10500000, 384, 6144 * KiB, 24 * GiB, 256},
    {86, "A10", 72, 1695000, 6250000, 384, 6144 * KiB, 24 * GiB, 512},
    {86, "A40", 84, 1740000, 7250000, 384, 6144 * KiB, 48 * GiB, 512},
    {86, "RTX A6000", 84, 1800000, 8000000, 384, 6144 * KiB, 48 * GiB, 512},
    {89, "RTX 4060", 24, 2460000, 8500000, 128, 24576 * KiB, 8 * GiB, 256},
    {89, "RTX 4070", 46, 2475000, 10500000, 192, 36864 * KiB, 12 * GiB, 256},
    {89, "RTX 4080", 76, 2505000, 11203125, 256, 65536 * KiB, 16 * GiB, 256},
    {89, "RTX 4090", 128, 2520000, 10500000, 384, 73728 * KiB, 24 * GiB, 256},
    {89, "L4", 58, 2040000, 6250000, 192, 49152 * KiB, 24 * GiB, 512},
    {89, "L40S", 142, 2520000, 9001000, 384, 98304 * KiB, 48 * GiB, 512},
    {89, "RTX 6000 Ada", 142, 2505000, 10000000, 384, 98304 * KiB, 48 * GiB, 512},
    {90, "H100 PCIe", 114, 1755000, 1592969, 5120, 51200 * KiB, 80 * GiB, 2048},
    {90, "H100 80 GB", 132, 1980000, 2619000, 5120, 51200 * KiB, 80 * GiB, 2048},
    {90, "H200", 132, 1980000, 3125000, 6144, 51200 * KiB, 141 * GiB, 2048},
    {100, "B200", 148, 1965000, 3996000, 8192, 129536 * KiB, 180 * GiB, 4096},
    {120, "RTX 5060 Ti", 36, 2572000, 14000000, 128, 32768 * KiB, 16 * GiB, 256},
    {120, "RTX 5070", 48, 2512000, 14000000, 192, 49152 * KiB, 12 * GiB, 256},
    {120, "RTX 5080", 84, 2617000, 15000000, 256, 65536 * KiB, 16 * GiB, 256},
    {120, "RTX 5090", 170, 2407000, 14001000, 512, 98304 * KiB, 32 * GiB, 256},
    {120, "RTX PRO 6000 Blackwell", 188, 2617000, 14000000, 512, 131072 * KiB, 96 * GiB, 512},
};

/// The card that stands for its architecture where that alone is asked for.
const char *const commonCards[] = {"Tesla T4",   "A100 80 GB", "RTX 3090", "L40S",
                                   "H100 80 GB", "B200",       "RTX 5090"};

DeviceModel modelOf(const Card &card) {
  const Architecture &a = *std::ranges::find(architectures, card.version, &Architecture::version);
  return {"sm_" + std::to_string(card.version),
          card.name,
          card.version,
          card.multiprocessors,
          card.multiprocessors,
          a.coresPerMultiprocessor,
          a.sharedBytesPerBlock,
          a.sharedBytesPerMultiprocessor,
          a.reservedSharedBytes,
          a.threadsPerMultiprocessor,
          a.blocksPerMultiprocessor,
          card.clockKHz,
          card.memoryClockKHz,
          card.memoryBusBits,
          card.cacheBytes,
          card.memoryBytes,
          card.tf32FlopsPerClock};
}

std::vector<DeviceModel> modelsOfArchitectures() {
  std::vector<DeviceModel> models;
  for (const char *common : commonCards) {
    models.push_back(*std::ranges::find_if(
        cards(), [&](const DeviceModel &card) { return card.name == common; }));
    for (const DeviceModel &card : cards())
      if (card.version == models.back().version)
        models.back().servedMultiprocessors =
            std::max(models.back().servedMultiprocessors, card.multiprocessors);
  }
  return models;
}

/// By the card's name, or where all cards of its architecture have the same; else 0.
int tf32FlopsPerClockOf(int version, const std::string &name) {
  if (const DeviceModel *known = findDeviceModel(name); known && known->version == version)
    return known->tf32FlopsPerClock;
  std::optional<int> common;
  for (const DeviceModel &card : cards())
    if (card.version == version) {
      if (common && *common != card.tf32FlopsPerClock)
        return 0;
      common = card.tf32FlopsPerClock;
    }
  return common.value_or(0);
}

/// A card's name without what people leave out or write in several ways.
std::string plainName(const std::string &name) {
  std::string plain;
  for (unsigned char c : name)
    if (std::isalnum(c))
      plain += char(std::tolower(c));
  for (const char *word : {"nvidia", "geforce", "quadro", "tesla"})
    if (size_t at = plain.find(word); at != std::string::npos)
      plain.erase(at, std::string(word).size());
  return plain;
}

} // namespace

std::span<const DeviceModel> cards() {
  static const std::vector<DeviceModel> models = [] {
    std::vector<DeviceModel> all;
    for (const Card &card : cardTable)
      all.push_back(modelOf(card));
    return all;
  }();
  return models;
}

std::span<const DeviceModel> deviceModels() {
  static const std::vector<DeviceModel> models = modelsOfArchitectures();
  return models;
}

const DeviceModel *findDeviceModel(const std::string &target) {
  for (const DeviceModel &model : deviceModels())
    if (target == model.target)
      return &model;
  for (const DeviceModel &card : cards())
    if (plainName(target) == plainName(card.name))
      return &card;
  return nullptr;
}

const DeviceModel *deviceModelFor(int version) {
  const DeviceModel *best = nullptr;
  for (const DeviceModel &model : deviceModels())
    if (model.version <= version)
      best = &model;
  return best;
}

std::optional<DeviceModel> describedDevice(const std::string &propertiesJson, std::string &reason) {
  auto properties = nlohmann::json::parse(propertiesJson, nullptr, /*allow_exceptions=*/false);
  try {
    auto capability = properties.at("compute_capability").get<std::string>();
    auto name = properties.at("name").get<std::string>();
    int major = 0, minor = 0;
    if (std::sscanf(capability.c_str(), "%d.%d", &major, &minor) != 2) {
      reason = "its compute capability '" + capability + "' is none";
      return std::nullopt;
    }
    const DeviceModel *base = deviceModelFor(10 * major + minor);
    if (!base) {
      reason = "(" + name + ") has compute capability " + capability +
               ", and code is generated from " + deviceModels().front().target + " on";
      return std::nullopt;
    }
    DeviceModel model = *base;
    const nlohmann::json &attributes = properties.at("attributes");
    auto take = [&](auto &field, const char *attribute) { attributes.at(attribute).get_to(field); };
    // Not all drivers tell how fast a GPU is: then it is taken for its architecture's common card.
    auto takeTold = [&](auto &field, const char *attribute) {
      if (auto told = attributes.at(attribute).get<int64_t>(); told > 0)
        field = static_cast<std::decay_t<decltype(field)>>(told);
    };
    model.name = name;
    model.tf32FlopsPerClock = tf32FlopsPerClockOf(model.version, name);
    take(model.multiprocessors, "multiprocessor_count");
    model.servedMultiprocessors = model.multiprocessors;
    take(model.sharedBytesPerBlock, "max_shared_memory_per_block_optin");
    take(model.sharedBytesPerMultiprocessor, "max_shared_memory_per_multiprocessor");
    take(model.reservedSharedBytes, "reserved_shared_memory_per_block");
    take(model.threadsPerMultiprocessor, "max_threads_per_multiprocessor");
    take(model.blocksPerMultiprocessor, "max_blocks_per_multiprocessor");
    takeTold(model.clockKHz, "clock_rate_khz");
    takeTold(model.memoryClockKHz, "memory_clock_rate_khz");
    takeTold(model.memoryBusBits, "global_memory_bus_width");
    takeTold(model.cacheBytes, "l2_cache_size");
    properties.at("total_memory_bytes").get_to(model.memoryBytes);
    return model;
  } catch (const nlohmann::json::exception &error) {
    reason = std::string("does not tell what it is: ") + error.what();
    return std::nullopt;
  }
}

double DeviceModel::flopsPerSecond() const {
  return 2e3 * double(multiprocessors) * coresPerMultiprocessor * double(clockKHz);
}

// Memory transfers twice in a clock.
double DeviceModel::bytesPerSecond() const {
  return 2e3 * double(memoryClockKHz) * (memoryBusBits / 8.0);
}

double DeviceModel::tf32Speedup() const {
  return std::max(1.0, tf32FlopsPerClock / (2.0 * coresPerMultiprocessor));
}

std::string DeviceModel::cudnnJson(int multiprocessorCount, int driverVersion) const {
  nlohmann::json json;
  json["maxGridSize"] = {2147483647, 65535, 65535};
  json["maxBlockSize"] = {1024, 1024, 64};
  json["regsPerBlock"] = registersPerMultiprocessor;
  json["multiProcessorCount"] = multiprocessorCount;
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
  json["memoryBusWidth"] = memoryBusBits; // asked for by cuDNN 9.27, ignored by 9.19
  json["l2CacheSize"] = cacheBytes;
  json["cudaDeviceId"] = 0;
  json["deviceVer"] = version * 10;
  json["driverVer"] = driverVersion;
  json["deviceName"] = name;
  return json.dump();
}

} // namespace gc::cuda
