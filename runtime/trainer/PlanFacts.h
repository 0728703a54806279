// What a plan says about itself, for the report.
#ifndef GC_RUNTIME_TRAINER_PLANFACTS_H
#define GC_RUNTIME_TRAINER_PLANFACTS_H

#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/StepExecutor.h"

namespace gc::runtime {

/// "adamw lr 0.001 weight decay 0.01": what updates the parameters; empty where the plan does not
/// tell. With `lr` in place of the learning rate that the plan was compiled with.
std::string optimizerText(const plan::Plan &plan, std::optional<double> lr = {});
/// Model, optimizer, batch, predicted memory, recomputation.
void fillPlanFacts(TrainingReport &report, const plan::Plan &plan);
/// What was measured.
void fillMemoryUse(TrainingReport &report, const MemoryMeasurement &use);
bool keepsGradients(const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PLANFACTS_H
