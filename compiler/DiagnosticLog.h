//===- DiagnosticLog.h - diagnostics as text --------------------*- C++ -*-===//
#ifndef GC_COMPILER_DIAGNOSTICLOG_H
#define GC_COMPILER_DIAGNOSTICLOG_H

#include "mlir/IR/Diagnostics.h"
#include <string>

namespace gc {

/// Collects the diagnostics of a context while it lives, the first one first, each as
/// "file:line:column: message" on a line of its own.
class DiagnosticLog {
public:
  explicit DiagnosticLog(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) { return record(diagnostic); }) {}
  const std::string &text() const { return lines; }

private:
  llvm::LogicalResult record(mlir::Diagnostic &diagnostic);
  void append(mlir::Diagnostic &diagnostic, llvm::StringRef prefix);

  std::string lines;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace gc

#endif
