// The files that the environment asks for, written when the library goes: at the end of the
// program, or with the last dlclose.
#include "test/emulator/driver/Driver.h"

#include <fstream>

namespace gc::emulator {
namespace {

std::ofstream open(const std::string &path) {
  std::ofstream file(path);
  if (!file)
    report("cannot write '" + path + "'");
  return file;
}

void writeCalls(const Driver &driver) {
  std::ofstream file = open(driver.settings.callsFile);
  for (size_t call = 0; call < callCount; ++call)
    file << callNames[call] << ' ' << driver.counts[call] << '\n';
}

void writeLeaks(const Driver &driver) {
  std::ofstream file = open(driver.settings.leaksFile);
  for (const std::string &line : driver.abandoned)
    file << line << '\n';
  for (const std::string &line : driver.leaksOf(nullptr))
    file << line << '\n';
  for (const auto &device : driver.devices)
    if (device->retained)
      file << "primary context of device " << device->ordinal << ": retained " << device->retained
           << " times more than released\n";
}

void writeStatistics(const Driver &driver) {
  std::ofstream file = open(driver.settings.statisticsFile);
  for (const auto &[kernel, entry] : driver.statistics) {
    const ptx::Statistics &sums = entry.sums;
    // Names of PTX need no escapes.
    file << "{\"kernel\": \"" << kernel << "\", \"launches\": " << entry.launches
         << ", \"instructions\": " << sums.instructions
         << ", \"warp_instructions\": " << sums.warpInstructions
         << ", \"shared_accesses\": " << sums.sharedAccesses
         << ", \"bank_conflicts\": " << sums.sharedBankConflicts
         << ", \"global_accesses\": " << sums.globalAccesses
         << ", \"transactions\": " << sums.globalTransactions
         << ", \"global_bytes\": " << sums.globalBytes << ", \"barriers\": " << sums.barriers
         << ", \"divergent_branches\": " << sums.divergentBranches << "}\n";
  }
}

__attribute__((destructor)) void writeReports() {
  Driver &driver = Driver::get();
  if (!driver.settings.callsFile.empty())
    writeCalls(driver);
  if (!driver.settings.leaksFile.empty())
    writeLeaks(driver);
  if (!driver.settings.statisticsFile.empty())
    writeStatistics(driver);
}

} // namespace
} // namespace gc::emulator
