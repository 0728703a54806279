//===- Optimizer.cpp - from gradients to updates --------------------------===//
//
// Before:
//   %dw = gc.linear_grad_weight %x, %dy
//   gc.gradient @w, %dw
//   %dx = gc.linear_grad_input %dy, %w
//   return %loss
// After (kind=adam):
//   %dw = gc.linear_grad_weight %x, %dy
//   %dx = gc.linear_grad_input %dy, %w      // the last use of @w's value
//   %g = gc.read @generator
//   %c = gc.optimizer_coefficients %g mode = adam {...}
//   gc.adam @w moments @w.exp_avg, @w.exp_avg_sq, %dw, %c {...}
//   gc.advance @generator
//   return %loss
//
//===----------------------------------------------------------------------===//
#include "passes/Optimizer.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include "passes/StateVariables.h"
#include "passes/analysis/Dependence.h"

namespace gc {
#define GEN_PASS_DEF_OPTIMIZERPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {

namespace {

class Updates {
public:
  Updates(ModuleOp module, func::FuncOp train, const OptimizerSettings &settings,
          bool keepGradients)
      : module(module), variables(module), train(train), settings(settings.withDefaults()),
        keepGradients(keepGradients), builder(module.getContext()) {}

  LogicalResult build() {
    SmallVector<GradientOp> gradients(train.getOps<GradientOp>());
    if (gradients.empty())
      return train.emitOpError("has no gradients: run --gc-autodiff first");
    bool needsCoefficients = !isSgd() || *settings.momentum != 0;
    if (failed(findGenerator()))
      return failure();
    if (needsCoefficients && failed(addCoefficients()))
      return failure();
    collectReads();
    for (GradientOp gradient : gradients)
      if (failed(update(gradient)))
        return failure();
    // The coefficients are wanted where the first update is, not before the forward pass.
    if (coefficients) {
      coefficients.getDefiningOp()->moveBefore(firstUpdate);
      coefficients.getDefiningOp()->getOperand(0).getDefiningOp()->moveBefore(
          coefficients.getDefiningOp());
    }
    if (generator && train.getOps<AdvanceOp>().empty()) {
      builder.setInsertionPoint(train.getBody().front().getTerminator());
      AdvanceOp::create(builder, train.getLoc(), symbol(generator.getSymName()), IntegerAttr());
    }
    return success();
  }

private:
  bool isSgd() const { return settings.name == "sgd"; }
  FlatSymbolRefAttr symbol(StringRef name) {
    return FlatSymbolRefAttr::get(module.getContext(), name);
  }
  FloatAttr f32(double value) { return builder.getF32FloatAttr(static_cast<float>(value)); }

  LogicalResult findGenerator() {
    for (auto state : module.getOps<StateOp>()) {
      if (state.getRole() != StateRole::Generator)
        continue;
      if (generator)
        return state.emitOpError("is a second generator: a module counts its steps in one");
      generator = state;
    }
    return success();
  }

  LogicalResult addCoefficients() {
    if (!generator) {
      auto type = RankedTensorType::get({2}, builder.getI64Type());
      FailureOr<StateOp> state =
          variables.add(train.getLoc(), "generator", StateRole::Generator, type);
      if (failed(state))
        return failure();
      generator = *state;
    }
    builder.setInsertionPointToStart(&train.getBody().front());
    Value read = ReadOp::create(builder, train.getLoc(), generator.getType(),
                                symbol(generator.getSymName()));
    bool sgd = isSgd();
    coefficients = CoefficientsOp::create(
        builder, train.getLoc(), RankedTensorType::get({2}, builder.getF32Type()), read,
        CoefficientsModeAttr::get(module.getContext(),
                                  sgd ? CoefficientsMode::Momentum : CoefficientsMode::Adam),
        f32(settings.lr), f32(sgd ? *settings.momentum : *settings.beta1),
        f32(sgd ? *settings.dampening : *settings.beta2));
    return success();
  }

  void collectReads() {
    for (auto read : train.getOps<ReadOp>())
      reads[read.getVariableAttr().getAttr()].push_back(read.getValue());
  }

  // A read is the variable itself, so the update comes after the last op that reads it, also
  // through views.
  FailureOr<Operation *> lastUse(GradientOp gradient) {
    Operation *last = gradient;
    SmallVector<Value> values = reads.lookup(gradient.getParameterAttr().getAttr());
    while (!values.empty()) {
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (user->hasTrait<OpTrait::IsTerminator>())
          return user->emitOpError("returns the value of parameter '")
                 << gradient.getParameter()
                 << "', which the update changes; return a copy (for instance gc.scale by 1)";
        if (last->isBeforeInBlock(user))
          last = user;
        if (isView(user))
          values.append(user->result_begin(), user->result_end());
      }
    }
    return last;
  }

