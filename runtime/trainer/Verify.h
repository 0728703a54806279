// The same steps with two plans of one model, compared to the bit.
//
// One run ends before the other begins, so that their arenas never exist together; what the first
// computed is kept as copies. Gradients are copied just before each update reads them
// (runtime/plan/GradientCopies.h): the plan under test runs exactly as it would train.
#ifndef GC_RUNTIME_TRAINER_VERIFY_H
#define GC_RUNTIME_TRAINER_VERIFY_H

#include "runtime/trainer/StateRecord.h"
#include "runtime/trainer/TrainPlan.h"

namespace gc::runtime {

/// Changes variables after they were initialized and loaded.
using ChangeVariables = std::function<Status(const plan::Plan &, BufferAccess &)>;

/// Trains with `plan` as `options` say (data, schedule, device, weights to load) and keeps the loss
/// of every micro-batch, every gradient and every variable after each step, of which `options` must
/// give the number. Fails (bad input) where that is more than the machine has memory for.
Result<StateRecord> recordSteps(const PlanFile &plan, const TrainOptions &options,
                                const ChangeVariables &change = nullptr);

/// Trains the same way and compares after each step; the first difference ends the run. What was
/// found is in `report.verify`, beside all that a report holds of a run.
Status compareSteps(const PlanFile &plan, const TrainOptions &options, const StateRecord &reference,
                    TrainingReport &report);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_VERIFY_H
