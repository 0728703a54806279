// The options of a tool as data: what completion and manual pages are made of, so that they say
// what
// --help says.
#ifndef GC_TOOLS_FLAGS_OPTIONTABLE_H
#define GC_TOOLS_FLAGS_OPTIONTABLE_H

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

struct OptionRow {
  std::vector<std::string> names;   // `--output`, `-o`; the long ones first
  std::string group, text, usual;   // usual: the default, empty where there is none
  std::string valueName;            // empty for a flag
  std::vector<std::string> choices; // of the value, where they are few
};

struct CommandTable {
  std::string name, summary, footer;
  std::vector<std::string> positionals;
  std::vector<OptionRow> options;
  std::vector<CommandTable> commands; // of gc-gen: networks
};

CommandTable tableOf(const CLI::App &app);

#endif // GC_TOOLS_FLAGS_OPTIONTABLE_H
