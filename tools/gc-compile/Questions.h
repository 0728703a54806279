// What is asked in place of a plan: --max-batch and --what-if.
#ifndef GC_TOOLS_GC_COMPILE_QUESTIONS_H
#define GC_TOOLS_GC_COMPILE_QUESTIONS_H

#include "tools/gc-compile/Arguments.h"

/// Prints the answer and writes the files that were asked for. `text` is the model's.
gc::runtime::Status answerMaxBatch(const Arguments &arguments, const std::string &text);
gc::runtime::Status answerWhatIf(const Arguments &arguments, const std::string &text);

#endif // GC_TOOLS_GC_COMPILE_QUESTIONS_H
