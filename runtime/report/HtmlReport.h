// A page of a run to look at: the plan's memory over its commands, the loss, the numbers.
#ifndef GC_RUNTIME_REPORT_HTMLREPORT_H
#define GC_RUNTIME_REPORT_HTMLREPORT_H

#include "runtime/Error.h"
#include "runtime/report/MemoryTimeline.h"
#include "runtime/report/TrainingReport.h"

#include <string>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

/// The timeline of a step, before and after recomputation, where there is one to show.
std::string htmlReport(const TrainingReport &report, const plan::Plan &plan,
                       const std::optional<MemoryTimeline> &timeline);
/// With the timeline of the plan's own report where the plan recomputes anything. Atomic.
Status writeHtmlReport(const std::string &path, const TrainingReport &report,
                       const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_HTMLREPORT_H
