// gc-import: a PyTorch model as gc IR. See Arguments.cpp for the flags.
#include "mlir/IR/Diagnostics.h"
#include "models/VariableListing.h"
#include "passes/Batch.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/process/OutputCheck.h"
#include "runtime/process/StandardStreams.h"
#include "runtime/weights/Safetensors.h"
#include "tools/flags/CommandLine.h"
#include "tools/gc-import/Archive.h"
#include "tools/gc-import/Arguments.h"
#include "tools/gc-import/Importer.h"
#include "tools/gc-import/OpList.h"
#include "tools/gc-import/Weights.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc;
using namespace gc::runtime;
using namespace gc::importer;

// Of a network with 200,000 ops, each with its stack in the Python that was traced.
static constexpr uint64_t maxProgramBytes = uint64_t{1} << 29;

static std::string textOf(mlir::ModuleOp module, const Arguments &arguments, const Program &program,
                          std::string &size) {
  size = llvm::formatv("{0:N} parameters", models::countParameters(module));
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  flags.printNameLocAsPrefix().enableDebugInfo(arguments.locations);
  out << "// gc-import " << llvm::sys::path::filename(arguments.archive) << ", PyTorch "
      << program.torchVersion << "\n// " << size << "\n";
  module->print(out, flags);
  out << "\n";
  return text;
}

static Status changeBatch(mlir::ModuleOp module, int64_t size) {
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (reason.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      reason = diagnostic.str();
    return mlir::success();
  });
  if (mlir::succeeded(setBatch(module, size)))
    return {};
  return badInput("--batch=" + std::to_string(size) +
                  ": the model does not follow it, export it with an example of that batch (" +
                  reason + ")");
}

static Status import(const Arguments &arguments) {
  const std::string output = arguments.output == "-" ? "" : arguments.output;
  if (Status fine =
          checkOutputs({{"-o", output}, {"--weights", arguments.weights}},
                       {{"the archive", arguments.archive}, {"--trained", arguments.trained}});
      !fine)
    return fine;
  Result<Archive> archive = Archive::open(arguments.archive);
  if (!archive)
    return archive.error();
  Result<std::string> json = archive->readText("models/model.json", maxProgramBytes);
  if (!json)
    return json.error();
  Result<Program> program = parseProgram(*json);
  if (!program)
    return program.error();
  std::map<std::string, NewStart> starts;
  if (arguments.classes > 0) {
    Result<std::map<std::string, NewStart>> replaced = replaceHead(*program, arguments.classes);
    if (!replaced)
      return replaced.error();
    starts = std::move(*replaced);
  }
  Result<Weights> weights = Weights::open(*archive, "model");
  if (!weights)
    return weights.error();

  if (!arguments.trained.empty()) {
    Result<SafetensorsFile> trained = SafetensorsFile::open(arguments.trained);
    if (!trained)
      return trained.error();
    return weights->saveState(arguments.weights, *trained);
  }
  ImportOptions options;
  options.tied = weights->tied();
  options.name = llvm::sys::path::stem(arguments.archive).str();
  if (!arguments.loss.empty())
    options.loss = arguments.loss == "none" ? Loss::Own : Loss::CrossEntropy;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto read = [&](const std::string &name) { return weights->constant(name); };
  if (arguments.list) {
    std::fputs(opListText(context, *program, options, read).c_str(), stdout);
    return {};
  }
  Result<Imported> imported = importProgram(context, *program, options, read);
  if (!imported)
    return imported.error();
  if (arguments.batch > 0)
    if (Status changed = changeBatch(*imported->module, arguments.batch); !changed)
      return changed;
  std::string size, text = textOf(*imported->module, arguments, *program, size);
  if (!arguments.weights.empty()) {
    std::vector<std::string> names;
    for (const ImportedVariable &variable : imported->variables)
      names.push_back(variable.name);
    if (Status saved = weights->save(arguments.weights, names, starts); !saved)
      return saved;
  }
  if (output.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
  }
  if (Status written = writeFileAtomically(output, text); !written)
    return written;
  std::printf("%s: %s, %s\n", output.c_str(), options.name.c_str(), size.c_str());
  return {};
}

int main(int argc, char **argv) {
  prepareProcess();
  Arguments arguments;
  int exitCode = exits::Done;
  if (importer::parseArguments(argc, argv, arguments, exitCode))
    if (Status done = import(arguments); !done)
      exitCode = failWith("gc-import", done.error());
  bool isResult = arguments.output.empty() || arguments.output == "-";
  return finishStandardOutput("gc-import", exitCode,
                              isResult ? PrintedText::IsTheResult : PrintedText::TellsAboutFiles);
}
