// What a launch takes where the kernel does next to nothing.
#ifndef GC_TOOLS_SELFTEST_LAUNCHCHAIN_H
#define GC_TOOLS_SELFTEST_LAUNCHCHAIN_H

#include "runtime/Error.h"

#include <string>

/// Seconds from one launch to the next in a list of so many (at least two) of a kernel with one
/// thread's work, each reading and writing what the one before wrote: the mean, without what
/// starting a list takes, of the fastest of several runs.
gc::runtime::Result<double> launchSeconds(const std::string &device, unsigned launches);

#endif // GC_TOOLS_SELFTEST_LAUNCHCHAIN_H
