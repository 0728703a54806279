// What a run measured, as charts: loss, accuracy, learning rate and throughput over its steps,
// memory and utilization over its seconds.
#ifndef GC_RUNTIME_REPORT_RUNCHARTS_H
#define GC_RUNTIME_REPORT_RUNCHARTS_H

#include "runtime/report/Charts.h"
#include "runtime/report/TrainingReport.h"

#include <vector>

namespace gc::runtime {

/// Charts of what the run has: what was not measured has none.
std::vector<Chart> runCharts(const TrainingReport &report);
/// Of the device, as NVML saw it.
std::vector<Chart> nvmlCharts(const MonitorSummary &monitor);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_RUNCHARTS_H
