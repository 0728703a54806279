//===- Autodiff.cpp - the backward pass -----------------------------------===//
//
// Before:
//   func.func @model(%x, %label) -> (tensor<f32> {gc.output = "loss"}) {
//     %w = gc.read @w
//     %y = gc.linear %x, %w
//     %loss, %lse = gc.cross_entropy %y, %label
//     return %loss
//   }
// After:
//   func.func @train(%x, %label) -> (tensor<f32> {gc.output = "loss"})
//       attributes {gc.list = "micro_batch"} {
//     %w = gc.read @w
//     %y = gc.linear %x, %w
//     %loss, %lse = gc.cross_entropy %y, %label
//     %dloss = gc.gradient_seed {scale = 1.0}
//     %dy = gc.cross_entropy_grad %y, %label, %lse, %dloss
//     %dw = gc.linear_grad_weight %x, %dy     // no gradient of %x: it depends on no parameter
//     gc.gradient @w, %dw
//     return %loss
//   }
//
//===----------------------------------------------------------------------===//
#include "passes/Autodiff.h"
#include "passes/Freeze.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace gc {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

class Backward {
public:
  Backward(ModuleOp module, func::FuncOp function, Value loss)
      : module(module), symbols(module), function(function), loss(loss),
        builder(function.getBody().front().getTerminator()) {}

  LogicalResult build() {
    if (failed(findVarying()))
      return failure();
    findReaching();
    countUses();
    auto seed = GradientSeedOp::create(builder, loss.getLoc(), loss.getType(),
                                       builder.getF32FloatAttr(1.0f));
    gradients[loss] = seed;
    // The sweep appends adjoints to the block, so the forward ops are listed before it starts.
    SmallVector<Operation *> forward;
    for (Operation &op : function.getBody().front().without_terminator())
      if (isActive(&op))
        forward.push_back(&op);
    for (Operation *op : llvm::reverse(forward))
      if (failed(differentiate(op)) || failed(finishParametersOf(op)))
        return failure();
    // Parameters that the sweep did not reach have no gradient, or are the loss itself.
    for (auto parameter : module.getOps<ParameterOp>())
      if (!parameter->hasAttr(kFrozenAttr) && failed(finish(parameter)))
        return failure();
    return success();
  }

private:
  struct Parameter {
    SmallVector<Value> values; // of its reads
    unsigned uses = 0;         // by active ops not yet differentiated
    bool finished = false;
  };

