// What the command lines of the tools have in common.
#ifndef GC_TOOLS_FLAGS_COMMANDLINE_H
#define GC_TOOLS_FLAGS_COMMANDLINE_H

#include "runtime/Error.h"

#include <string>

namespace CLI {
class App;
class Validator;
} // namespace CLI

/// Numbers from 0 on; CLI11 alone would wrap -1 around to the largest number.
CLI::Validator countValidator();

/// --help and --version are printed and bad usage is reported as all tools do. False: the tool ends
/// with `exitCode`.
bool parseCommandLine(CLI::App &app, int argc, char **argv, int &exitCode);

/// `TOOL: reason` on standard error; the exit code.
int failWith(const std::string &tool, const gc::runtime::Error &error);

#endif // GC_TOOLS_FLAGS_COMMANDLINE_H
