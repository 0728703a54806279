//===- Compile.cpp - from model IR to a plan ------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Costs.h"
#include "compiler/Pipeline.h"
#include "compiler/PlanBuilder.h"
#include "compiler/Remat.h"
#include "compiler/ReplayPlan.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/CheckMemory.h"
#include "passes/Rematerialize.h"
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
  if (options.accumulateAuto)
    return "--accumulate=auto is not available yet; use --accumulate=K";
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
    append(diagnostic, diagnostic.getSeverity() == DiagnosticSeverity::Error     ? ""
                       : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning: "
                                                                                 : "note: ");
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

// Both replays: of the placed IR, where values have names, and of the plan, which is what runs.
bool checkMade(ModuleOp module, const MemoryPlan &memory, const std::vector<uint8_t> &plan,
               CompileResult &result, nlohmann::json &report) {
  annotate(module, memory);
  FailureOr<MemoryReplay> values = checkMemory(module);
  if (failed(values))
    return false;
  PlanReplay commands = replayPlan(plan);
  if (!commands.ok()) {
    result.error = "the plan does not replay, please report this: " + commands.error;
    return false;
  }
  result.check = commands.text();
  report["check"] = {{"ops", values->ops},
                     {"values_read", values->reads},
                     {"commands", commands.commands},
                     {"buffers", commands.buffers},
                     {"buffers_read", commands.reads}};
  return true;
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
  if (std::string error = setCosts(*module, options.costs, {options.accumulate, options.threads});
      !error.empty())
    return failedWith(BadInput, error);
  report["pass_seconds"] = secondsSince(start);

  PlanMemoryOptions memoryOptions;
  memoryOptions.reserve = static_cast<int64_t>(runtime::cpu::kTransientPoolBytes);
  if (RematFailure failure = rematerialize(*module, options, memoryOptions, report);
      failure.exitCode)
    return failedWith(failure.exitCode, failure.error);
  FailureOr<MemoryPlan> memory = planMemory(*module, memoryOptions);
  if (failed(memory))
    return failedWith(BadInput, log.text());
  for (auto function : module->getOps<func::FuncOp>())
    if (failed(verifyRematerialization(function)))
      return failedWith(BadInput, log.text());
  if (options.budgetBytes && memory->arenaBytes > static_cast<int64_t>(options.budgetBytes))
    return failedWith(NoBudget,
                      "the placed step needs " + std::to_string(memory->arenaBytes) +
                          " bytes, more than the budget that its plan promised; please report this");
  FailureOr<std::vector<uint8_t>> plan = buildPlan(*module, *memory, options, report);
  if (failed(plan))
    return failedWith(BadInput, log.text());

  CompileResult result;
  if (options.check && !checkMade(*module, *memory, *plan, result, report))
    return failedWith(RunFailed, result.error.empty() ? log.text() : result.error);
  result.plan = std::move(*plan);
  result.warnings = log.text();
  report["compile_seconds"] = secondsSince(start);
  result.report = report.dump();
  return result;
}

} // namespace gc
