// A plan as plain data, for runtime/report/PlanDiff.h.
#ifndef GC_RUNTIME_TRAINER_DESCRIBEPLAN_H
#define GC_RUNTIME_TRAINER_DESCRIBEPLAN_H

#include "runtime/plan/PlanFile.h"
#include "runtime/report/PlanDiff.h"

namespace gc::runtime {

/// Fails (bad input) where the compile report in the plan is not what compilers write; `path` is
/// for messages and pages.
Result<DescribedPlan> describePlan(const PlanFile &file, const std::string &path);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_DESCRIBEPLAN_H
