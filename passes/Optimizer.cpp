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
//   %c = gc.optimizer_coefficients %g {mode = "adam", ...}
//   gc.adam @w moments @w.exp_avg, @w.exp_avg_sq, %dw, %c {...}
//   gc.advance @generator
//   return %loss
//
//===----------------------------------------------------------------------===//
#include "passes/Optimizer.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include <cmath>

namespace gc {
#define GEN_PASS_DEF_OPTIMIZERPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {

std::string checkOptimizer(const OptimizerOptions &options) {
  const std::string &kind = options.kind;
  if (kind != "sgd" && kind != "adam" && kind != "adamw")
    return "unknown optimizer '" + kind + "', expected sgd, adam or adamw";
  bool sgd = kind == "sgd";
  auto notNegative = [](double value) { return std::isfinite(value) && value >= 0; };
  auto fraction = [](double value) { return value >= 0 && value < 1; };
  if (!notNegative(options.lr))
    return "the learning rate (lr) must not be negative";
  if (!notNegative(options.weightDecay.value_or(0)))
    return "weight decay must not be negative";
  if (!sgd && (options.momentum || options.dampening || options.nesterov))
    return "momentum, dampening and nesterov belong to sgd; " + kind + " has beta1 and beta2";
  if (sgd && (options.beta1 || options.beta2 || options.epsilon))
    return "beta1, beta2 and epsilon belong to adam and adamw; sgd has momentum";
  if (!notNegative(options.momentum.value_or(0)))
    return "momentum must not be negative";
  if (!std::isfinite(options.dampening.value_or(0)))
    return "dampening must be a number";
  if (options.nesterov && (options.momentum.value_or(0) == 0 || options.dampening.value_or(0) != 0))
    return "nesterov needs a momentum above 0 and no dampening";
  if (!fraction(options.beta1.value_or(0)) || !fraction(options.beta2.value_or(0)))
    return "beta1 and beta2 must be in [0, 1)";
  if (!notNegative(options.epsilon.value_or(0)))
    return "epsilon must not be negative";
  return {};
}

namespace {

class Updates {
public:
  Updates(ModuleOp module, func::FuncOp train, const OptimizerOptions &options)
      : module(module), train(train), options(options), builder(module.getContext()) {}

