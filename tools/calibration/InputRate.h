// How fast input reaches the memory from which a step reads it.
#ifndef GC_TOOLS_CALIBRATION_INPUTRATE_H
#define GC_TOOLS_CALIBRATION_INPUTRATE_H

#include "runtime/Error.h"

/// Bytes that the loader's threads write in a second where nothing runs beside them: images of
/// bytes become normalized numbers. Takes some milliseconds.
gc::runtime::Result<double> measureInputRate();

#endif // GC_TOOLS_CALIBRATION_INPUTRATE_H
