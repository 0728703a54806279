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

/// One of these words; another one gets an error that names the nearest.
CLI::Validator choice(std::vector<std::string> words);

/// Numbers from 0 on; CLI11 alone would wrap -1 around to the largest number.
CLI::Validator countValidator();

/// Adds --completion and --man, which are printed as --version is. parseCommandLine() does that.
void addPrintedTexts(CLI::App &app);

/// --help, --version, and --completion and --man, which this adds, are printed and bad usage is
/// reported as all tools do, with the nearest flag or file where a name is unknown; a flag with an
/// empty value or given twice is bad usage. False: the tool ends with `exitCode`.
bool parseCommandLine(CLI::App &app, int argc, char **argv, int &exitCode);

/// The flag of the tool, or of its chosen command, that is nearest to the first unknown one; empty
/// where none is near.
std::string nearestFlag(const CLI::App &app);

/// The first flag or argument that was given and is none of `allowed`; empty where there is none.
std::string firstGivenOutside(const CLI::App &app, const std::vector<std::string> &allowed);

/// `TOOL: reason` on standard error; the exit code.
int failWith(const std::string &tool, const gc::runtime::Error &error);

#endif // GC_TOOLS_FLAGS_COMMANDLINE_H
