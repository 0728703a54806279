// What the environment asks of the emulated driver; README.md of test/emulator lists the variables.
#ifndef GC_TEST_EMULATOR_DRIVER_SETTINGS_H
#define GC_TEST_EMULATOR_DRIVER_SETTINGS_H

#include "test/emulator/driver/Calls.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc::emulator {

// Which of several streams' operations runs first where nothing orders them.
enum class Order { First, Last, Random };

struct Settings {
  int devices = 1;
  std::string name = "gc emulated GPU"; // of all devices
  int major = 12;
  int minor = 9;
  int driver = 13000; // the newest CUDA that it serves
  uint64_t memory = uint64_t(2) << 30;
  uint64_t memoryOfOthers = 0; // of the first device
  uint64_t watchdog = 0;       // instructions of warps that a launch may have; 0: plenty
  unsigned pciDomain = 0;
  bool isPartition = false; // the first device is a part of a partitioned GPU (MIG)
  bool loadsLazily = true;  // a kernel's code takes memory when it first runs
  Order order = Order::Last;
  uint64_t seed = 0;
  std::vector<Injection> injections;
  std::string callsFile, leaksFile, statisticsFile;
};

// Reads the environment once. The text is empty, or says which variable is wrong and why; the
// driver then refuses to initialise, so that a misspelt test cannot pass.
std::string readSettings(Settings &settings);

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_SETTINGS_H