  // Whether a value that changes with a parameter has a gradient: integers do not, floats do.
  // Another type is an error, as its gradient would be lost.
  static FailureOr<bool> carriesGradient(OpResult value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.getElementType().isInteger())
      return false;
    if (type && isa<Float32Type, BFloat16Type>(type.getElementType()))
      return true;
    return value.getOwner()->emitOpError("has a result of type ")
           << value.getType()
           << " that depends on a parameter, but gradients are tensors of f32 or bf16";
  }

  // Whether the op is on a path from a parameter to the loss.
  bool isActive(Operation *op) const {
    return reaching.contains(op) &&
           llvm::any_of(op->getOperands(), [&](Value v) { return varying.contains(v); });
  }

  // Collects the values that depend on a parameter that is trained.
  LogicalResult findVarying() {
    for (Operation &op : function.getBody().front()) {
      if (auto read = dyn_cast<ReadOp>(op)) {
        auto parameter = symbols.lookup<ParameterOp>(read.getVariableAttr().getAttr());
        if (parameter && !parameter->hasAttr(kFrozenAttr)) {
          varying.insert(read.getValue());
          parameters[parameter.getSymNameAttr()].values.push_back(read.getValue());
        }
      } else if (llvm::any_of(op.getOperands(), [&](Value v) { return varying.contains(v); })) {
        for (OpResult result : op.getResults()) {
          FailureOr<bool> carries = carriesGradient(result);
          if (failed(carries))
            return failure();
          if (*carries)
            varying.insert(result);
        }
      }
    }
    return success();
  }

  // Collects the ops that the loss depends on.
  void findReaching() {
    SmallVector<Value> pending{loss};
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val().getDefiningOp();
      if (op && reaching.insert(op).second)
        pending.append(op->operand_begin(), op->operand_end());
    }
  }

  void countUses() {
    for (auto &[name, parameter] : parameters)
      for (Value value : parameter.values)
        for (OpOperand &use : value.getUses())
          parameter.uses += isActive(use.getOwner());
  }

  LogicalResult differentiate(Operation *op) {
    SmallVector<Value> resultGradients;
    for (Value result : op->getResults())
      resultGradients.push_back(gradients.lookup(result));
    // No gradient arrived: the derivatives of all readers are zero.
    if (llvm::none_of(resultGradients, [](Value v) { return static_cast<bool>(v); }))
      return success();
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitOpError("lies between a parameter and the loss but has no derivative; replace "
                             "it by differentiable ops");

    llvm::SmallBitVector needed(op->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      needed[i] = varying.contains(operand);
    SmallVector<Value> operandGradients(op->getNumOperands());
    Operation *terminator = &*builder.getInsertionPoint();
    Operation *last = terminator->getPrevNode();
    if (failed(differentiable.buildAdjoint(builder, resultGradients, needed, operandGradients)))
      return failure();
    if (failed(checkContract(op, differentiable.getSavedValues(), resultGradients, operandGradients,
                             last->getNextNode(), terminator)))
      return failure();
    // What was said of the precision of an op is said of its adjoint.
    if (Attribute precision = op->getAttr("gc.precision"))
      for (Operation *made = last->getNextNode(); made != terminator; made = made->getNextNode())
        made->setAttr("gc.precision", precision);
    for (auto [operand, gradient] : llvm::zip_equal(op->getOperands(), operandGradients))
      if (gradient && varying.contains(operand))
        accumulate(op->getLoc(), operand, gradient);
    return success();
  }

  // An adjoint reads the gradients it got, what it made itself and what it declared as saved:
  // rematerialization counts on that.
  LogicalResult checkContract(Operation *op, const SavedValues &saved, ArrayRef<Value> given,
                              ArrayRef<Value> returned, Operation *first, Operation *end) {
    llvm::SmallDenseSet<Value> readable(given.begin(), given.end());
    for (unsigned i : saved.operands)
      readable.insert(op->getOperand(i));
    for (unsigned i : saved.results)
      readable.insert(op->getResult(i));
    for (Operation *made = first; made != end; made = made->getNextNode()) {
      for (Value operand : made->getOperands())
        if (!readable.contains(operand)) {
          InFlightDiagnostic diagnostic =
              op->emitOpError("has an adjoint that reads a value it does not declare as saved; "
                              "add it to getSavedValues");
          diagnostic.attachNote(operand.getLoc()) << "read by '" << made->getName() << "'";
          return diagnostic;
        }
      readable.insert(made->result_begin(), made->result_end());
    }
    for (auto [i, gradient] : llvm::enumerate(returned))
      if (gradient && gradient.getType() != op->getOperand(i).getType())
        return op->emitOpError("has an adjoint that gives operand #")
               << i << " a gradient of type " << gradient.getType() << ", expected "
               << op->getOperand(i).getType();
    return success();
  }

  void accumulate(Location loc, Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? Value(AddOp::create(builder, loc, value.getType(), sum, gradient)) : gradient;
  }

  // Emits the gradient of each parameter whose last use `op` was.
  LogicalResult finishParametersOf(Operation *op) {
    for (Value operand : op->getOperands()) {
      auto read = operand.getDefiningOp<ReadOp>();
      if (!read || !varying.contains(operand))
        continue;
      auto name = read.getVariableAttr().getAttr();
      if (--parameters[name].uses == 0 && failed(finish(symbols.lookup<ParameterOp>(name))))
        return failure();
    }
    return success();
  }

  LogicalResult finish(ParameterOp op) {
    Parameter &parameter = parameters[op.getSymNameAttr()];
    if (parameter.finished)
      return success();
    parameter.finished = true;
    Value sum;
    for (Value value : parameter.values)
      if (Value gradient = gradients.lookup(value))
        sum = sum ? Value(AddOp::create(builder, value.getLoc(), value.getType(), sum, gradient))
                  : gradient;
    if (!sum)
      return op.emitOpError("does not reach the loss: remove the parameter '")
             << op.getSymName() << "', or use it in '" << function.getSymName() << "'";
    GradientOp::create(builder, sum.getLoc(), FlatSymbolRefAttr::get(op.getSymNameAttr()), sum);
    return success();
  }

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp function;
  Value loss;
  OpBuilder builder;
  DenseSet<Value> varying;
  DenseSet<Operation *> reaching;
  DenseMap<Value, Value> gradients;
  llvm::MapVector<StringAttr, Parameter> parameters;
};

struct AutodiffPass : impl::AutodiffPassBase<AutodiffPass> {
  void runOnOperation() override {
    if (failed(autodiff(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult autodiff(ModuleOp module) {
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model) || failed(requireFreeName(SymbolTable(module), "train")))
    return failure();
  Value loss = findLoss(*model);
  auto type = dyn_cast<RankedTensorType>(loss.getType());
  if (!type || type.getRank() != 0 || !type.getElementType().isF32())
    return model->emitOpError("has a loss of type ") << loss.getType() << ", expected tensor<f32>";
  if (failed(Backward(module, *model, loss).build()))
    return failure();
  model->setSymName("train");
  (*model)->setAttr(kListAttr, StringAttr::get(module.getContext(), kMicroBatchList));
  return success();
}

} // namespace gc
