#ifndef GC_TOOLS_GC_IMPORT_ARGUMENTS_H
#define GC_TOOLS_GC_IMPORT_ARGUMENTS_H

#include <string>

namespace gc::importer {

struct Arguments {
  std::string archive, output, weights, trained, loss;
  long classes = 0, batch = 0; // 0: as the archive has them
  bool list = false, locations = true;
};

/// False: the tool ends with `exitCode` (0 for what was answered, 2 for bad usage, told already).
bool parseArguments(int argc, char **argv, Arguments &arguments, int &exitCode);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_ARGUMENTS_H
