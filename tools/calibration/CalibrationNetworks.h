// What --calibrate runs: small networks that together have every kind of op, in the cache and out
// of it.
#ifndef GC_TOOLS_GC_RUN_CALIBRATIONNETWORKS_H
#define GC_TOOLS_GC_RUN_CALIBRATIONNETWORKS_H

#include <string>
#include <vector>

/// As gc IR.
std::vector<std::string> calibrationNetworks();

#endif // GC_TOOLS_GC_RUN_CALIBRATIONNETWORKS_H