  LogicalResult update(GradientOp gradient) {
    FailureOr<Operation *> last = lastUse(gradient);
    if (failed(last))
      return failure();
    auto parameter = variables.parameter(gradient.getParameterAttr().getAttr());
    auto type = cast<RankedTensorType>(gradient.getGradient().getType());
    std::string name = parameter.getSymName().str();
    auto state = [&](StringRef suffix) -> FailureOr<FlatSymbolRefAttr> {
      FailureOr<StateOp> op =
          variables.add(parameter.getLoc(), name + suffix, StateRole::Optimizer, type);
      if (failed(op))
        return failure();
      return symbol(op->getSymName());
    };
    Operation *update;
    if (isSgd()) {
      FlatSymbolRefAttr velocity;
      if (coefficients) {
        FailureOr<FlatSymbolRefAttr> added = state(".velocity");
        if (failed(added))
          return failure();
        velocity = *added;
      }
      builder.setInsertionPointAfter(*last);
      update = SgdOp::create(builder, gradient.getLoc(), gradient.getParameterAttr(), velocity,
                             gradient.getGradient(), coefficients, f32(settings.lr),
                             f32(*settings.momentum), f32(*settings.dampening),
                             f32(*settings.weightDecay), builder.getBoolAttr(settings.nesterov));
    } else {
      FailureOr<FlatSymbolRefAttr> first = state(".exp_avg");
      if (failed(first))
        return failure();
      FailureOr<FlatSymbolRefAttr> second = state(".exp_avg_sq");
      if (failed(second))
        return failure();
      builder.setInsertionPointAfter(*last);
      auto create = [&](auto op) -> Operation * {
        return decltype(op)::create(builder, gradient.getLoc(), gradient.getParameterAttr(), *first,
                                    *second, gradient.getGradient(), coefficients, f32(settings.lr),
                                    f32(*settings.beta1), f32(*settings.beta2),
                                    f32(*settings.epsilon), f32(*settings.weightDecay));
      };
      update = settings.name == "adam" ? create(AdamOp()) : create(AdamWOp());
    }
    if (!firstUpdate || update->isBeforeInBlock(firstUpdate))
      firstUpdate = update;
    if (!keepGradients)
      gradient.erase();
    return success();
  }

  ModuleOp module;
  StateVariables variables;
  func::FuncOp train;
  OptimizerSettings settings; // all that this optimizer has
  bool keepGradients;
  OpBuilder builder;
  StateOp generator;
  Value coefficients;
  Operation *firstUpdate = nullptr;
  DenseMap<StringAttr, SmallVector<Value>> reads;
};

struct OptimizerPass : impl::OptimizerPassBase<OptimizerPass> {
  using OptimizerPassBase::OptimizerPassBase;
  // For settingsOf.
  using OptimizerPassBase::beta1, OptimizerPassBase::beta2, OptimizerPassBase::dampening,
      OptimizerPassBase::epsilon, OptimizerPassBase::lr, OptimizerPassBase::momentum,
      OptimizerPassBase::nesterov, OptimizerPassBase::weightDecay;
  void runOnOperation() override {
    if (failed(addOptimizer(getOperation(), settingsOf(kind, *this), keepGradients)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createOptimizerPass(const OptimizerSettings &settings, bool keepGradients) {
  // By the pass's own options, so that a printed pipeline tells them.
  OptimizerPassOptions options;
  options.kind = settings.name;
  options.lr = settings.lr;
  options.momentum = settings.momentum;
  options.dampening = settings.dampening;
  options.nesterov = settings.nesterov;
  options.weightDecay = settings.weightDecay;
  options.beta1 = settings.beta1;
  options.beta2 = settings.beta2;
  options.epsilon = settings.epsilon;
  options.keepGradients = keepGradients;
  return createOptimizerPass(options);
}

LogicalResult addOptimizer(ModuleOp module, const OptimizerSettings &settings, bool keepGradients) {
  std::string wrong = settings.check(/*prefix=*/"", /*nameOption=*/"kind");
  if (!wrong.empty())
    return module.emitError("optimizer: ") << wrong;
  FailureOr<func::FuncOp> train = findList(module, kMicroBatchList, "--gc-autodiff");
  if (failed(train))
    return failure();
  return Updates(module, *train, settings, keepGradients).build();
}

} // namespace gc
