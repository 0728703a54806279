// Work in a process of its own: neither its threads and libraries nor its end touch this one.
#ifndef GC_TOOLS_CALIBRATION_CHILDPROCESS_H
#define GC_TOOLS_CALIBRATION_CHILDPROCESS_H

#include "runtime/Error.h"

#include <functional>
#include <string>

/// Calls `work` in a child and returns its text. Fails where the child fails, ends in another way
/// or takes longer than `limitSeconds`. This process must not have started threads.
gc::runtime::Result<std::string>
inChildProcess(const std::function<gc::runtime::Result<std::string>()> &work, int limitSeconds);

#endif // GC_TOOLS_CALIBRATION_CHILDPROCESS_H
