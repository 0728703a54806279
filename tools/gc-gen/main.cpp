//===- main.cpp - gc-gen: a network as gc IR ------------------------------===//
#include "models/Networks.h"
#include "models/VariableListing.h"
#include "tools/gc-gen/Arguments.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc;

static int fail(const llvm::Twine &reason, int code) {
  llvm::errs() << "gc-gen: " << reason << "\n";
  return code;
}

int main(int argc, char **argv) {
  int exitCode = 0;
  auto arguments = gen::parseArguments(argc, argv, exitCode);
  if (!arguments)
    return exitCode;

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  models::Network network = models::buildNetwork(context, arguments->network);
  if (!network)
    return fail(llvm::toString(network.takeError()), 2);
  mlir::ModuleOp module = **network;
  std::string size = llvm::formatv("{0:N} parameters", models::countParameters(module));

  std::string path = arguments->output.empty() ? "-" : arguments->output;
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_None);
  if (error)
    return fail("cannot write '" + path + "': " + error.message(), 2);
  mlir::OpPrintingFlags flags;
  flags.printNameLocAsPrefix().enableDebugInfo(arguments->locations);
  file.os() << "// " << arguments->command << "\n// " << size << "\n";
  module->print(file.os(), flags);
  file.os() << "\n";
  file.os().flush();
  if (file.os().has_error()) {
    std::string reason = file.os().error().message();
    file.os().clear_error(); // else the destructor aborts
    return fail("cannot write '" + path + "': " + reason, 1);
  }
  file.keep();
  if (!arguments->output.empty())
    llvm::outs() << path << ": " << module.getName().value_or("") << ", " << size << "\n";
  return 0;
}
