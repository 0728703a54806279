//===- DiagnosticLog.cpp - diagnostics as text ----------------------------===//
#include "compiler/DiagnosticLog.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc {

LogicalResult DiagnosticLog::record(Diagnostic &diagnostic) {
  append(diagnostic, diagnostic.getSeverity() == DiagnosticSeverity::Error     ? ""
                     : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning: "
                                                                               : "note: ");
  for (Diagnostic &note : diagnostic.getNotes())
    append(note, "note: ");
  return success();
}

void DiagnosticLog::append(Diagnostic &diagnostic, StringRef prefix) {
  llvm::raw_string_ostream out(lines);
  if (!lines.empty())
    out << '\n';
  diagnostic.getLocation()->walk([&](Location location) {
    auto file = dyn_cast<FileLineColLoc>(location);
    if (!file)
      return WalkResult::advance();
    out << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn()
        << ": ";
    return WalkResult::interrupt();
  });
  out << prefix << diagnostic.str();
}

} // namespace gc
