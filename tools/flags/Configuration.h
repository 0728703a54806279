// Flags in a file: --config=FILE.toml has the same names as the command line, and every run leaves
// such a file of its own.
#ifndef GC_TOOLS_FLAGS_CONFIGURATION_H
#define GC_TOOLS_FLAGS_CONFIGURATION_H

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

/// Adds --config. What is given on the command line wins over the file, also where the two exclude
/// each other; a key that is no flag is bad usage that names the nearest one.
void addConfigFlag(CLI::App &app);

/// The names of flags that a file may have, without hyphens before them.
std::vector<std::string> configurableNames(const CLI::App &app);

/// What a run was started with, after parsing: all flags that were given, here or in a file, and
/// the defaults of the others.
struct EffectiveConfiguration {
  std::string json; // an object; null where a flag was not given and its default is no single value
  std::string toml; // for --config: what was given; defaults are comments
};
EffectiveConfiguration effectiveConfiguration(const CLI::App &app, const std::string &commandLine);

/// The command line as a shell takes it.
std::string commandLineText(int argc, char **argv);

#endif // GC_TOOLS_FLAGS_CONFIGURATION_H
