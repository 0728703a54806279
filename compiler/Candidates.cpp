//===- Candidates.cpp - the ways to run a step ----------------------------===//
#include "compiler/Candidates.h"
#include "compiler/Costs.h"
#include "compiler/DiagnosticLog.h"
#include "compiler/Pipeline.h"
#include "dialects/OpName.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Accumulate.h"
#include "passes/BatchSplit.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include "passes/Split.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace gc {

bool Candidates::build() {
  if (options.split.parts != 1)
    return addAskedSplit();
  if (!addUnsplit())
    return false;
  if (options.split.automatic && isScarce() && (options.accumulateAuto || options.accumulate == 1))
    trySplits();
  return true;
}

std::string Candidates::ratesFrom(const std::string &otherwise) const {
  if (measured.share() <= 0)
    return otherwise;
  return llvm::formatv("profile of earlier runs ({0:F0} % of the step), else {1}",
                       100 * measured.share(), otherwise);
}

bool Candidates::addUnsplit() {
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
    if (*batch % parts == 0 && !tryMicroBatches(parts))
      break;
  return true;
}

// Whether the newest step fits as it is, with fast kernels, all input slots and nothing that is
// recomputed. What is added later is not faster.
bool Candidates::enough() const {
  const StepPlans &plain = all[newest].plans;
  return options.budgetBytes &&
         plain.arenaBytes(plain.keepEverything()) <= static_cast<int64_t>(options.budgetBytes);
}

// Parts and smaller micro-batches only cost time. A prediction that says otherwise compares ops
// whose times were measured with others; taken at its word, a smaller budget would give a faster
// step than one at which such candidates are not looked at.
void Candidates::notFasterThan(size_t plain) {
  double seconds = all[plain].plans.seconds(all[plain].plans.keepEverything());
  for (StepCandidate &candidate : llvm::drop_begin(all, newest))
    candidate.plans.raiseTo(seconds);
}

bool Candidates::add(int64_t microBatches, const StepSplit &split) {
  newest = all.size();
  if (!addModule(microBatches, split, /*lean=*/false))
    return false;
  return !isScarce() || !target->canBeLean() || addModule(microBatches, split, /*lean=*/true);
}

// By what the target knows of an op's commands.
static void predictSeconds(ModuleOp module, Target &target, bool lean) {
  Builder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.getBody().front().without_terminator())
      if (std::optional<double> seconds = target.seconds(&op, lean))
        op.setAttr("gc.seconds", builder.getF64FloatAttr(*seconds));
}

bool Candidates::addModule(int64_t microBatches, const StepSplit &split, bool lean) {
  OwningOpRef<ModuleOp> module = model.clone();
  CompileOptions own = options;
  own.accumulate = microBatches;
  own.split = {false, split.parts, split.chains};
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
  error = setCosts(*module, options.costs,
                   {microBatches, options.device == "cpu" ? options.threads : 0});
  if (!error.empty())
    return false;
  predictSeconds(*module, *target, lean);
  if (options.device == "cpu" && options.costs.empty())
    measured.apply(*module);
  size_t before = all.size();
  addCandidates(*module, *train, microBatches, lean, isScarce(), memory, all);
  for (StepCandidate &candidate : llvm::drop_begin(all, before))
    candidate.split = split;
  modules.push_back(std::move(module));
  return true;
}

// Adds candidates to choose from; false ends the trying.
bool Candidates::tryMicroBatches(int64_t microBatches) {
  DiagnosticLog trial(*model.getContext());
  size_t before = newest, modulesBefore = modules.size();
  if (!add(microBatches)) {
    rejected = "  more micro-batches are not possible: " +
               (error.empty() ? trial.text() : std::exchange(error, "")) + "\n";
    return false;
  }
  auto mixing = modules.back()->getOperation()->getAttrOfType<StringAttr>(kMixesSamplesAttr);
  if (!mixing) {
    notFasterThan(before);
    return true;
  }
  rejected = "  more micro-batches would change the result, because samples of a batch meet in " +
             mixing.str() + " (say --accumulate=K to have them all the same)\n";
  all.erase(all.begin() + newest, all.end());
  modules.resize(modulesBefore);
  return false;
}

//===----------------------------------------------------------------------===//
// Chains of ops in parts of the batch
//===----------------------------------------------------------------------===//

