//===- main.cpp - gc-opt: passes on IR ------------------------------------===//
//
// MLIR's own driver, with our dialect and passes, behind the same door as the other tools: the text
// is looked at before it is parsed, and the exit codes are those of all tools.
//
//===----------------------------------------------------------------------===//
#include "compiler/ModelText.h"
#include "compiler/Pipeline.h"
#include "dialects/Gc.h"
#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "passes/PlanStep.h"
#include "runtime/plan/ExitCode.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/process/Interrupt.h"
#include "runtime/process/OutputCheck.h"
#include "runtime/process/StandardStreams.h"
#include "tools/gc-opt/Help.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace exits = gc::exits;

namespace {

int fail(const llvm::Twine &reason, int code) {
  llvm::errs() << "gc-opt: " << reason << "\n";
  return code;
}
int fail(const gc::runtime::Error &error) { return fail(error.message, error.exitCode()); }

llvm::cl::opt<std::string> inputName(llvm::cl::Positional, llvm::cl::desc("<input file>"),
                                     llvm::cl::init("-"));
llvm::cl::opt<std::string> outputName("o", llvm::cl::desc("Output filename"),
                                      llvm::cl::value_desc("filename"), llvm::cl::init("-"));

/// MLIR's own function would end the process with 1. False: the options are bad, and it was said.
bool parseOptions(int argc, char **argv, DialectRegistry &registry) {
  MlirOptMainConfig::registerCLOptions(registry);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  tracing::DebugCounter::registerCLOptions();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << "gc-opt " GC_VERSION "\n"; });
  return llvm::cl::ParseCommandLineOptions(argc, argv, "gc-opt: passes on gc IR\n", &llvm::errs());
}

/// Notices where a budget cannot be met: the driver only says that some pass has failed.
struct BudgetWatch : PassInstrumentation {
  explicit BudgetWatch(bool &missed) : missed(missed) {}
  void runAfterPassFailed(Pass *pass, Operation *) override { missed |= gc::missedBudget(pass); }
  bool &missed;
};

/// Whether it is a device or a pipe, such as /dev/null: what is written there replaces nothing.
bool isStreamAt(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return false;
  return status.type() == llvm::sys::fs::file_type::character_file ||
         status.type() == llvm::sys::fs::file_type::fifo_file;
}

int writeStream(llvm::StringRef path, llvm::StringRef text) {
  std::error_code failure;
  llvm::raw_fd_ostream stream(path, failure);
  if (!failure) {
    stream << text;
    stream.close();
    failure = stream.error();
    stream.clear_error(); // else the destructor aborts
  }
  return failure ? fail("cannot write '" + path + "': " + failure.message(), exits::RunFailed)
                 : exits::Done;
}

/// What was printed through llvm::outs(), which would end the process with an abort of its own
/// where its reader has gone or the disk is full.
int finishOuts() {
  llvm::outs().flush();
  std::error_code failure = llvm::outs().error();
  llvm::outs().clear_error();
  if (failure == std::errc::broken_pipe)
    return gc::runtime::interruptExitCode(SIGPIPE);
  return failure ? fail("cannot write to standard output: " + failure.message(), exits::RunFailed)
                 : exits::Done;
}

int optimize(int argc, char **argv) {
  gc::registerGcPasses();
  gc::registerTrainPipeline();
  if (gc::opt::asksForHelp(argc, argv)) {
    gc::opt::printHelp();
    return finishOuts();
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  gc::registerGcDialects(registry);
  registerAllPasses();
  if (!parseOptions(argc, argv, registry))
    return exits::BadInput;

  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return failed(MlirOptMain(argc, argv, inputName, outputName, registry)) ? exits::RunFailed
                                                                            : finishOuts();
  bool budgetMissed = false;
  config.setPassPipelineSetupFn([&, parsed = config](PassManager &passes) {
    passes.addInstrumentation(std::make_unique<BudgetWatch>(budgetMissed));
    return parsed.setupPassPipeline(passes);
  });

  bool isPrinted = outputName == "-", isStream = isStreamAt(outputName);
  if (gc::runtime::Status fine = gc::runtime::checkOutputs(
          {{"-o", isPrinted || isStream ? "" : outputName.getValue()}},
          {{"the input", inputName == "-" ? "/dev/stdin" : inputName.getValue()}});
      !fine)
    return fail(fine.error());
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &error);
  if (!input)
    return fail(error, exits::BadInput);
  if (std::string fault = gc::refuseModelText(input->getBuffer(), input->getBufferIdentifier());
      !fault.empty())
    return fail(fault, exits::BadInput);
  std::string text;
  llvm::raw_string_ostream out(text);
  bool isDone = succeeded(MlirOptMain(out, std::move(input), registry, config));
  if (isPrinted)
    std::fwrite(text.data(), 1, text.size(), stdout);
  if (!isDone)
    return budgetMissed ? exits::NoBudget : exits::BadInput;
  if (isStream)
    return writeStream(outputName, text);
  if (!isPrinted)
    if (gc::runtime::Status written = gc::runtime::writeFileAtomically(outputName, text); !written)
      return fail(written.error());
  return exits::Done;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  gc::runtime::prepareProcess();
  return gc::runtime::finishStandardOutput("gc-opt", optimize(argc, argv),
                                           gc::runtime::PrintedText::IsTheResult);
}
