// --verify: proof that recomputation changes no bit.
#ifndef GC_TOOLS_GC_RUN_VERIFYMODEL_H
#define GC_TOOLS_GC_RUN_VERIFYMODEL_H

#include "runtime/Error.h"
#include "tools/gc-run/Arguments.h"

/// Compiles the model as asked and once more without recomputation and budget, in as many
/// micro-batches; runs the same steps with both and compares. Prints a verdict and writes the
/// report. Fails (run failed) where anything differs, as bad input where given a plan.
gc::runtime::Status verifyModel(Arguments &arguments);

#endif // GC_TOOLS_GC_RUN_VERIFYMODEL_H
