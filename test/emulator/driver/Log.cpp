#include "test/emulator/driver/Log.h"

#include <cstdio>
#include <cstdlib>

namespace gc::emulator {

void report(const std::string &message) {
  std::string line = "emulated driver: " + message + "\n";
  const char *path = std::getenv("GC_EMULATOR_LOG");
  std::FILE *file = path && *path ? std::fopen(path, "a") : nullptr;
  std::fputs(line.c_str(), file ? file : stderr);
  if (file)
    std::fclose(file);
}

std::string hexadecimal(unsigned long long address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", address);
  return text;
}

} // namespace gc::emulator
