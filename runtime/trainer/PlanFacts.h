// What a plan says about itself, for the report.
#ifndef GC_RUNTIME_TRAINER_PLANFACTS_H
#define GC_RUNTIME_TRAINER_PLANFACTS_H

#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/StepExecutor.h"

namespace gc::runtime {

/// Model, batch, predicted memory, recomputation.
void fillPlanFacts(TrainingReport &report, const plan::Plan &plan);
/// What was measured.
void fillMemoryUse(TrainingReport &report, const MemoryUse &use);
bool keepsGradients(const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PLANFACTS_H
