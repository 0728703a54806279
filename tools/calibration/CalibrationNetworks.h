// What is run to measure a machine: small networks that together have every kind of op, in the
// cache and out of it.
#ifndef GC_TOOLS_CALIBRATION_CALIBRATIONNETWORKS_H
#define GC_TOOLS_CALIBRATION_CALIBRATIONNETWORKS_H

#include <string>
#include <vector>

/// As gc IR; those that tell most come first.
std::vector<std::string> calibrationNetworks();

#endif // GC_TOOLS_CALIBRATION_CALIBRATIONNETWORKS_H
