#include "tools/calibration/MachineKey.h"

#include "runtime/hal/cpu/library/Library.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>

std::string MachineKey::text() const {
  return fmt::format("{}, {} thread{}", cpu, threads, threads == 1 ? "" : "s");
}

/// Everything but letters, digits and dots becomes a hyphen, never two in a row and none at the
/// end.
static std::string plain(const std::string &text) {
  std::string name;
  for (char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '.')
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  while (!name.empty() && name.back() == '-')
    name.pop_back();
  return name.substr(0, 100);
}

std::string MachineKey::fileStem() const {
  return fmt::format("{}.{}-threads.{}", plain(cpu), threads, plain(library));
}

std::string cpuName(std::istream &cpuinfo) {
  std::string line, name = "unnamed CPU", family, model;
  // The first processor stands for all.
  while (std::getline(cpuinfo, line) && !line.empty()) {
    size_t colon = line.find(':');
    if (colon == std::string::npos)
      continue;
    std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    size_t first = line.find_first_not_of(" \t", colon + 1);
    std::string value = first == std::string::npos ? "" : line.substr(first);
    if (key == "model name" && !value.empty())
      name = value;
    else if (key == "cpu family")
      family = value;
    else if (key == "model")
      model = value;
  }
  if (family.empty() || model.empty())
    return name;
  return fmt::format("{} (family {}, model {})", name, family, model);
}

MachineKey thisMachine(int threads) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  return {cpuName(cpuinfo), threads, gc::runtime::cpu::libraryVersion()};
}
