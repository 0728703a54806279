//===- AskModel.cpp - what a step would need ------------------------------===//
#include "compiler/AskModel.h"
#include "compiler/Candidates.h"
#include "compiler/DiagnosticLog.h"
#include "compiler/MakeTarget.h"
#include "compiler/OpenModel.h"
#include "compiler/OptionChecks.h"
#include "compiler/PlaceChosen.h"
#include "compiler/PlanBuilder.h"
#include "compiler/StepReport.h"
#include "passes/Accumulate.h"
#include "passes/Batch.h"
#include "passes/BatchSplit.h"
#include "passes/ModelFunction.h"
#include "runtime/plan/ExitCode.h"

using namespace mlir;

namespace gc {

using namespace exits;

struct AskedModel::Opened {
  Opened(const std::string &text, const std::string &name) : model(text, name) {
    error = model.error();
    if (!error.empty())
      return;
    DiagnosticLog log(model.context());
    FailureOr<func::FuncOp> function = findModel(model.module());
    FailureOr<int64_t> samples = failure();
    if (succeeded(function))
      samples = batchOf(*function);
    if (failed(samples)) {
      error = log.text();
      return;
    }
    batch = *samples;
    for (auto parameter : model.module().getOps<ParameterOp>())
      parameters += cast<ShapedType>(parameter.getType()).getNumElements();
  }

  OpenModel model;
  std::string error;
  int64_t batch = 0, parameters = 0;
  std::map<std::string, MadeTarget> targets; // a library's answers are worth keeping

  MadeTarget &targetFor(const CompileOptions &options) {
    nlohmann::json key = {options.device,      options.target,    options.targetProperties,
                          options.cudaLibrary, options.allowTf32, options.allowNondeterministic,
                          options.threads,     options.costs};
    auto [known, isNew] = targets.try_emplace(key.dump());
    if (isNew)
      known->second = makeTarget(&model.context(), options);
    return known->second;
  }
};

namespace {

/// A step at one batch with everything that is asked about it.
struct Asked {
  explicit Asked(const CompileOptions &given) : options(completed(given)) {}

  CompileOptions options;
  OwningOpRef<ModuleOp> module;
  MadeTarget made;
  PlanMemoryOptions memory;
  std::optional<Candidates> candidates;
  int exitCode = 0;
  std::string error;

  bool fail(int code, std::string reason) {
    exitCode = code;
    error = std::move(reason);
    return false;
  }

  // False: `exitCode` and `error` say why.
  bool build(ModuleOp model, int64_t batch, const DiagnosticLog &log) {
    if (!made.target)
      return fail(made.exitCode, made.error);
    module = model.clone();
    if (failed(setBatch(*module, batch)))
      return fail(BadInput, log.text());
    memory = memoryOptionsOf(*made.target);
    candidates.emplace(*module, options, memory, made.target);
    if (!candidates->build())
      return fail(BadInput, candidates->error.empty() ? log.text() : candidates->error);
    return true;
  }
};

} // namespace

AskedModel::AskedModel(const std::string &text, const std::string &name)
    : opened(std::make_unique<Opened>(text, name)) {}
AskedModel::~AskedModel() = default;

const std::string &AskedModel::error() const { return opened->error; }
std::string AskedModel::name() const {
  return opened->model.module().getSymName().value_or("model").str();
}
int64_t AskedModel::parameters() const { return opened->parameters; }
int64_t AskedModel::batch() const { return opened->batch; }

StepAnswer AskedModel::answer(int64_t batch, const CompileOptions &given) {
  StepAnswer answer;
  answer.batch = batch;
  auto fail = [&](int code, std::string reason) {
    answer.exitCode = code;
    answer.error = std::move(reason);
    return answer;
  };
  DiagnosticLog log(opened->model.context());
  Asked asked(given);
  if (std::string wrong = checkOptions(asked.options); !wrong.empty())
    return fail(BadInput, wrong);
  asked.made = opened->targetFor(asked.options);
  if (!asked.build(opened->model.module(), batch, log))
    return fail(asked.exitCode, asked.error);
  std::vector<StepCandidate> &all = asked.candidates->all;
  answer.ratesFrom = asked.candidates->ratesFrom(asked.made.ratesFrom);
  StepDecision decision = chooseStep(all, wishesOf(asked.options));
  if (decision.outcome != StepDecision::Outcome::Chosen) {
    answer.smallestBytes = decision.smallestBytes;
    answer.lowestBytes = decision.lowestBytes;
    return fail(decision.outcome == StepDecision::Outcome::BudgetMissed ? NoBudget : BadInput,
                decision.error);
  }
  StepCandidate &chosen = all[decision.candidate];
  nlohmann::json report;
  reportDecision(decision, all, asked.options, report);
  answer.microBatches = chosen.plans.microBatches();
  answer.parts = chosen.split.parts;
  answer.inputSlots = chosen.plans.inputSlots();
  answer.recomputed = report["remat"]["recomputed"];
  answer.retained = report["remat"]["retained"];
  answer.recomputeFraction = report["remat"]["recompute_fraction"];
  answer.stepSeconds = report["step_seconds_predicted"];
  asked.options.accumulate = answer.microBatches;
  FailureOr<MemoryPlan> placed =
      placeChosen(chosen, decision.plan, asked.memory, *asked.made.target);
  if (failed(placed))
    return fail(RunFailed, log.text());
  FailureOr<double> saved =
      secondsSavedByJoining(chosen, *placed, asked.options, *asked.made.target);
  if (failed(saved))
    return fail(RunFailed, log.text());
  answer.stepSeconds -= *saved;
  answer.peakBytes = placed->arenaBytes;
  answer.warnings = log.text();
  return answer;
}

StepNeed AskedModel::need(int64_t batch, const CompileOptions &given) {
  StepNeed need;
  DiagnosticLog log(opened->model.context());
  Asked asked(given);
  asked.made = opened->targetFor(asked.options);
  if (!asked.build(opened->model.module(), batch, log)) {
    need.exitCode = asked.exitCode;
    need.error = asked.error;
    return need;
  }
  std::vector<StepCandidate> &all = asked.candidates->all;
  if (auto mixing = all.front().module->getAttrOfType<StringAttr>(kMixesSamplesAttr))
    need.mixesSamples = mixing.str();
  need.plainBytes = all.front().plans.arenaBytes(all.front().plans.keepEverything());
  need.lowestBytes = lowestBytes(all);
  need.triesParts = llvm::any_of(all, [](const StepCandidate &own) { return own.split.parts > 1; });
  return need;
}

} // namespace gc
