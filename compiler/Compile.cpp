//===- Compile.cpp - from model IR to a plan ------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Pipeline.h"
#include "compiler/PlanBuilder.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "runtime/hal/cpu/library/Library.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>
#include <thread>

using namespace mlir;

namespace gc {
namespace {

enum ExitCode { Done = 0, RunFailed = 1, BadInput = 2, NoBudget = 3, NoDevice = 4 };

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What later parts of the road will do is an error until they are there.
std::string unavailable(const CompileOptions &options, int &exitCode) {
  exitCode = BadInput;
  if (options.device != "cpu") {
    exitCode = NoDevice;
    return "device '" + options.device + "' is not available in this build; use --device=cpu";
  }
  if (options.accumulate < 1)
    return "--accumulate must be at least 1";
  if (options.accumulate != 1 || options.accumulateAuto)
    return "gradient accumulation is not available yet; use --accumulate=1";
  if (options.remat != "none")
    return "rematerialization is not available yet; use --remat=none";
  if (options.budgetBytes)
    return "memory budgets are not available yet; leave --budget out";
  if (!options.costs.empty())
    return "cost profiles are not available yet; leave --costs out";
  return "";
}

// Diagnostics as text, first error first: "file:line:column: error: message".
class DiagnosticLog {
public:
  explicit DiagnosticLog(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) { return record(diagnostic); }) {}
  std::string text() const { return lines; }

private:
  LogicalResult record(Diagnostic &diagnostic) {
    append(diagnostic, diagnostic.getSeverity() == DiagnosticSeverity::Error ? "" : "note: ");
    for (Diagnostic &note : diagnostic.getNotes())
      append(note, "note: ");
    return success();
  }
  void append(Diagnostic &diagnostic, StringRef prefix) {
    llvm::raw_string_ostream out(lines);
    if (!lines.empty())
      out << '\n';
    std::string place;
    diagnostic.getLocation()->walk([&](Location location) {
      auto file = dyn_cast<FileLineColLoc>(location);
      if (!file)
        return WalkResult::advance();
      llvm::raw_string_ostream(place) << file.getFilename().getValue() << ':' << file.getLine()
                                      << ':' << file.getColumn() << ": ";
      return WalkResult::interrupt();
    });
    out << place << prefix << diagnostic.str();
  }
  std::string lines;
  ScopedDiagnosticHandler handler;
};

CompileResult failedWith(int exitCode, std::string error) {
  CompileResult result;
  result.exitCode = exitCode;
  result.error = std::move(error);
  return result;
}

} // namespace

CompileResult compileModel(const std::string &text, const std::string &name,
                           const CompileOptions &given) {
  auto start = std::chrono::steady_clock::now();
  CompileOptions options = given;
  if (options.threads <= 0)
    options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int exitCode = Done;
  if (std::string reason = unavailable(options, exitCode); !reason.empty())
    return failedWith(exitCode, reason);

  DialectRegistry registry;
  registerGcDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  DiagnosticLog log(context);

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failedWith(BadInput, log.text());

  nlohmann::json report;
  PassManager passes(&context);
  buildTrainPipeline(passes, options);
  if (failed(passes.run(*module)))
    return failedWith(BadInput, log.text());
  report["pass_seconds"] = secondsSince(start);

  PlanMemoryOptions memoryOptions;
  memoryOptions.reserve = static_cast<int64_t>(runtime::cpu::kTransientPoolBytes);
  FailureOr<MemoryPlan> memory = planMemory(*module, memoryOptions);
  if (failed(memory))
    return failedWith(BadInput, log.text());
  FailureOr<std::vector<uint8_t>> plan = buildPlan(*module, *memory, options, report);
  if (failed(plan))
    return failedWith(BadInput, log.text());

  CompileResult result;
  result.plan = std::move(*plan);
  report["compile_seconds"] = secondsSince(start);
  result.report = report.dump();
  return result;
}

} // namespace gc
