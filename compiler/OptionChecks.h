//===- OptionChecks.h - options that contradict themselves ------*- C++ -*-===//
#ifndef GC_COMPILER_OPTIONCHECKS_H
#define GC_COMPILER_OPTIONCHECKS_H

#include "compiler/Compile.h"

namespace gc {

struct MemoryWishes; // passes/ChooseStep.h

/// The options with what they leave open filled in: the number of threads.
CompileOptions completed(const CompileOptions &options);

/// Why these options cannot be followed, whatever the model; empty where they can.
std::string checkOptions(const CompileOptions &options);

/// What options that passed checkOptions() say of memory.
MemoryWishes wishesOf(const CompileOptions &options);

} // namespace gc

#endif
