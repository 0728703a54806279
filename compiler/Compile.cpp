//===- Compile.cpp - from model IR to a plan ------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Candidates.h"
#include "compiler/DiagnosticLog.h"
#include "compiler/MakeTarget.h"
#include "compiler/ModelText.h"
#include "compiler/PlanBuilder.h"
#include "compiler/ReplayPlan.h"
#include "compiler/StepReport.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/CheckMemory.h"
#include "passes/GatherUpdates.h"
#include "passes/analysis/PeakFacts.h"
#include "runtime/hal/cpu/library/Team.h"
#include "runtime/plan/ExitCode.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>
#include <unistd.h>

using namespace mlir;

namespace gc {
namespace {

using namespace exits;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

// What the options say of memory; where they contradict themselves, `error` says how.
MemoryWishes wishesOf(const CompileOptions &options, std::string &error) {
  MemoryWishes wishes;
  wishes.budgetBytes = static_cast<int64_t>(options.budgetBytes);
  wishes.policyAsWritten = "--remat=" + options.remat;
  auto [name, number] = StringRef(options.remat).split(':');
  wishes.policy = name.str();
  bool hasNumber = name.size() != options.remat.size();
  if (options.budgetBytes && options.remat != "none")
    error = "--budget and " + wishes.policyAsWritten +
            " exclude each other: the budget decides what is recomputed";
  else if (name == "checkpoints" &&
           (number.getAsInteger(10, wishes.checkpoints) || wishes.checkpoints < 0))
    error = wishes.policyAsWritten + ": expected checkpoints:N with N from 0 on";
  else if (name != "checkpoints" &&
           (hasNumber || !llvm::is_contained({"none", "all", "sqrt"}, name)))
    error = wishes.policyAsWritten + ": expected none, all, sqrt or checkpoints:N";
  return wishes;
}

// A budget beyond what the machine has limits nothing here.
std::string machineWarning(const CompileOptions &options) {
  auto memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  if (options.device != "cpu" || options.budgetBytes <= memory)
    return "";
  return "warning: the budget of " + bytesText(static_cast<int64_t>(options.budgetBytes)) +
         " is more than this machine's memory of " + bytesText(static_cast<int64_t>(memory));
}

} // namespace

CompileResult compileModel(const std::string &text, const std::string &name,
                           const CompileOptions &given) {
  auto start = std::chrono::steady_clock::now();
  CompileOptions options = given;
  if (options.threads <= 0)
    options.threads = runtime::cpu::usableThreads();
  if (options.accumulate < 1)
    return failedWith(BadInput, "--accumulate must be at least 1");
  if (options.accumulateAuto && !options.budgetBytes && !options.pareto)
    return failedWith(BadInput, "--accumulate=auto chooses by a budget, and there is none; add "
                                "--budget=SIZE, or say --accumulate=K");
  if (options.split.parts < 1)
    return failedWith(BadInput, "--split must be at least 1 part");
  if (options.split.parts > 1 && (options.accumulateAuto || options.accumulate != 1))
    return failedWith(BadInput, "--split=N and --accumulate exclude each other: a micro-batch is "
                                "not split again");

  if (std::string wrong = options.optimizer.check("--"); !wrong.empty())
    return failedWith(BadInput, wrong);
  std::string wishError;
  MemoryWishes wishes = wishesOf(options, wishError);
  if (!wishError.empty())
    return failedWith(BadInput, wishError);
  if (std::string fault = refuseModelText(text, name); !fault.empty())
    return failedWith(BadInput, fault);

  DialectRegistry registry;
  registerGcDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  DiagnosticLog log(context);

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  OwningOpRef<ModuleOp> model = parseSourceFile<ModuleOp>(sources, &context);
  if (!model)
    return failedWith(BadInput, log.text());

  nlohmann::json report;
  MadeTarget made = makeTarget(&context, options);
  if (!made.target)
    return failedWith(made.exitCode, made.error);
  PlanMemoryOptions memoryOptions;
  memoryOptions.reserve = made.target->reserveBytes();
  if (std::optional<double> rate = made.target->inputBytesPerSecond())
    memoryOptions.inputBytesPerSecond = *rate;
  report["costs"] = options.costs;
  report["prediction"]["rates_from"] = made.ratesFrom;
  Candidates candidates(*model, options, memoryOptions, made.target);
  if (!candidates.build())
    return failedWith(BadInput, candidates.error.empty() ? log.text() : candidates.error);
  if (candidates.measuredShare() > 0)
    report["prediction"]["rates_from"] =
        llvm::formatv("profile of earlier runs ({0:F0} % of the step), else {1}",
                      100 * candidates.measuredShare(), made.ratesFrom)
            .str();
  report["pass_seconds"] = secondsSince(start);

  CompileResult result;
  if (options.pareto > 0) {
    report["pareto"] = paretoTable(candidates.all, options.pareto);
    report["compile_seconds"] = secondsSince(start);
    result.report = report.dump();
    result.warnings = log.text();
    return result;
  }
  StepDecision decision = chooseStep(candidates.all, wishes);
  if (decision.outcome != StepDecision::Outcome::Chosen) {
    StringRef rejected = StringRef(candidates.rejected).trim();
    return failedWith(decision.outcome == StepDecision::Outcome::BudgetMissed ? NoBudget : BadInput,
                      decision.error + (rejected.empty() ? "" : "\n" + rejected.str()));
  }
  if (options.explain)
    result.explanation = explainDecision(decision, candidates.all, options, candidates.rejected);
  StepCandidate &chosen = candidates.all[decision.candidate];
  reportDecision(decision, candidates.all, options, report);
  reportSplit(chosen.split, chosen.plans, candidates.all.front().plans, report);
  report["choose_seconds"] = secondsSince(start);
  options.accumulate = chosen.plans.microBatches();
  FailureOr<MemoryPlan> memory = placeStep(chosen, decision.plan, memoryOptions);
  if (failed(memory))
    return failedWith(RunFailed, log.text());
  if (made.target->joinsUpdates()) {
    memoryOptions.inputSlots = chosen.plans.inputSlots();
    memory = gatherUpdates(chosen.module, std::move(*memory), memoryOptions);
    if (failed(memory))
      return failedWith(RunFailed, log.text());
  }
  FailureOr<std::vector<uint8_t>> plan = buildPlan(chosen, *memory, options, *made.target, report);
  if (failed(plan))
    return failedWith(BadInput, log.text());

  if (options.check && !checkMade(chosen.module, *memory, *plan, result, report))
    return failedWith(RunFailed, result.error.empty() ? log.text() : result.error);
  result.plan = std::move(*plan);
  result.warnings = log.text();
  if (std::string warning = machineWarning(options); !warning.empty())
    result.warnings += (result.warnings.empty() ? "" : "\n") + warning;
  report["compile_seconds"] = secondsSince(start);
  result.report = report.dump();
  return result;
}

} // namespace gc
