// What a plan for CUDA is made of, from the compiler's report.
#ifndef GC_TOOLS_GC_COMPILE_CUDAREPORT_H
#define GC_TOOLS_GC_COMPILE_CUDAREPORT_H

#include <string>

/// Lines for the summary: kernels, library, predicted time. Empty for other devices.
std::string cudaSummary(const std::string &compilerReport);

/// A table of all generated kernels: registers, spills, shared memory, occupancy, predicted time.
std::string kernelTable(const std::string &compilerReport);

#endif // GC_TOOLS_GC_COMPILE_CUDAREPORT_H
