//===- Compile.cpp - from model IR to a plan ------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Costs.h"
#include "compiler/MakeTarget.h"
#include "compiler/ModelText.h"
#include "compiler/Pipeline.h"
#include "compiler/PlanBuilder.h"
#include "compiler/Remat.h"
#include "compiler/ReplayPlan.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/Accumulate.h"
#include "passes/BatchSplit.h"
#include "passes/CheckMemory.h"
#include "passes/ModelFunction.h"
#include "passes/Rematerialize.h"
#include "runtime/hal/cpu/library/Team.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>
#include <unistd.h>

using namespace mlir;

namespace gc {
namespace {

enum ExitCode { Done = 0, RunFailed = 1, BadInput = 2, NoBudget = 3, NoDevice = 4 };

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

// The step for one number of micro-batches, or for several to choose from.
class Candidates {
public:
  Candidates(ModuleOp model, const CompileOptions &options, const PlanMemoryOptions &memory,
             std::shared_ptr<Target> target)
      : model(model), options(options), memory(memory), target(std::move(target)) {}

  // False: the passes failed, and their diagnostics say why.
  bool build() {
    if (!options.accumulateAuto)
      return add(options.accumulate);
    if (!add(1))
      return false;
    FailureOr<func::FuncOp> train = findList(*modules.front(), kMicroBatchList, "--gc-autodiff");
    if (failed(train))
      return false;
    FailureOr<int64_t> batch = batchOf(*train);
    if (failed(batch))
      return false;
    for (int64_t parts = 2; parts <= *batch && !enough(); ++parts)
      if (*batch % parts == 0 && !tryParts(parts))
        break;
    return true;
  }

  std::vector<StepPlans> plans;
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::vector<size_t> moduleOf; // of each plan
  std::vector<bool> leanOf;     // whether a module's ops were chosen for little scratch
  std::string rejected;         // why there are not more
  std::string error;            // why there is none, where the diagnostics do not tell

private:
  // Smaller micro-batches only cost when nothing needs to be recomputed any more.
  bool enough() {
    // The last number's first plan, which has all input buffers.
    const StepPlans &last = plans[llvm::find(moduleOf, modules.size() - 1) - moduleOf.begin()];
    return options.budgetBytes &&
           last.arenaBytes(last.keepEverything()) <= static_cast<int64_t>(options.budgetBytes);
  }

  // With ops that are fast and, where memory is short and the target has them, with others that
  // need less scratch.
  bool add(int64_t parts) {
    if (!addModule(parts, /*lean=*/false))
      return false;
    bool isShort = options.budgetBytes || options.pareto;
    return !isShort || !target->setLean(true) || addModule(parts, /*lean=*/true);
  }

  bool addModule(int64_t parts, bool lean) {
    target->setLean(lean);
    OwningOpRef<ModuleOp> module = model.clone();
    CompileOptions own = options;
    own.accumulate = parts;
    PassManager passes(module->getContext());
    buildTrainPipeline(passes, own, [&](MLIRContext *) { return target; });
    if (failed(passes.run(*module)))
      return false;
    FailureOr<func::FuncOp> train = findList(*module, kMicroBatchList, "--gc-autodiff");
    if (failed(train))
      return false;
    if (std::optional<Roofline> roofline = target->roofline())
      roofline->set(*module);
    error =
        setCosts(*module, options.costs, {parts, options.device == "cpu" ? options.threads : 0});
    if (!error.empty())
      return false;
    plans.emplace_back(*module, *train, parts, costs, memory);
    moduleOf.push_back(modules.size());
    // One input buffer less is part of the choice where memory is short.
    if ((options.budgetBytes || options.pareto) && memory.inputSlots > 1) {
      plans.push_back(plans.back().withOneInputSlot());
      moduleOf.push_back(modules.size());
    }
    modules.push_back(std::move(module));
    leanOf.push_back(lean);
    return true;
  }

  // As a candidate among others: false ends the trying.
  bool tryParts(int64_t parts) {
    DiagnosticLog trial(*model.getContext());
    if (!add(parts)) {
      rejected = "  more micro-batches are not possible: " +
                 (error.empty() ? trial.text() : std::exchange(error, "")) + "\n";
      return false;
    }
    if (auto mixing =
            modules.back()->getOperation()->getAttrOfType<StringAttr>(kMixesSamplesAttr)) {
      rejected =
          "  more micro-batches would change the result, because samples of a batch meet in " +
          mixing.str() + " (say --accumulate=K to have them all the same)\n";
      removeLast();
      return false;
    }
    return true;
  }

  // All modules of the last number of micro-batches.
  void removeLast() {
    bool wasLean; // the fast one comes before the lean one
    do {
      wasLean = leanOf.back();
      leanOf.pop_back();
      modules.pop_back();
      for (; moduleOf.back() == modules.size(); moduleOf.pop_back())
        plans.pop_back();
    } while (wasLean);
  }

  ModuleOp model;
  const CompileOptions &options;
  const PlanMemoryOptions &memory;
  std::shared_ptr<Target> target;
  OpCosts costs;
};

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
  Candidates candidates(*model, options, memoryOptions, made.target);
  if (!candidates.build())
    return failedWith(BadInput, candidates.error.empty() ? log.text() : candidates.error);
  report["pass_seconds"] = secondsSince(start);

  CompileResult result;
  if (options.pareto > 0) {
    report["pareto"] = paretoTable(candidates.plans, options.pareto);
    report["compile_seconds"] = secondsSince(start);
    result.report = report.dump();
    result.warnings = log.text();
    return result;
  }
  StepDecision decision = decide(candidates.plans, options);
  if (decision.exitCode) {
    StringRef rejected = StringRef(candidates.rejected).trim();
    return failedWith(decision.exitCode,
                      decision.error + (rejected.empty() ? "" : "\n" + rejected.str()));
  }
  if (options.explain)
    result.explanation = explainDecision(decision, candidates.plans, options, candidates.rejected);
  StepPlans &plans = candidates.plans[decision.candidate];
  reportDecision(decision, plans, options, report);
  report["choose_seconds"] = secondsSince(start);
  options.accumulate = plans.microBatches();
  int64_t promised = plans.arenaBytes(decision.plan);
  applyRematerialization(plans.function(), decision.plan);
  OwningOpRef<ModuleOp> &module = candidates.modules[candidates.moduleOf[decision.candidate]];
  memoryOptions.inputSlots = plans.inputSlots();
  FailureOr<MemoryPlan> memory = planMemory(*module, memoryOptions);
  if (failed(memory))
    return failedWith(BadInput, log.text());
  for (auto function : module->getOps<func::FuncOp>())
    if (failed(verifyRematerialization(function)))
      return failedWith(BadInput, log.text());
  // The packer remembers what it scored; another size means that other bytes were placed.
  if (memory->arenaBytes != promised)
    return failedWith(RunFailed, "the placed step needs " + bytesText(memory->arenaBytes) +
                                     ", not the " + bytesText(promised) +
                                     " that its plan promised; please report this");
  made.target->setLean(candidates.leanOf[candidates.moduleOf[decision.candidate]]);
  FailureOr<std::vector<uint8_t>> plan = buildPlan(*module, *memory, options, *made.target, report);
  if (failed(plan))
    return failedWith(BadInput, log.text());

  if (options.check && !checkMade(*module, *memory, *plan, result, report))
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
