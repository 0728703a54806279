//===- Accumulate.cpp - a step in micro-batches ---------------------------===//
//
// Before:
//   func.func @train(%x: tensor<8x4xf32>) attributes {gc.list = "micro_batch"} {
//     %d = gc.gradient_seed {scale = 1.0}
//     %dw = gc.linear_grad_weight %x, %dy : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<3x4xf32>
//     gc.sgd @w, %dw, %c
// After (micro-batches=4):
//   gc.state @w.gradient accumulator : tensor<3x4xf32> = #gc.init<constant, [0.0]>
//   func.func @train(%x: tensor<2x4xf32>) attributes {gc.list = "micro_batch"} {
//     %d = gc.gradient_seed {scale = 0.25}  // times @window_scale: 1 unless a window is short
//     %dw = gc.linear_grad_weight %x, %dy : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<3x4xf32>
//     gc.accumulate @w.gradient, %dw
//   func.func @step() attributes {gc.list = "step"} {
//     %dw = gc.read @w.gradient
//     gc.sgd @w, %dw, %c
//     gc.clear @w.gradient
//
// Where a loss is the mean over the labels of tokens, of which each micro-batch has another number,
// the seed is that of above times `gc.label_count`, and @label_count adds up the seeds; in @step
// the gradients are divided by it. So every label weighs the same, as in one large batch.
//
//===----------------------------------------------------------------------===//
#include "passes/Accumulate.h"
#include "dialects/Gc.h"
#include "dialects/OpName.h"
#include "mlir/IR/IRMapping.h"
#include "passes/BatchSplit.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include "passes/StateVariables.h"

namespace gc {
#define GEN_PASS_DEF_ACCUMULATEPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

class Accumulation {
public:
  Accumulation(ModuleOp module, func::FuncOp train, int64_t microBatches)
      : module(module), variables(module), train(train), microBatches(microBatches),
        builder(module.getContext()) {}

  LogicalResult build() {
    SmallVector<UpdateOpInterface> updates(train.getOps<UpdateOpInterface>());
    for (UpdateOpInterface update : updates)
      if (isa<AccumulateOp, ClearOp>(update))
        return update->emitOpError("is there already: --gc-accumulate runs once");
    if (updates.empty())
      return train.emitOpError("has no updates: run --gc-optimizer first");
    if (failed(createStep()))
      return failure();
    if (CrossEntropyOp loss = lossOfTokens(); loss && failed(countLabels(loss)))
      return failure();
    for (UpdateOpInterface update : updates)
      if (isa<OptimizerOpInterface>(update.getOperation()) && failed(addAccumulatorOf(update)))
        return failure();
    for (UpdateOpInterface update : updates)
      if (failed(isa<OptimizerOpInterface>(update.getOperation()) ? moveUpdate(update)
                                                                  : moveChange(update)))
        return failure();
    for (auto advance : llvm::make_early_inc_range(train.getOps<AdvanceOp>()))
      advance->moveBefore(step.getBody().front().getTerminator());
    // Ops whose results only updates read move to @step with them.
    for (Operation *op : llvm::reverse(cloned))
      if (op->use_empty())
        op->erase();
    if (failed(scaleSeeds()))
      return failure();
    if (failed(countMicroBatches()))
      return failure();
    return split();
  }

private:
  FlatSymbolRefAttr symbol(StringRef name) {
    return FlatSymbolRefAttr::get(module.getContext(), name);
  }

  FailureOr<FlatSymbolRefAttr> addAccumulator(Location loc, StringRef name, RankedTensorType type,
                                              double value = 0) {
    if (failed(variables.add(loc, name, StateRole::Accumulator, type, value)))
      return failure();
    return symbol(name);
  }

  LogicalResult createStep() {
    if (failed(requireFreeName(SymbolTable(module), "step")))
      return failure();
    builder.setInsertionPointAfter(train);
    step = func::FuncOp::create(builder, train.getLoc(), "step", builder.getFunctionType({}, {}));
    step->setAttr(kListAttr, builder.getStringAttr(kStepList));
    builder.setInsertionPointToStart(step.addEntryBlock());
    func::ReturnOp::create(builder, train.getLoc());
    return success();
  }

  // Clones the ops that compute `value` into @step. They must depend on variables and on gradients
  // alone, which there are what the accumulators hold.
  LogicalResult computeInStep(Operation *user, Value value) {
    if (inStep.contains(value))
      return success();
    if (FlatSymbolRefAttr accumulator = accumulators.lookup(value)) {
      inStep.map(value, sumIn(accumulator, value.getType(), user->getLoc()));
      return success();
    }
    Operation *op = value.getDefiningOp();
    if (!op || !(isa<ReadOp>(op) || isMemoryEffectFree(op)))
      return user->emitOpError("needs a value that only a micro-batch has; an update may depend on "
                               "its gradient and on variables");
    for (Value operand : op->getOperands())
      if (failed(computeInStep(user, operand)))
        return failure();
    builder.clone(*op, inStep);
    cloned.push_back(op);
    return success();
  }

