// The command line of gc-diff.
#ifndef GC_TOOLS_GC_DIFF_ARGUMENTS_H
#define GC_TOOLS_GC_DIFF_ARGUMENTS_H

#include <string>

struct Arguments {
  std::string a, b;         // plans
  std::string report, html; // empty: not asked for
  bool all = false;
};

/// False: the tool ends with `exitCode`.
bool parseArguments(int argc, char **argv, Arguments &arguments, int &exitCode);

#endif // GC_TOOLS_GC_DIFF_ARGUMENTS_H
