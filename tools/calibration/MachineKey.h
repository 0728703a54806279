// What measured rates are of: a CPU, a number of threads, a version of the library.
#ifndef GC_TOOLS_CALIBRATION_MACHINEKEY_H
#define GC_TOOLS_CALIBRATION_MACHINEKEY_H

#include <istream>
#include <string>

struct MachineKey {
  std::string cpu;     // "AMD EPYC (family 25, model 1)"
  int threads = 1;     // that run a step
  std::string library; // "oneDNN 3.0.0"

  bool operator==(const MachineKey &) const = default;
  /// For people: "AMD EPYC (family 25, model 1), 2 threads".
  std::string text() const;
  /// Of letters, digits, dots and hyphens: "AMD-EPYC-family-25-model-1.2-threads.oneDNN-3.0.0".
  std::string fileStem() const;
};

/// Of this process's machine.
MachineKey thisMachine(int threads);

/// The CPU as /proc/cpuinfo describes it. Virtual machines often hide the name, so that family and
/// model are part of it.
std::string cpuName(std::istream &cpuinfo);

#endif // GC_TOOLS_CALIBRATION_MACHINEKEY_H
