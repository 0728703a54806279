#include "test/emulator/driver/Settings.h"

#include <cstdlib>
#include <string_view>

namespace gc::emulator {
namespace {

bool parseBytes(std::string_view text, uint64_t &bytes) {
  unsigned shift = 0;
  for (auto [suffix, power] : {std::pair("KiB", 10u), {"MiB", 20u}, {"GiB", 30u}})
    if (text.ends_with(suffix)) {
      text.remove_suffix(3);
      shift = power;
    }
  if (!parseNumber(text, bytes) || bytes == 0 || bytes > (UINT64_MAX >> (shift + 1)))
    return false;
  bytes <<= shift;
  return true;
}

bool parseDevices(std::string_view text, Settings &settings) {
  uint64_t number = 0;
  if (!parseNumber(text, number) || number > 16)
    return false;
  settings.devices = int(number);
  return true;
}

bool parseVersion(std::string_view text, uint64_t &major, uint64_t &minor) {
  size_t dot = text.find('.');
  return dot != std::string_view::npos && parseNumber(text.substr(0, dot), major) &&
         parseNumber(text.substr(dot + 1), minor);
}

bool parseCapability(std::string_view text, Settings &settings) {
  uint64_t major = 0, minor = 0;
  if (!parseVersion(text, major, minor) || major < 5 || major > 99 || minor > 9)
    return false;
  settings.major = int(major);
  settings.minor = int(minor);
  return true;
}

// A version of CUDA, "12.2", as the driver tells it.
bool parseDriver(std::string_view text, Settings &settings) {
  uint64_t major = 0, minor = 0;
  if (!parseVersion(text, major, minor) || major < 11 || major > 99 || minor > 99)
    return false;
  settings.driver = int(1000 * major + 10 * minor);
  return true;
}

// NAME:BYTES,...; the names are for NVML.
bool parseOthers(std::string_view text, Settings &settings) {
  while (!text.empty()) {
    size_t comma = text.find(','), colon = text.find(':');
    uint64_t bytes = 0;
    if (colon == 0 || colon >= comma || colon == std::string_view::npos ||
        !parseBytes(text.substr(0, comma).substr(colon + 1), bytes))
      return false;
    settings.memoryOfOthers += bytes;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return true;
}

bool parseDomain(std::string_view text, Settings &settings) {
  uint64_t number = 0;
  if (!parseNumber(text, number) || number > 0xffff)
    return false;
  settings.pciDomain = unsigned(number);
  return true;
}

bool parseOrder(std::string_view text, Settings &settings) {
  if (text == "first" || text == "last") {
    settings.order = text == "first" ? Order::First : Order::Last;
    return true;
  }
  settings.order = Order::Random;
  return text.starts_with("random:") && parseNumber(text.substr(7), settings.seed);
}

bool parseInjections(std::string_view text, Settings &settings) {
  while (!text.empty()) {
    size_t comma = text.find(',');
    Injection injection;
    if (!parseInjection(text.substr(0, comma), injection))
      return false;
    settings.injections.push_back(injection);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return true;
}

struct Variable {
  const char *name;
  bool (*parse)(std::string_view, Settings &);
  const char *expected;
};

constexpr Variable variables[] = {
    {"GC_EMULATOR_DEVICES", parseDevices, "a number of devices, 0 to 16"},
    {"GC_EMULATOR_NAME",
     [](std::string_view text, Settings &s) { return !(s.name = text).empty(); }, "a name"},
    {"GC_EMULATOR_SM", parseCapability, "a compute capability such as 8.6"},
    {"GC_EMULATOR_DRIVER", parseDriver, "the driver's version of CUDA, such as 12.2"},
    {"GC_EMULATOR_MEMORY",
     [](std::string_view text, Settings &s) { return parseBytes(text, s.memory); },
     "bytes, or a number with KiB, MiB or GiB"},
    {"GC_EMULATOR_OTHERS", parseOthers, "NAME:BYTES of other processes, separated by commas"},
    {"GC_EMULATOR_WATCHDOG",
     [](std::string_view text, Settings &s) {
       return parseNumber(text, s.watchdog) && s.watchdog > 0;
     },
     "a number of warp instructions"},
    {"GC_EMULATOR_PCI_DOMAIN", parseDomain, "a number up to 65535"},
    {"GC_EMULATOR_MIG",
     [](std::string_view text, Settings &s) { return s.isPartition = text == "1"; }, "1"},
    {"CUDA_MODULE_LOADING",
     [](std::string_view text, Settings &s) {
       s.loadsLazily = text != "EAGER";
       return true; // as a driver does: what it does not know is the default
     },
     "EAGER or LAZY"},
    {"GC_EMULATOR_ORDER", parseOrder, "first, last or random:SEED"},
    {"GC_EMULATOR_FAIL", parseInjections,
     "CALL:N=RESULT (or hang, or crash; of cuLaunchKernel also wrong), several separated by "
     "commas"},
    {"GC_EMULATOR_CALLS",
     [](std::string_view text, Settings &s) { return !(s.callsFile = text).empty(); }, "a file"},
    {"GC_EMULATOR_LEAKS",
     [](std::string_view text, Settings &s) { return !(s.leaksFile = text).empty(); }, "a file"},
    {"GC_EMULATOR_STATISTICS",
     [](std::string_view text, Settings &s) { return !(s.statisticsFile = text).empty(); },
     "a file"},
};

} // namespace

std::string readSettings(Settings &settings) {
  for (const Variable &variable : variables)
    if (const char *text = std::getenv(variable.name); text && !variable.parse(text, settings))
      return std::string(variable.name) + "='" + text + "': expected " + variable.expected;
  return {};
}

} // namespace gc::emulator
