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
//   %lr = gc.read @learning_rate
//   %c = gc.optimizer_coefficients %g, %lr mode = adam {...}
//   gc.adam @w moments @w.exp_avg, @w.exp_avg_sq, %dw, %c {...}
//   gc.advance @generator
//   return %loss
// With clip-norm the coefficients wait for %s = gc.square_sum of every gradient, and the updates
// for them. With ema each update has an average @w.ema, which @evaluate reads in place of @w.
//
//===----------------------------------------------------------------------===//
#include "passes/Optimizer.h"
#include "passes/FactoredVariance.h"
#include "passes/ModelFunction.h"
#include "passes/ParameterGroups.h"
#include "passes/Passes.h"
#include "passes/StateVariables.h"
#include "passes/UpdateForm.h"
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
          const ParameterGroups &groups, bool keepGradients)
      : module(module), variables(module), train(train), settings(settings.withDefaults()),
        groups(groups), keepGradients(keepGradients), builder(module.getContext()),
        form(updateFormOf(this->settings, builder)) {}

  LogicalResult build() {
    SmallVector<GradientOp> gradients(train.getOps<GradientOp>());
    if (gradients.empty())
      return train.emitOpError("has no gradients: run --gc-autodiff first");
    if (failed(checkGroups(gradients)) || failed(findGenerator()) || failed(addSchedule()))
      return failure();
    collectReads();
    addCoefficients(sumSquares(gradients));
    for (GradientOp gradient : gradients)
      if (failed(update(gradient)))
        return failure();
    // What they need is wanted where the first update is, not before.
    for (Operation *op : {coefficients->getOperand(0).getDefiningOp(),
                          coefficients->getOperand(1).getDefiningOp(), coefficients})
      op->moveBefore(firstUpdate);
    if (train.getOps<AdvanceOp>().empty()) {
      builder.setInsertionPoint(train.getBody().front().getTerminator());
      AdvanceOp::create(builder, train.getLoc(), symbol(generator.getSymName()), IntegerAttr());
    }
    evaluateAverages();
    return success();
  }

