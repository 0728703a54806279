// A plan whose gradients can be looked at, without changing what it does.
#ifndef GC_RUNTIME_PLAN_GRADIENTCOPIES_H
#define GC_RUNTIME_PLAN_GRADIENTCOPIES_H

#include "runtime/plan/PlanFile.h"

namespace gc::runtime {

/// The same commands at the same offsets, and before each update of a parameter a copy of the
/// gradient that it is about to read, which `gradient_buffer` then names. The copies lie behind the
/// old end of the arena, so that nothing else moves and no budget has to be found for them;
/// `memory` counts them as gradients. A plan that keeps gradients itself gets copies all the same.
/// Fails (run failed) where no command is said to update a parameter (Command.update).
Result<PlanFile> withGradientCopies(const PlanFile &file);

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_GRADIENTCOPIES_H