// The model as --gc-split meets it, for the places of ops; null where it is none.
OwningOpRef<ModuleOp> Candidates::simplified() {
  OwningOpRef<ModuleOp> module = model.clone();
  PassManager passes(module->getContext());
  passes.addPass(createCheckModelPass());
  passes.addPass(createSimplifyPass());
  return succeeded(passes.run(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
}

static StepSplit splitOf(func::FuncOp function, ArrayRef<SampleChain> chains, int64_t parts) {
  StepSplit split{parts, textOf(chains), {}};
  std::vector<std::string> names;
  for (Operation &op : function.getBody().front())
    names.push_back(displayName(&op));
  for (const SampleChain &chain : chains)
    if (chain.last < names.size())
      split.names.push_back({names[chain.first], names[chain.last]});
  return split;
}

bool Candidates::addAskedSplit() {
  OwningOpRef<ModuleOp> module = simplified();
  if (!module)
    return false;
  FailureOr<func::FuncOp> function = findModel(*module);
  if (failed(function))
    return false;
  int64_t parts = options.split.parts;
  SmallVector<SampleChain> chains;
  if (options.split.chains.empty()) {
    chains = findSampleChains(*function, parts);
  } else if (std::optional<SmallVector<SampleChain>> given = readChains(options.split.chains)) {
    chains = *given;
  } else {
    error = "--split: expected chains as places in order, such as 3-12,20-31, got " +
            options.split.chains;
    return false;
  }
  if (chains.empty() && error.empty()) {
    FailureOr<int64_t> batch = batchOf(*function);
    if (failed(batch))
      return false;
    error = "--split=" + std::to_string(parts) + ": " +
            (*batch % parts == 0
                 ? std::string("no op of this model works on each sample alone")
                 : "the batch of " + std::to_string(*batch) + " has no such equal parts");
    return false;
  }
  return add(1, splitOf(*function, chains, parts));
}

// Bytes of all values that a model computes.
static int64_t computedBytes(func::FuncOp function) {
  int64_t bytes = 0;
  for (Operation &op : function.getBody().front())
    if (!isa<ReadOp>(op))
      for (Type type : op.getResultTypes())
        bytes += byteSize(type);
  return bytes;
}

// Whether one op needs so much of what all values do that parts of the batch save more than
// recomputation can.
static bool isOneOpLarge(const StepPlans &whole) {
  int64_t oneOp = whole.lowestBytes() - whole.persistent();
  int64_t all = whole.arenaBytes(whole.keepEverything()) - whole.persistent();
  return 4 * oneOp >= all;
}

// Whether chains hold most of what a model computes. Only values inside of chains get smaller,
// while those at their ends are joined and fuse with nothing: where most are (between two batch
// norms), a step in parts needs more.
static bool areMostInside(func::FuncOp function, ArrayRef<SampleChain> chains) {
  int64_t inside = 0;
  for (const SampleChain &chain : chains)
    inside += chain.insideBytes;
  return 2 * inside >= computedBytes(function);
}

// Adds the step in 2, 4, 8 and 16 parts. Which are added depends on the network alone; else a
// budget could give a faster step than a larger one.
void Candidates::trySplits() {
  constexpr int64_t mostParts = 16;
  const StepPlans whole = all.front().plans;
  if (options.budgetBytes &&
      whole.arenaBytes(whole.keepEverything()) <= static_cast<int64_t>(options.budgetBytes))
    return; // nothing is faster
  if (!isOneOpLarge(whole))
    return;
  DiagnosticLog trial(*model.getContext());
  OwningOpRef<ModuleOp> module = simplified();
  if (!module)
    return;
  FailureOr<func::FuncOp> function = findModel(*module);
  if (failed(function))
    return;
  FailureOr<int64_t> batch = batchOf(*function);
  if (failed(batch))
    return;
  for (int64_t parts = 2; parts <= std::min(*batch, mostParts); parts *= 2) {
    SmallVector<SampleChain> chains = findSampleChains(*function, parts);
    if (!areMostInside(*function, chains))
      continue;
    if (!add(1, splitOf(*function, chains, parts))) {
      rejected += "  more parts of the batch are not possible: " +
                  (error.empty() ? trial.text() : std::exchange(error, "")) + "\n";
      return;
    }
    notFasterThan(0);
  }
}

} // namespace gc
