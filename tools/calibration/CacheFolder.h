// Where tools keep what they have measured: $XDG_CACHE_HOME/gc, else $HOME/.cache/gc.
#ifndef GC_TOOLS_CALIBRATION_CACHEFOLDER_H
#define GC_TOOLS_CALIBRATION_CACHEFOLDER_H

#include "runtime/Error.h"

#include <string>

/// The folder, made where it is missing. Fails (run failed) where the environment names none, or it
/// cannot be made.
gc::runtime::Result<std::string> cacheFolder();

/// GC_NO_CALIBRATE, set to anything but 0: nothing is measured, kept or read, as with
/// --no-calibrate.
bool isCalibrationOff();

#endif // GC_TOOLS_CALIBRATION_CACHEFOLDER_H
