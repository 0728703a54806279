// What the command lines of the tools have in common.
#ifndef GC_TOOLS_FLAGS_COMMANDLINE_H
#define GC_TOOLS_FLAGS_COMMANDLINE_H

#include "runtime/Error.h"

#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
} // namespace CLI

/// Numbers from 0 on; CLI11 alone would wrap -1 around to the largest number.
CLI::Validator countValidator();

/// --help and --version are printed and bad usage is reported as all tools do; a flag with an empty
/// value or given twice is bad usage. False: the tool ends with `exitCode`.
bool parseCommandLine(CLI::App &app, int argc, char **argv, int &exitCode);

/// The first flag or argument that was given and is none of `allowed`; empty where there is none.
std::string firstGivenOutside(const CLI::App &app, const std::vector<std::string> &allowed);

/// `TOOL: reason` on standard error; the exit code.
int failWith(const std::string &tool, const gc::runtime::Error &error);

#endif // GC_TOOLS_FLAGS_COMMANDLINE_H
