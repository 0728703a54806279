// A page to look at: the plan's memory over its commands, the loss, the numbers. One file, no
// scripts from elsewhere.
#ifndef GC_RUNTIME_REPORT_HTMLREPORT_H
#define GC_RUNTIME_REPORT_HTMLREPORT_H

#include "runtime/Error.h"
#include "runtime/report/TrainingReport.h"

#include <string>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

std::string htmlReport(const TrainingReport &report, const plan::Plan &plan);
/// Atomic.
Result<void> writeHtmlReport(const std::string &path, const TrainingReport &report,
                             const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_HTMLREPORT_H