  LogicalResult build() {
    SmallVector<GradientOp> gradients(train.getOps<GradientOp>());
    if (gradients.empty())
      return train.emitOpError("has no gradients: run --gc-autodiff first");
    bool momentum = options.momentum.value_or(0) != 0;
    if (failed(findGenerator()))
      return failure();
    if ((options.kind != "sgd" || momentum) && failed(addCoefficients()))
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
  FlatSymbolRefAttr symbol(StringRef name) {
    return FlatSymbolRefAttr::get(module.getContext(), name);
  }
  FloatAttr f32(double value) { return builder.getF32FloatAttr(static_cast<float>(value)); }

  // Adds a state variable below the variables that are there.
  FailureOr<StateOp> addState(Location loc, const Twine &name, StateRole role,
                              RankedTensorType type) {
    std::string text = name.str();
    if (failed(requireFreeName(module, text)))
      return failure();
    Operation *last = nullptr;
    for (Operation &op : *module.getBody())
      if (isa<ParameterOp, StateOp>(op))
        last = &op;
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(module.getBody());
    auto init =
        InitAttr::get(module.getContext(), InitKind::Constant, builder.getDenseF64ArrayAttr({0.0}));
    return StateOp::create(builder, loc, builder.getStringAttr(text),
                           StateRoleAttr::get(module.getContext(), role), TypeAttr::get(type),
                           init);
  }

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
      FailureOr<StateOp> state = addState(train.getLoc(), "generator", StateRole::Generator, type);
      if (failed(state))
        return failure();
      generator = *state;
    }
    builder.setInsertionPointToStart(&train.getBody().front());
    Value read = ReadOp::create(builder, train.getLoc(), generator.getType(),
                                symbol(generator.getSymName()));
    bool sgd = options.kind == "sgd";
    coefficients = CoefficientsOp::create(
        builder, train.getLoc(), RankedTensorType::get({2}, builder.getF32Type()), read,
        builder.getStringAttr(sgd ? "momentum" : "adam"), f32(options.lr),
        f32(sgd ? *options.momentum : options.beta1.value_or(0.9)),
        f32(sgd ? options.dampening.value_or(0) : options.beta2.value_or(0.999)));
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
        auto view = dyn_cast<InPlaceOpInterface>(user);
        if (view && view.isView())
          values.append(user->result_begin(), user->result_end());
      }
    }
    return last;
  }

  LogicalResult update(GradientOp gradient) {
    FailureOr<Operation *> last = lastUse(gradient);
    if (failed(last))
      return failure();
    auto parameter = module.lookupSymbol<ParameterOp>(gradient.getParameterAttr());
    auto type = cast<RankedTensorType>(gradient.getGradient().getType());
    std::string name = parameter.getSymName().str();
    auto state = [&](StringRef suffix) -> FailureOr<FlatSymbolRefAttr> {
      FailureOr<StateOp> op =
          addState(parameter.getLoc(), name + suffix, StateRole::Optimizer, type);
      if (failed(op))
        return failure();
      return symbol(op->getSymName());
    };
    Operation *update;
    if (options.kind == "sgd") {
      FlatSymbolRefAttr velocity;
      if (coefficients) {
        FailureOr<FlatSymbolRefAttr> added = state(".velocity");
        if (failed(added))
          return failure();
        velocity = *added;
      }
      builder.setInsertionPointAfter(*last);
      update = SgdOp::create(builder, gradient.getLoc(), gradient.getParameterAttr(), velocity,
                             gradient.getGradient(), coefficients, f32(options.lr),
                             f32(options.momentum.value_or(0)), f32(options.dampening.value_or(0)),
                             f32(options.weightDecay.value_or(0)),
                             builder.getBoolAttr(options.nesterov));
    } else {
      FailureOr<FlatSymbolRefAttr> first = state(".exp_avg");
      if (failed(first))
        return failure();
      FailureOr<FlatSymbolRefAttr> second = state(".exp_avg_sq");
      if (failed(second))
        return failure();
      builder.setInsertionPointAfter(*last);
      auto create = [&](auto op, double decay) -> Operation * {
        return decltype(op)::create(
            builder, gradient.getLoc(), gradient.getParameterAttr(), *first, *second,
            gradient.getGradient(), coefficients, f32(options.lr), f32(options.beta1.value_or(0.9)),
            f32(options.beta2.value_or(0.999)), f32(options.epsilon.value_or(1e-8)),
            f32(options.weightDecay.value_or(decay)));
      };
      update = options.kind == "adam" ? create(AdamOp(), 0.0) : create(AdamWOp(), 0.01);
    }
    if (!firstUpdate || update->isBeforeInBlock(firstUpdate))
      firstUpdate = update;
    if (!options.keepGradients)
      gradient.erase();
    return success();
  }

  ModuleOp module;
  func::FuncOp train;
  const OptimizerOptions &options;
  OpBuilder builder;
  StateOp generator;
  Value coefficients;
  Operation *firstUpdate = nullptr;
  DenseMap<StringAttr, SmallVector<Value>> reads;
};

struct OptimizerPass : impl::OptimizerPassBase<OptimizerPass> {
  using OptimizerPassBase::OptimizerPassBase;
  explicit OptimizerPass(const OptimizerOptions &options) : fixed(options) {}
  void runOnOperation() override {
    if (failed(addOptimizer(getOperation(), fixed ? *fixed : fromFlags())))
      signalPassFailure();
  }
  OptimizerOptions fromFlags() {
    auto given = [](const Option<double> &option) {
      return option.hasValue() ? std::optional<double>(option) : std::nullopt;
    };
    OptimizerOptions options;
    options.kind = kind;
    options.lr = lr;
    options.momentum = given(momentum);
    options.dampening = given(dampening);
    options.nesterov = nesterov;
    options.weightDecay = given(weightDecay);
    options.beta1 = given(beta1);
    options.beta2 = given(beta2);
    options.epsilon = given(epsilon);
    options.keepGradients = keepGradients;
    return options;
  }
  std::optional<OptimizerOptions> fixed;
};

} // namespace

std::unique_ptr<Pass> createOptimizerPass(const OptimizerOptions &options) {
  return std::make_unique<OptimizerPass>(options);
}

LogicalResult addOptimizer(ModuleOp module, const OptimizerOptions &options) {
  std::string wrong = checkOptimizer(options);
  if (!wrong.empty())
    return module.emitError("optimizer: ") << wrong;
  FailureOr<func::FuncOp> train = findList(module, kMicroBatchList, "--gc-autodiff");
  if (failed(train))
    return failure();
  return Updates(module, *train, options).build();
}

} // namespace gc