private:
  FlatSymbolRefAttr symbol(StringRef name) {
    return FlatSymbolRefAttr::get(module.getContext(), name);
  }
  FloatAttr f32(double value) { return builder.getF32FloatAttr(static_cast<float>(value)); }
  Value read(StateOp state) {
    return ReadOp::create(builder, train.getLoc(), state.getType(), symbol(state.getSymName()));
  }

  LogicalResult checkGroups(ArrayRef<GradientOp> gradients) {
    std::vector<std::string> names;
    for (GradientOp gradient : gradients)
      names.push_back(gradient.getParameter().str());
    if (std::string wrong = groups.fault(names); !wrong.empty())
      return module.emitError("optimizer: ") << wrong;
    return success();
  }

  LogicalResult findGenerator() {
    for (auto state : module.getOps<StateOp>()) {
      if (state.getRole() != StateRole::Generator)
        continue;
      if (generator)
        return state.emitOpError("is a second generator: a module counts its steps in one");
      generator = state;
    }
    if (generator)
      return success();
    auto type = RankedTensorType::get({2}, builder.getI64Type());
    return keep(generator, "generator", StateRole::Generator, type);
  }

  // Until somebody sets another one, the learning rate of every step is that of the settings.
  LogicalResult addSchedule() {
    auto type = RankedTensorType::get({kScheduledSteps}, builder.getF32Type());
    return keep(schedule, "learning_rate", StateRole::Schedule, type, *settings.lr);
  }

  LogicalResult keep(StateOp &target, StringRef name, StateRole role, RankedTensorType type,
                     double value = 0) {
    FailureOr<StateOp> state = variables.add(train.getLoc(), name, role, type, value);
    if (succeeded(state))
      target = *state;
    return state;
  }

  // Of all gradients, each taken up when it is finished; null where nobody asks.
  Value sumSquares(ArrayRef<GradientOp> gradients) {
    Value sum;
    for (GradientOp gradient : gradients) {
      if (!settings.clipNorm)
        return {};
      builder.setInsertionPointAfter(gradient);
      auto type = RankedTensorType::get({2}, builder.getF32Type());
      sum = SquareSumOp::create(builder, gradient.getLoc(), type, gradient.getGradient(), sum);
    }
    return sum;
  }

  // After the squares, which are there at the end; moved to the first update later.
  void addCoefficients(Value squares) {
    Block &body = train.getBody().front();
    if (squares)
      builder.setInsertionPoint(body.getTerminator());
    else
      builder.setInsertionPointToStart(&body);
    Value counter = read(generator), rates = read(schedule);
    coefficients = CoefficientsOp::create(
        builder, train.getLoc(), RankedTensorType::get({kCoefficients}, builder.getF32Type()),
        counter, rates, squares, CoefficientsModeAttr::get(module.getContext(), form.mode),
        f32(form.beta1), f32(form.beta2), squares ? f32(*settings.clipNorm) : FloatAttr());
  }

  void collectReads() {
    for (auto read : train.getOps<ReadOp>())
      reads[read.getVariableAttr().getAttr()].push_back(read.getValue());
  }

  // A read is the variable itself, so the update comes after the last op that reads it, also
  // through views; and after the coefficients, where those wait for all gradients.
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
    return settings.clipNorm ? train.getBody().front().getTerminator()->getPrevNode() : last;
  }

  LogicalResult update(GradientOp gradient) {
    FailureOr<Operation *> last = lastUse(gradient);
    if (failed(last))
      return failure();
    auto parameter = variables.parameter(gradient.getParameterAttr().getAttr());
    auto type = cast<RankedTensorType>(gradient.getGradient().getType());
    std::string name = parameter.getSymName().str();
    OperationState op(gradient.getLoc(), form.op);
    op.addOperands({gradient.getGradient(), coefficients->getResult(0)});
    op.addAttribute("parameter", gradient.getParameterAttr());
    auto addState = [&](StringRef attribute, StringRef suffix) -> LogicalResult {
      FailureOr<StateOp> state =
          variables.add(parameter.getLoc(), name + suffix, StateRole::Optimizer, type);
      if (succeeded(state))
        op.addAttribute(attribute, symbol(state->getSymName()));
      return state;
    };
    for (const UpdateForm::State &state : form.states)
      if (failed(addState(state.attribute, state.suffix)))
        return failure();
    if (settings.ema && failed(addState("average", kAverageSuffix)))
      return failure();
    SmallVector<NamedAttribute> numbers(form.numbers), ratioNumbers;
    if (settings.clipValue)
      numbers.push_back(builder.getNamedAttr("clip_value", f32(*settings.clipValue)));
    ratioNumbers = numbers;
    numbers.push_back(
        builder.getNamedAttr("weight_decay", f32(groups.decays(name) ? *settings.weightDecay : 0)));
    if (form.ratioDecays)
      ratioNumbers.push_back(numbers.back());
    op.addAttributes(numbers);
    op.addAttribute("lr_scale", f32(groups.lrScale(name)));
    if (settings.ema)
      op.addAttribute("average_decay", f32(*settings.ema));
    builder.setInsertionPointAfter(*last);
    SmallVector<Value> variance;
    if (form.isFactored) {
      FailureOr<SmallVector<Value>> added =
          addFactoredVariance(builder, variables, parameter, gradient.getGradient(),
                              coefficients->getResult(0), settings.clipValue);
      if (failed(added))
        return failure();
      variance = *added;
    }
    if (!form.ratio.empty())
      op.addOperands(addRatio(op, ratioNumbers, variance));
    op.addOperands(variance);
    builder.create(op);
    Operation *first = (*last)->getNextNode();
    if (!firstUpdate || first->isBeforeInBlock(firstUpdate))
      firstUpdate = first;
    if (!keepGradients)
      gradient.erase();
    return success();
  }

  // What the update `op` is scaled by, of gradient, parameter and states as they are before it, and
  // of the variance.
  Value addRatio(const OperationState &op, ArrayRef<NamedAttribute> numbers,
                 ArrayRef<Value> variance) {
    OperationState ratio(op.location, form.ratio);
    ratio.addOperands(op.operands);
    auto type = cast<RankedTensorType>(op.operands.front().getType());
    auto readVariable = [&](StringRef attribute) {
      auto variable = cast<FlatSymbolRefAttr>(op.attributes.get(attribute));
      ratio.addOperands(ReadOp::create(builder, op.location, type, variable).getResult());
    };
    readVariable("parameter");
    for (const UpdateForm::State &state : form.states)
      readVariable(state.attribute);
    ratio.addOperands(variance);
    ratio.addAttributes(numbers);
    ratio.addTypes(RankedTensorType::get({1}, builder.getF32Type()));
    return builder.create(ratio)->getResult(0);
  }

  // Parameters without an update have no average and are read themselves.
  void evaluateAverages() {
    for (auto function : module.getOps<func::FuncOp>()) {
      auto list = function->getAttrOfType<StringAttr>(kListAttr);
      if (!settings.ema || !list || list.getValue() != kEvaluateList)
        continue;
      SymbolTable symbols(module);
      for (auto read : function.getOps<ReadOp>()) {
        std::string average = (read.getVariable() + kAverageSuffix).str();
        if (isa<ParameterOp>(symbols.lookup(read.getVariable())) && symbols.lookup(average))
          read.setVariable(average);
      }
    }
  }

  static constexpr StringLiteral kAverageSuffix = ".ema";

  ModuleOp module;
  StateVariables variables;
  func::FuncOp train;
  OptimizerSettings settings; // all that this optimizer has
  const ParameterGroups &groups;
  bool keepGradients;
  OpBuilder builder;
  UpdateForm form;
  StateOp generator, schedule;
  Operation *coefficients = nullptr, *firstUpdate = nullptr;
  DenseMap<StringAttr, SmallVector<Value>> reads;
};

