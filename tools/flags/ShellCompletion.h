// What completes a tool's flags, values, networks and files in a shell.
#ifndef GC_TOOLS_FLAGS_SHELLCOMPLETION_H
#define GC_TOOLS_FLAGS_SHELLCOMPLETION_H

#include "tools/flags/OptionTable.h"

/// A script for bash, zsh or fish; empty for any other shell.
std::string completionScript(const CommandTable &table, const std::string &shell);

#endif // GC_TOOLS_FLAGS_SHELLCOMPLETION_H
