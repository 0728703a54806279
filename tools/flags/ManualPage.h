// The manual page of a tool.
#ifndef GC_TOOLS_FLAGS_MANUALPAGE_H
#define GC_TOOLS_FLAGS_MANUALPAGE_H

#include "tools/flags/OptionTable.h"

/// For man and groff (-man).
std::string manualPage(const CommandTable &table, const std::string &version);

#endif // GC_TOOLS_FLAGS_MANUALPAGE_H
