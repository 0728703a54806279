// What each kernel of a plan was generated for, told from the commands that use it.
#ifndef GC_RUNTIME_PLAN_KERNELLIMITS_H
#define GC_RUNTIME_PLAN_KERNELLIMITS_H

#include "runtime/plan/Plan_generated.h"

namespace gc::runtime {

/// Sets Kernels.limits, one entry a symbol, so that exactly the plan's own dispatches and launches
/// keep them: the most items of any, and for each operand the smallest buffer. Kernels are
/// generated for the shapes of their buffers, so that all uses of one agree. For who writes a plan.
void setKernelLimits(gc::plan::PlanT &plan);

/// Blocks of a launch, which count as its items.
uint64_t blocksOf(const gc::plan::Extent &grid);

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_KERNELLIMITS_H
