// --selftest: the conformance suite on a device.
#ifndef GC_TOOLS_GC_RUN_SELFTEST_H
#define GC_TOOLS_GC_RUN_SELFTEST_H

#include "tools/gc-run/Arguments.h"

/// Prints each case and a verdict; the exit code: 0 all passed, 1 some failed, 4 no such device. On
/// cuda there is more to test: see tools/selftest.
int selfTest(const Arguments &arguments);

#endif // GC_TOOLS_GC_RUN_SELFTEST_H
