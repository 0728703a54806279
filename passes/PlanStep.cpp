//===- PlanStep.cpp - the passes that decide what is kept -----------------===//
//
// gc-plan-step chooses a plan, rematerializes and places, as the compiler does; gc-rematerialize
// stops before placing.
//
//===----------------------------------------------------------------------===//
#include "passes/PlanStep.h"
#include "passes/ChooseStep.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include "passes/Rematerialize.h"
#include "passes/analysis/OpCosts.h"

using namespace mlir;

namespace gc {
#define GEN_PASS_DEF_PLANSTEPPASS
#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "passes/Passes.h.inc"

namespace {

// "1.5GB" is 10^9, "1.5GiB" 2^30, a bare number bytes.
std::optional<int64_t> parseBytes(StringRef text) {
  static constexpr std::pair<StringLiteral, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"KB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"B", 1}};
  double factor = 1, number = 0;
  for (auto [unit, size] : units)
    if (text.consume_back(unit)) {
      factor = size;
      break;
    }
  if (text.getAsDouble(number) || !(number > 0) || number * factor > 0x1p62)
    return std::nullopt;
  return static_cast<int64_t>(number * factor);
}

// Reads the options that both passes have. Fails with an error at `module`.
FailureOr<MemoryWishes> readWishes(ModuleOp module, const std::string &policy,
                                   std::optional<int> givenCheckpoints, const std::string &budget) {
  const int checkpoints = givenCheckpoints.value_or(1);
  MemoryWishes wishes;
  wishes.policyAsWritten = "policy=" + policy;
  wishes.budgetOption = "budget";
  if (policy == "budget") {
    std::optional<int64_t> bytes = parseBytes(budget);
    if (!bytes)
      return module.emitError() << "budget '" << budget
                                << "' is not a size above 0, such as 600MB, 1.5GiB or bytes";
    wishes.budgetBytes = *bytes;
    return wishes;
  }
  if (!llvm::is_contained({"none", "all", "sqrt", "checkpoints"}, StringRef(policy)))
    return module.emitError() << "unknown policy '" << policy
                              << "': use none, all, sqrt, checkpoints or budget";
  if (checkpoints < 0)
    return module.emitError() << "checkpoints must be at least 0, got " << checkpoints;
  wishes.policy = policy;
  wishes.checkpoints = checkpoints;
  return wishes;
}

// Chooses; `missed` becomes true where a budget cannot be met.
FailureOr<StepDecision> choose(func::FuncOp train, std::vector<StepCandidate> &candidates,
                               const MemoryWishes &wishes, bool &missed) {
  StepDecision decision = chooseStep(candidates, wishes);
  missed = decision.outcome == StepDecision::Outcome::BudgetMissed;
  if (decision.outcome != StepDecision::Outcome::Chosen)
    return train.emitError(decision.error);
  return decision;
}

// What both passes do with their options; `Base` is what TableGen made of them.
template <typename Base> struct WishingPass : Base {
  using Base::Base;

  LogicalResult initializeOptions(StringRef options,
                                  function_ref<LogicalResult(const Twine &)> error) override {
    if (failed(Pass::initializeOptions(options, error)))
      return failure();
    std::string ignored =
        ignoredByPolicy(this->policy, !this->budget.empty(), this->checkpoints.value.has_value());
    return ignored.empty() ? success() : error(ignored);
  }

  bool missed = false; // whether it failed because the budget cannot be met
};

struct PlanStepPass : WishingPass<impl::PlanStepPassBase<PlanStepPass>> {
  using WishingPass::WishingPass;

  void runOnOperation() override {
    if (failed(planStep()))
      signalPassFailure();
  }

  LogicalResult planStep() {
    ModuleOp module = getOperation();
    if (failed(requireCosts(module)))
      return failure();
    FailureOr<MemoryWishes> wishes = readWishes(module, policy, checkpoints.value, budget);
    if (failed(wishes))
      return failure();
    FailureOr<func::FuncOp> train = findList(module, kMicroBatchList, "--gc-autodiff");
    if (failed(train))
      return failure();
    PlanMemoryOptions memory;
    memory.reserve = reserve;
    std::vector<StepCandidate> candidates;
    addCandidates(module, *train, microBatches, /*lean=*/false, wishes->budgetBytes > 0, memory,
                  candidates);
    FailureOr<StepDecision> decision = choose(*train, candidates, *wishes, missed);
    if (failed(decision))
      return failure();
    FailureOr<MemoryPlan> placed =
        placeStep(candidates[decision->candidate], decision->plan, memory);
    if (failed(placed))
      return failure();
    annotate(module, *placed);
    return success();
  }
};

struct RematerializePass : WishingPass<impl::RematerializePassBase<RematerializePass>> {
  using WishingPass::WishingPass;

  void runOnOperation() override {
    if (policy == "none")
      return;
    if (failed(requireCosts(getOperation())))
      return signalPassFailure();
    FailureOr<MemoryWishes> wishes = readWishes(getOperation(), policy, checkpoints.value, budget);
    if (failed(wishes))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto list = function->getAttrOfType<StringAttr>(kListAttr);
          list && list.getValue() == kMicroBatchList && failed(rematerialize(function, *wishes)))
        return signalPassFailure();
  }

  LogicalResult rematerialize(func::FuncOp function, const MemoryWishes &wishes) {
    PlanMemoryOptions memory;
    memory.reserve = reserve;
    std::vector<StepCandidate> candidates;
    addCandidates(getOperation(), function, /*microBatches=*/1, /*lean=*/false, /*scarce=*/false,
                  memory, candidates);
    FailureOr<StepDecision> decision = choose(function, candidates, wishes, missed);
    if (failed(decision))
      return failure();
    applyRematerialization(candidates.front().plans.function(), decision->plan);
    return success();
  }
};

} // namespace

std::string ignoredByPolicy(StringRef policy, bool budget, bool checkpoints) {
  if (budget && policy != "budget")
    return "budget= has no effect with policy=" + policy.str() + ": say policy=budget";
  if (checkpoints && policy != "checkpoints")
    return "checkpoints= has no effect with policy=" + policy.str() + ": say policy=checkpoints";
  return "";
}

bool missedBudget(Pass *pass) {
  if (pass->getTypeID() == TypeID::get<PlanStepPass>())
    return static_cast<PlanStepPass *>(pass)->missed;
  return pass->getTypeID() == TypeID::get<RematerializePass>() &&
         static_cast<RematerializePass *>(pass)->missed;
}

} // namespace gc