  // The loss, where it is a mean over several labels a sample.
  CrossEntropyOp lossOfTokens() {
    Value loss = findLoss(train);
    auto op = loss ? loss.getDefiningOp<CrossEntropyOp>() : CrossEntropyOp();
    bool isOfTokens = op && cast<ShapedType>(op.getLabels().getType()).getRank() > 1;
    return isOfTokens ? op : CrossEntropyOp();
  }

  // Declares @label_count, and has @step make a factor of it; scaleSeeds() adds it up.
  LogicalResult countLabels(CrossEntropyOp loss) {
    auto type = RankedTensorType::get({}, builder.getF32Type());
    auto name = addAccumulator(loss.getLoc(), kLabelCount, type);
    if (failed(name))
      return failure();
    labelCount = *name;
    counted = loss;
    builder.setInsertionPoint(step.getBody().front().getTerminator());
    Value count = ReadOp::create(builder, loss.getLoc(), type, labelCount);
    // Where no micro-batch has a label, all gradients are 0.
    constexpr float noLabel = 1e-6f;
    totalLabels =
        ClampOp::create(builder, loss.getLoc(), type, count, builder.getF32FloatAttr(noLabel),
                        FloatAttr(), builder.getBoolAttr(false));
    ClearOp::create(builder, loss.getLoc(), labelCount, TypeAttr::get(type));
    return success();
  }

  // What an accumulator holds when the window is complete, as a gradient; made in @step.
  Value sumIn(FlatSymbolRefAttr accumulator, Type type, Location loc) {
    Value sum = ReadOp::create(builder, loc, type, accumulator);
    if (!totalLabels)
      return sum;
    Value total = totalLabels;
    if (cast<ShapedType>(type).getRank() > 0)
      total = BroadcastOp::create(builder, loc, type, total, builder.getDenseI64ArrayAttr({}));
    return DivOp::create(builder, loc, type, sum, total);
  }

  FlatSymbolRefAttr accumulatorOf(UpdateOpInterface update) {
    return symbol((update.getVariables().front().getValue() + ".gradient").str());
  }

  LogicalResult addAccumulatorOf(UpdateOpInterface update) {
    Value gradient = update->getOperand(0);
    FailureOr<FlatSymbolRefAttr> accumulator =
        addAccumulator(update.getLoc(), accumulatorOf(update).getValue(),
                       cast<RankedTensorType>(gradient.getType()));
    if (failed(accumulator))
      return failure();
    builder.setInsertionPointAfterValue(gradient);
    AccumulateOp::create(builder, update.getLoc(), *accumulator, gradient);
    accumulators.try_emplace(gradient, *accumulator);
    return success();
  }

  LogicalResult moveUpdate(UpdateOpInterface update) {
    Location loc = update.getLoc();
    FlatSymbolRefAttr parameter = update.getVariables().front();
    FlatSymbolRefAttr accumulator = accumulatorOf(update);
    Value gradient = update->getOperand(0);
    auto type = cast<RankedTensorType>(gradient.getType());
    builder.setInsertionPoint(step.getBody().front().getTerminator());
    for (Value operand : update->getOperands().drop_front())
      if (failed(computeInStep(update, operand)))
        return failure();
    Value sum = sumIn(accumulator, type, loc);
    // The accumulator is empty after the step: a gradient that is to be dumped is a copy.
    for (Operation *user : llvm::make_early_inc_range(gradient.getUsers()))
      if (auto kept = dyn_cast<GradientOp>(user); kept && kept.getParameterAttr() == parameter) {
        Value copy = ScaleOp::create(builder, loc, type, sum, builder.getF32FloatAttr(1.0f));
        kept->moveBefore(step.getBody().front().getTerminator());
        kept->setOperand(0, copy);
      }
    update->moveBefore(step.getBody().front().getTerminator());
    update->setOperand(0, sum);
    for (OpOperand &operand : update->getOpOperands().drop_front())
      operand.set(inStep.lookup(operand.get()));
    ClearOp::create(builder, loc, accumulator, TypeAttr::get(type));
    return success();
  }

  // Of an optimizer's state alone, by what was computed from gradients.
  LogicalResult moveChange(UpdateOpInterface change) {
    builder.setInsertionPoint(step.getBody().front().getTerminator());
    for (Value operand : change->getOperands())
      if (failed(computeInStep(change, operand)))
        return failure();
    change->moveBefore(step.getBody().front().getTerminator());
    for (OpOperand &operand : change->getOpOperands())
      operand.set(inStep.lookup(operand.get()));
    return success();
  }

