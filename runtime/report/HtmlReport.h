// A page of a run to look at: the numbers, the memory of its step, what was measured over time.
#ifndef GC_RUNTIME_REPORT_HTMLREPORT_H
#define GC_RUNTIME_REPORT_HTMLREPORT_H

#include "runtime/Error.h"
#include "runtime/report/TrainingReport.h"

#include <string>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

/// Fails (bad input) where the plan's own report cannot be read.
Result<std::string> htmlReport(const TrainingReport &report, const plan::Plan &plan);
/// Atomic.
Status writeHtmlReport(const std::string &path, const TrainingReport &report,
                       const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_HTMLREPORT_H
