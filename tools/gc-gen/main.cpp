//===- main.cpp - gc-gen: a network as gc IR ------------------------------===//
#include "models/Networks.h"
#include "models/VariableListing.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/process/OutputCheck.h"
#include "runtime/process/StandardStreams.h"
#include "tools/gc-gen/Arguments.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc;

static int fail(const std::string &reason, int code) {
  std::fprintf(stderr, "gc-gen: %s\n", reason.c_str());
  return code;
}

static int generate(const gen::Arguments &arguments) {
  const std::string path = arguments.output == "-" ? "" : arguments.output;
  if (runtime::Status fine = runtime::checkOutputs({{"-o", path}}, {}); !fine)
    return fail(fine.error().message, fine.error().exitCode());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  models::Network network = models::buildNetwork(context, arguments.network);
  if (!network)
    return fail(llvm::toString(network.takeError()), exits::BadInput);
  mlir::ModuleOp module = **network;
  std::string size = llvm::formatv("{0:N} parameters", models::countParameters(module));

  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  flags.printNameLocAsPrefix().enableDebugInfo(arguments.locations);
  out << "// " << arguments.command << "\n// " << size << "\n";
  module->print(out, flags);
  out << "\n";
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return exits::Done;
  }
  if (runtime::Status written = runtime::writeFileAtomically(path, text); !written)
    return fail(written.error().message, written.error().exitCode());
  std::printf("%s: %s, %s\n", path.c_str(), module.getName().value_or("").str().c_str(),
              size.c_str());
  return exits::Done;
}

int main(int argc, char **argv) {
  runtime::prepareProcess();
  int exitCode = exits::Done;
  auto arguments = gen::parseArguments(argc, argv, exitCode);
  if (arguments)
    exitCode = generate(*arguments);
  bool isResult = !arguments || arguments->output.empty() || arguments->output == "-";
  return runtime::finishStandardOutput("gc-gen", exitCode,
                                       isResult ? runtime::PrintedText::IsTheResult
                                                : runtime::PrintedText::TellsAboutFiles);
}