  // The gradient of each micro-batch counts 1 / K. Where a window is short, at the end of the data,
  // the runtime makes up for the micro-batches that are missing: it sets the scale, which is 1
  // otherwise.
  LogicalResult scaleSeeds() {
    auto type = RankedTensorType::get({}, builder.getF32Type());
    FailureOr<FlatSymbolRefAttr> scale = addAccumulator(train.getLoc(), kWindowScale, type, 1.0);
    if (failed(scale))
      return failure();
    for (auto seed : llvm::make_early_inc_range(train.getOps<GradientSeedOp>())) {
      seed.setScaleAttr(builder.getF32FloatAttr(
          static_cast<float>(seed.getScale().convertToFloat() / microBatches)));
      builder.setInsertionPointAfter(seed);
      Value read = ReadOp::create(builder, seed.getLoc(), type, *scale);
      auto scaled = MulOp::create(builder, seed.getLoc(), type, seed.getResult(), read);
      Value weight = scaled;
      if (counted) {
        int64_t classes = cast<ShapedType>(counted.getLogits().getType()).getDimSize(1);
        Value labels = LabelCountOp::create(builder, seed.getLoc(), type, counted.getLabels(),
                                            builder.getI64IntegerAttr(classes));
        weight = MulOp::create(builder, seed.getLoc(), type, scaled, labels);
        AccumulateOp::create(builder, seed.getLoc(), labelCount, weight);
      }
      seed.getResult().replaceAllUsesExcept(weight, scaled);
    }
    return success();
  }

  // Random ops must know which micro-batch they are in; the count is 0 again after the step.
  LogicalResult countMicroBatches() {
    SmallVector<DropoutOp> random(train.getOps<DropoutOp>());
    if (random.empty())
      return success();
    auto type = RankedTensorType::get({1}, builder.getI64Type());
    FailureOr<FlatSymbolRefAttr> count = addAccumulator(train.getLoc(), "micro_batch", type);
    if (failed(count))
      return failure();
    builder.setInsertionPointToStart(&train.getBody().front());
    Value read = ReadOp::create(builder, train.getLoc(), type, *count);
    for (DropoutOp op : random)
      op.getMicroBatchMutable().assign(read);
    builder.setInsertionPoint(train.getBody().front().getTerminator());
    AdvanceOp::create(builder, train.getLoc(), *count, builder.getI64IntegerAttr(microBatches));
    return success();
  }

  LogicalResult split() {
    SmallVector<Operation *> mixing, ignored;
    if (failed(splitBatch(train, microBatches, mixing)))
      return failure();
    for (auto function : module.getOps<func::FuncOp>())
      if (auto list = function->getAttrOfType<StringAttr>(kListAttr);
          list && list.getValue() == kEvaluateList &&
          failed(splitBatch(function, microBatches, ignored)))
        return failure();
    if (!mixing.empty())
      warn(mixing);
    return success();
  }

  void warn(ArrayRef<Operation *> mixing) {
    constexpr size_t shown = 3;
    module->setAttr(kMixesSamplesAttr, builder.getStringAttr(displayName(mixing.front())));
    InFlightDiagnostic warning = mixing.front()->emitWarning();
    bool onlyNorms = llvm::all_of(mixing, llvm::IsaPred<BatchNormOp>);
    warning << (onlyNorms ? "batch statistics are those of a micro-batch"
                          : "samples are mixed within a micro-batch alone")
            << ", so " << microBatches
            << " micro-batches do not give the step of the whole batch: ";
    llvm::interleaveComma(mixing.take_front(shown), warning,
                          [&](Operation *op) { warning << "'" << displayName(op) << "'"; });
    if (mixing.size() > shown)
      warning << " and " << mixing.size() - shown << " more";
    warning << (onlyNorms ? "; where they must be equal, use one micro-batch, or gc.group_norm "
                            "instead of gc.batch_norm in the model"
                          : "; use means over the batch, or one micro-batch");
  }

  ModuleOp module;
  StateVariables variables;
  func::FuncOp train, step;
  CrossEntropyOp counted; // null unless labels are counted
  FlatSymbolRefAttr labelCount;
  Value totalLabels; // in @step
  int64_t microBatches;
  OpBuilder builder;
  llvm::DenseMap<Value, FlatSymbolRefAttr> accumulators; // of each gradient
  IRMapping inStep;
  SmallVector<Operation *> cloned;
};

// A list for messages: "1, 2, 4 or 8".
std::string divisors(int64_t batch) {
  std::vector<int64_t> all;
  for (int64_t i = 1; i <= batch; ++i)
    if (batch % i == 0)
      all.push_back(i);
  std::string text;
  for (auto [i, divisor] : llvm::enumerate(all))
    text += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::to_string(divisor);
  return text;
}

struct AccumulatePass : impl::AccumulatePassBase<AccumulatePass> {
  using AccumulatePassBase::AccumulatePassBase;
  void runOnOperation() override {
    if (failed(accumulate(getOperation(), microBatches)))
      signalPassFailure();
  }
};

} // namespace

LogicalResult accumulate(ModuleOp module, int64_t microBatches) {
  if (microBatches < 1)
    return module.emitError("micro-batches must be at least 1, got ") << microBatches;
  if (microBatches == 1)
    return success();
  FailureOr<func::FuncOp> train = findList(module, kMicroBatchList, "--gc-autodiff");
  if (failed(train))
    return failure();
  FailureOr<int64_t> batch = batchOf(*train);
  if (failed(batch))
    return failure();
  if (*batch % microBatches != 0)
    return train->emitError("a batch of ") << *batch << " cannot be split into " << microBatches
                                           << " equal micro-batches; use " << divisors(*batch);
  return Accumulation(module, *train, microBatches).build();
}

} // namespace gc
