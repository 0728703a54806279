// --reference: one step against what PyTorch computed in float64.
#ifndef GC_TOOLS_GC_RUN_COMPAREREFERENCE_H
#define GC_TOOLS_GC_RUN_COMPAREREFERENCE_H

#include "runtime/Error.h"
#include "tools/gc-run/Arguments.h"

/// Compiles the model without its dropouts, whose bits PyTorch draws otherwise, runs a step on the
/// batch of the file and prints how far each kind of tensor is off. Fails (run failed) where
/// anything is off by more than rounding explains, as bad input where given a plan.
gc::runtime::Status compareReference(Arguments &arguments);

#endif // GC_TOOLS_GC_RUN_COMPAREREFERENCE_H
