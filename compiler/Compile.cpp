//===- Compile.cpp - from model IR to a plan ------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Candidates.h"
#include "compiler/DiagnosticLog.h"
#include "compiler/MakeTarget.h"
#include "compiler/OpenModel.h"
#include "compiler/OptionChecks.h"
#include "compiler/PlaceChosen.h"
#include "compiler/PlanBuilder.h"
#include "compiler/ReplayPlan.h"
#include "compiler/StepReport.h"
#include "passes/CheckMemory.h"
#include "passes/analysis/PeakFacts.h"
#include "runtime/plan/ExitCode.h"
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
  CompileOptions options = completed(given);
  if (std::string wrong = checkOptions(options); !wrong.empty())
    return failedWith(BadInput, wrong);
  MemoryWishes wishes = wishesOf(options);
  OpenModel model(text, name);
  if (!model.error().empty())
    return failedWith(BadInput, model.error());
  DiagnosticLog log(model.context());

  nlohmann::json report;
  MadeTarget made = makeTarget(&model.context(), options);
  if (!made.target)
    return failedWith(made.exitCode, made.error);
  PlanMemoryOptions memoryOptions = memoryOptionsOf(*made.target);
  report["costs"] = options.costs;
  Candidates candidates(model.module(), options, memoryOptions, made.target);
  if (!candidates.build())
    return failedWith(BadInput, candidates.error.empty() ? log.text() : candidates.error);
  report["prediction"]["rates_from"] = candidates.ratesFrom(made.ratesFrom);
  report["pass_seconds"] = secondsSince(start);

  CompileResult result;
  if (options.pareto > 0) {
    report["pareto"] = paretoTable(candidates.all, options.pareto);
    if (wishes.policy != "none") {
      StepDecision decision = chooseStep(candidates.all, wishes);
      if (decision.outcome != StepDecision::Outcome::Chosen)
        return failedWith(BadInput, decision.error);
      report["policy"] = policyRow(candidates.all, decision);
      report["policy"]["name"] = options.remat;
    }
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
  FailureOr<MemoryPlan> memory = placeChosen(chosen, decision.plan, memoryOptions, *made.target);
  if (failed(memory))
    return failedWith(RunFailed, log.text());
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
