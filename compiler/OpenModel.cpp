//===- OpenModel.cpp - a model's text as a module -------------------------===//
#include "compiler/OpenModel.h"
#include "compiler/DiagnosticLog.h"
#include "compiler/ModelText.h"
#include "dialects/Gc.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace gc {

static DialectRegistry ourDialects() {
  DialectRegistry registry;
  registerGcDialects(registry);
  return registry;
}

OpenModel::OpenModel(const std::string &text, const std::string &name)
    : own(ourDialects(), MLIRContext::Threading::DISABLED), reason(refuseModelText(text, name)) {
  if (!reason.empty())
    return;
  own.printOpOnDiagnostic(false);
  own.loadAllAvailableDialects();
  DiagnosticLog log(own);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  parsed = parseSourceFile<ModuleOp>(sources, &own);
  if (!parsed)
    reason = log.text();
}

} // namespace gc
