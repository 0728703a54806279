// --selftest: the conformance suite on a device.
#ifndef GC_TOOLS_GCRUN_SELFTEST_H
#define GC_TOOLS_GCRUN_SELFTEST_H

#include <string>

/// Prints each case and a verdict; the exit code: 0 all passed, 1 some failed, 4 no such device.
int selfTest(const std::string &device, int threads);

#endif // GC_TOOLS_GCRUN_SELFTEST_H
