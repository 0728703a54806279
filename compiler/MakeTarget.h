//===- MakeTarget.h - the target of a compilation ---------------*- C++ -*-===//
#ifndef GC_COMPILER_MAKETARGET_H
#define GC_COMPILER_MAKETARGET_H

#include "compiler/Compile.h"
#include "compiler/target/Target.h"

namespace gc {

struct MadeTarget {
  std::shared_ptr<Target> target; // null: it cannot be made, and `error` says why
  int exitCode = 0;
  std::string error;
  std::string ratesFrom = ""; // whose rates predict its times, for reports
};
MadeTarget makeTarget(mlir::MLIRContext *context, const CompileOptions &options);

} // namespace gc

#endif // GC_COMPILER_MAKETARGET_H