struct OptimizerPass : impl::OptimizerPassBase<OptimizerPass> {
  using OptimizerPassBase::OptimizerPassBase;
  // For settingsOf.
  using OptimizerPassBase::alpha, OptimizerPassBase::beta1, OptimizerPassBase::beta2,
      OptimizerPassBase::beta2Decay, OptimizerPassBase::centered, OptimizerPassBase::clipNorm,
      OptimizerPassBase::clipUpdate, OptimizerPassBase::clipValue, OptimizerPassBase::dampening,
      OptimizerPassBase::ema, OptimizerPassBase::epsilon, OptimizerPassBase::epsilon2,
      OptimizerPassBase::lr, OptimizerPassBase::lrScale, OptimizerPassBase::momentum,
      OptimizerPassBase::nesterov, OptimizerPassBase::noDecay, OptimizerPassBase::weightDecay;
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
  options.beta2Decay = settings.beta2Decay;
  options.epsilon2 = settings.epsilon2;
  options.clipUpdate = settings.clipUpdate;
  options.alpha = settings.alpha;
  options.centered = settings.centered;
  options.clipNorm = settings.clipNorm;
  options.clipValue = settings.clipValue;
  options.noDecay = settings.noDecay;
  options.lrScale = settings.lrScale;
  options.ema = settings.ema;
  options.keepGradients = keepGradients;
  return createOptimizerPass(options);
}

LogicalResult addOptimizer(ModuleOp module, const OptimizerSettings &settings, bool keepGradients) {
  std::string wrong = settings.check(/*prefix=*/"", /*nameOption=*/"kind");
  if (!wrong.empty())
    return module.emitError("optimizer: ") << wrong;
  llvm::Expected<ParameterGroups> groups =
      ParameterGroups::parse(settings.noDecay, settings.lrScale);
  if (!groups)
    return module.emitError("optimizer: ") << llvm::toString(groups.takeError());
  FailureOr<func::FuncOp> train = findList(module, kMicroBatchList, "--gc-autodiff");
  if (failed(train))
    return failure();
  return Updates(module, *train, settings, *groups, keepGradients).build();
}

} // namespace gc
