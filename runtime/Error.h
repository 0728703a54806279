// Errors of the runtime: `Error` (a message and its exit code) and `Result<T>` (a value or an
// error). They are defined beside the plan, which is the lowest part of the runtime; this is the
// name that everything else includes.
#ifndef GC_RUNTIME_ERROR_H
#define GC_RUNTIME_ERROR_H

#include "runtime/plan/Result.h"

#endif // GC_RUNTIME_ERROR_H
