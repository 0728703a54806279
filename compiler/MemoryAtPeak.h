//===- MemoryAtPeak.h - what the peak is made of ----------------*- C++ -*-===//
#ifndef GC_COMPILER_MEMORYATPEAK_H
#define GC_COMPILER_MEMORYATPEAK_H

#include "runtime/plan/Plan_generated.h"

namespace gc {
/// Bytes by kind at the command where most is alive. What the arena has beyond them is
/// fragmentation.
plan::MemoryT memoryAtPeak(const plan::PlanT &plan, uint64_t lowerBound);
} // namespace gc

#endif
