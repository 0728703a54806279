// A plan that only copies: the loss is the first value of the micro-batch, the
// "optimizer" copies it into the weight.
#ifndef GC_TEST_RUNTIME_IO_COPYINGPLAN_H
#define GC_TEST_RUNTIME_IO_COPYINGPLAN_H

#include "runtime/plan/PlanFile.h"

/// Batch 2; image (2, 1, 1, 1), label (2), one weight with a kept gradient.
gc::runtime::Result<gc::runtime::PlanFile> copyingPlan(const char *device = "cpu");

#endif // GC_TEST_RUNTIME_IO_COPYINGPLAN_H
