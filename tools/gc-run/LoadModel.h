// From what the user names to a plan: a plan file as it is, IR through the compiler.
#ifndef GC_TOOLS_GC_RUN_LOADMODEL_H
#define GC_TOOLS_GC_RUN_LOADMODEL_H

#include "runtime/plan/PlanFile.h"
#include "tools/gc-run/Arguments.h"

/// Compiles the text of a model as asked. Fills in what only compiling can tell (seconds, the
/// optimizer's name). Fails with the compiler's own exit code.
gc::runtime::Result<gc::runtime::PlanFile> compilePlan(const std::string &text,
                                                       Arguments &arguments);

/// The same for whatever file is named; a finished plan is taken as it is. Fails as bad input where
/// one is given together with compiler flags.
gc::runtime::Result<gc::runtime::PlanFile> loadModel(Arguments &arguments);

#endif // GC_TOOLS_GC_RUN_LOADMODEL_H
