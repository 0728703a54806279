// --calibrate: what this machine does in a second, for --costs.
#ifndef GC_TOOLS_GC_RUN_CALIBRATEMACHINE_H
#define GC_TOOLS_GC_RUN_CALIBRATEMACHINE_H

#include "runtime/Error.h"

#include <string>

/// Trains small networks on the cpu device, in turn and several times, fits the roofline to the
/// measured ops, prints it and writes it to `file`. Takes half a minute or so.
gc::runtime::Status calibrateMachine(const std::string &file, int threads);

#endif // GC_TOOLS_GC_RUN_CALIBRATEMACHINE_H
