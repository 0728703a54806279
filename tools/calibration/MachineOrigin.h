// Which machine a report comes from.
#ifndef GC_TOOLS_CALIBRATION_MACHINEORIGIN_H
#define GC_TOOLS_CALIBRATION_MACHINEORIGIN_H

#include "runtime/report/TrainingReport.h"

/// Fills in host and cpu.
void describeMachine(gc::runtime::OriginReport &origin);

#endif // GC_TOOLS_CALIBRATION_MACHINEORIGIN_H
