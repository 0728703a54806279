//===- Candidates.cpp - the ways to run a step ----------------------------===//
#include "compiler/Candidates.h"
#include "compiler/Costs.h"
#include "compiler/DiagnosticLog.h"
#include "compiler/Pipeline.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Accumulate.h"
#include "passes/BatchSplit.h"
#include "passes/ModelFunction.h"

using namespace mlir;

namespace gc {

bool Candidates::build() {
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

// Smaller micro-batches only cost when nothing needs to be recomputed any more.
bool Candidates::enough() {
  StepPlans &last = all.back().plans;
  return options.budgetBytes &&
         last.arenaBytes(last.keepEverything()) <= static_cast<int64_t>(options.budgetBytes);
}

bool Candidates::add(int64_t parts) {
  if (!addModule(parts, /*lean=*/false))
    return false;
  return !isScarce() || !target->canBeLean() || addModule(parts, /*lean=*/true);
}

// By what the target knows of an op's commands.
static void predictSeconds(ModuleOp module, Target &target, bool lean) {
  Builder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.getBody().front().without_terminator())
      if (std::optional<double> seconds = target.seconds(&op, lean))
        op.setAttr("gc.seconds", builder.getF64FloatAttr(*seconds));
}

bool Candidates::addModule(int64_t parts, bool lean) {
  OwningOpRef<ModuleOp> module = model.clone();
  CompileOptions own = options;
  own.accumulate = parts;
  PassManager passes(module->getContext());
  buildTrainPipeline(
      passes, own, [&](MLIRContext *) { return target; }, lean);
  passes.enableVerifier(false); // once, at the end: it takes as long as the passes
  if (failed(passes.run(*module)) || failed(verify(*module)))
    return false;
  FailureOr<func::FuncOp> train = findList(*module, kMicroBatchList, "--gc-autodiff");
  if (failed(train))
    return false;
  if (std::optional<Roofline> roofline = target->roofline())
    roofline->set(*module);
  error = setCosts(*module, options.costs, {parts, options.device == "cpu" ? options.threads : 0});
  if (!error.empty())
    return false;
  predictSeconds(*module, *target, lean);
  if (options.device == "cpu" && options.costs.empty())
    measured.apply(*module);
  addCandidates(*module, *train, parts, lean, isScarce(), memory, all);
  modules.push_back(std::move(module));
  return true;
}

// Adds candidates to choose from; false ends the trying.
bool Candidates::tryParts(int64_t parts) {
  DiagnosticLog trial(*model.getContext());
  size_t before = all.size(), modulesBefore = modules.size();
  if (!add(parts)) {
    rejected = "  more micro-batches are not possible: " +
               (error.empty() ? trial.text() : std::exchange(error, "")) + "\n";
    return false;
  }
  auto mixing = modules.back()->getOperation()->getAttrOfType<StringAttr>(kMixesSamplesAttr);
  if (!mixing)
    return true;
  rejected = "  more micro-batches would change the result, because samples of a batch meet in " +
             mixing.str() + " (say --accumulate=K to have them all the same)\n";
  all.erase(all.begin() + before, all.end());
  modules.resize(modulesBefore);
  return false;
}

} // namespace gc
