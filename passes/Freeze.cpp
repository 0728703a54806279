//===- Freeze.cpp - parameters that are not trained -----------------------===//
//
// Before:
//   gc.parameter @"bn1.weight" : ...
//   gc.parameter @"fc.weight" : ...
//   func.func @model(...) {
//     %y, %mean, %rstd = gc.batch_norm %x, %w, %b {epsilon = 1.0e-5}
//     gc.running_stats @m, @v, %mean, %rstd {...}
// After (names=bn1.* norms):
//   gc.parameter @"bn1.weight" : ... {gc.frozen}
//   gc.parameter @"fc.weight" : ...
//   func.func @model(...) {
//     %mean = gc.read @m
//     %rstd = gc.inverse_deviation (gc.read @v) {epsilon = 1.0e-5}
//     %y = gc.normalize %x, %mean, %rstd, %w, %b
//
//===----------------------------------------------------------------------===//
#include "passes/Freeze.h"
#include "dialects/Gc.h"
#include "passes/ModelFunction.h"
#include "passes/NamePatterns.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_FREEZEPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

// Whether `value` is that of a frozen parameter.
bool isFrozen(Value value, const SymbolTable &symbols) {
  auto read = value.getDefiningOp<ReadOp>();
  auto parameter =
      read ? symbols.lookup<ParameterOp>(read.getVariableAttr().getAttr()) : ParameterOp();
  return parameter && parameter->hasAttr(kFrozenAttr);
}

// Sets the marks of all parameters.
LogicalResult mark(ModuleOp module, const FreezeWish &wish) {
  bool only = !wish.trainOnly.empty();
  llvm::Expected<NamePatterns> patterns = NamePatterns::parse(only ? wish.trainOnly : wish.names);
  if (!patterns)
    return module.emitError(only ? "train-only: " : "freeze: ")
           << llvm::toString(patterns.takeError());
  std::vector<std::string> names;
  for (auto parameter : module.getOps<ParameterOp>())
    names.push_back(parameter.getSymName().str());
  if (std::string fault = patterns->fault(names); !fault.empty())
    return module.emitError(only ? "train-only: " : "freeze: ") << fault;

  auto unit = UnitAttr::get(module.getContext());
  bool trains = false, marks = false;
  for (auto parameter : module.getOps<ParameterOp>()) {
    bool matches = patterns->match(parameter.getSymName());
    if (only && matches)
      parameter->removeAttr(kFrozenAttr);
    else if (only || matches)
      parameter->setAttr(kFrozenAttr, unit);
    (parameter->hasAttr(kFrozenAttr) ? marks : trains) = true;
  }
  if (only && !marks)
    return module.emitError("train-only: '")
           << wish.trainOnly << "' matches every parameter: nothing is frozen";
  if (!trains)
    return module.emitError("freeze: every parameter is frozen, and nothing is left to train");
  return success();
}

// Gives the batch norms whose weight and bias are frozen the form that they have in inference mode.
LogicalResult fixNorms(ModuleOp module) {
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model))
    return failure();
  SymbolTable symbols(module);
  bool any = false;
  for (auto stats : llvm::make_early_inc_range(model->getOps<RunningStatsOp>())) {
    auto norm = stats.getMean().getDefiningOp<BatchNormOp>();
    if (!norm || !isFrozen(norm.getWeight(), symbols) || !isFrozen(norm.getBias(), symbols))
      continue;
    if (failed(cast<InferenceOpInterface>(*stats).toInference()))
      return failure();
    any = true;
  }
  if (!any)
    return module.emitError("freeze-norms has no effect: no batch norm with running statistics has "
                            "both its weight and its bias frozen");
  return success();
}

struct FreezePass : impl::FreezePassBase<FreezePass> {
  using FreezePassBase::FreezePassBase;
  void runOnOperation() override {
    FreezeWish wish{names, trainOnly, norms};
    std::string wrong = wish.check("names", "train-only");
    if (!wish.any())
      wrong = "nothing is said to be frozen: give names, train-only or norms";
    if (!wrong.empty())
      getOperation().emitError("freeze: ") << wrong;
    if (!wrong.empty() || failed(freeze(getOperation(), wish)))
      signalPassFailure();
  }
};

} // namespace

std::string FreezeWish::check(std::string_view namesOption,
                              std::string_view trainOnlyOption) const {
  if (!names.empty() && !trainOnly.empty())
    return std::string(namesOption)
        .append(" and ")
        .append(trainOnlyOption)
        .append(" exclude each other: each says by itself what is trained");
  return {};
}

LogicalResult freeze(ModuleOp module, const FreezeWish &wish) {
  if ((!wish.names.empty() || !wish.trainOnly.empty()) && failed(mark(module, wish)))
    return failure();
  return wish.norms ? fixNorms(module) : success();
}

} // namespace gc
