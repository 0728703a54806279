#include "tools/gc-run/WithoutDropout.h"

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

gc::runtime::Result<std::string> withoutDropout(const std::string &text) {
  if (text.find("gc.dropout") == text.npos)
    return text;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<gc::GcDialect, func::FuncDialect>();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return text;
  llvm::SmallVector<gc::DropoutOp> dropouts;
  module->walk([&](gc::DropoutOp op) { dropouts.push_back(op); });
  for (gc::DropoutOp op : dropouts) {
    op.getOutput().replaceAllUsesWith(op.getInput());
    op.erase();
  }
  llvm::SmallVector<gc::ReadOp> unread;
  module->walk([&](gc::ReadOp op) {
    if (op->use_empty())
      unread.push_back(op);
  });
  for (gc::ReadOp op : unread)
    op.erase();
  llvm::SmallVector<gc::StateOp> generators;
  for (gc::StateOp state : module->getOps<gc::StateOp>())
    if (state.getRole() == gc::StateRole::Generator)
      generators.push_back(state);
  for (gc::StateOp state : generators)
    state.erase();
  std::string result;
  llvm::raw_string_ostream out(result);
  module->print(out, OpPrintingFlags().enableDebugInfo());
  return result;
}
