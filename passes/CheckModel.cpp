//===- CheckModel.cpp - is a module a model that can be trained -----------===//
//
// A model is a module of variables and one function of gc ops with named inputs and outputs. What
// else stands in the module would be ignored, and what contradicts itself would be decided by
// chance: both are errors, before the first pass changes anything.
//
//===----------------------------------------------------------------------===//
#include "passes/CheckModel.h"
#include "dialects/Gc.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

namespace gc {
#define GEN_PASS_DEF_CHECKMODELPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

LogicalResult checkModule(ModuleOp module) {
  if (std::optional<StringRef> name = module.getSymName())
    if (std::string fault = faultOfName(*name); !fault.empty())
      return module.emitError(fault);
  for (Operation &op : *module.getBody())
    if (!isa<ParameterOp, StateOp, func::FuncOp>(op))
      return op.emitError("'")
             << op.getName()
             << "' has no meaning in a model: expected gc.parameter, gc.state and "
                "one function";
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kListAttr))
      return function.emitOpError("is a command list already: expected a model that no pass has "
                                  "changed");
  return success();
}

LogicalResult checkFunctions(ModuleOp module, func::FuncOp model) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function != model)
      return function.emitOpError("would be ignored: a model is one function, '")
             << model.getSymName() << "'; remove this one";
  for (NamedAttribute attribute : model->getDiscardableAttrs())
    if (!attribute.getName().getValue().contains('.'))
      return model.emitOpError("has no attribute '") << attribute.getName().getValue() << "'";
  return success();
}

// Checks the names by which the runtime knows inputs and outputs.
class Names {
public:
  Names(StringRef attribute, StringRef what) : attribute(attribute), what(what) {}

  LogicalResult add(Location loc, StringAttr name, unsigned index) {
    if (!name)
      return emitError(loc) << what << " #" << index << " has no name: add {" << attribute
                            << " = \"...\"}";
    auto [first, isNew] = indices.try_emplace(name.getValue(), index);
    if (!isNew)
      return emitError(loc) << what << " #" << index << " is called '" << name.getValue()
                            << "', as is " << what << " #" << first->second;
    return success();
  }

private:
  StringRef attribute, what;
  llvm::StringMap<unsigned> indices;
};

bool isInputType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isWithinLimits(tensor) &&
         (tensor.getElementType().isF32() || tensor.getElementType().isInteger(32));
}

LogicalResult checkOutput(func::FuncOp model, StringRef name, Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (name != kLossOutput && name != kCorrectOutput) {
    model.emitWarning("nobody reads the output '")
        << name << "', and no plan will have it: the runtime knows '" << kLossOutput << "' and '"
        << kCorrectOutput << "'";
    return success();
  }
  if (!tensor || tensor.getRank() != 0 || !tensor.getElementType().isF32())
    return model.emitOpError("has a '")
           << name << "' of type " << value.getType() << ", expected tensor<f32>";
  FailureOr<BatchReduction> reduction = reductionOf(name, value);
  if (failed(reduction))
    return failure();
  // The runtime adds it up and divides it by the number of samples.
  if (name == kCorrectOutput && *reduction != BatchReduction::Sum)
    return emitError(value.getLoc()) << "the output '" << name
                                     << "' is a mean: expected a count of samples, such as "
                                        "gc.accuracy";
  return success();
}

LogicalResult checkInterface(func::FuncOp model) {
  Names inputs(kInputAttr, "input"), outputs(kOutputAttr, "output");
  for (auto [i, argument] : llvm::enumerate(model.getArguments())) {
    auto name = model.getArgAttrOfType<StringAttr>(i, kInputAttr);
    if (failed(inputs.add(argument.getLoc(), name, i)))
      return failure();
    if (!isInputType(argument.getType()))
      return emitError(argument.getLoc())
             << "input #" << i << " must be a static tensor of f32 or i32 with up to "
             << kLargestRank << " dimensions from 1 to " << kLargestDimension << ", got "
             << argument.getType();
    if (name.getValue() != kImageInput && name.getValue() != kLabelInput)
      emitWarning(argument.getLoc())
          << "nobody fills the input '" << name.getValue()
          << "': gc-run will refuse the plan, as it "
          << "knows '" << kImageInput << "' and '" << kLabelInput << "' alone; rename the input";
  }
  Operation *terminator = model.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto name = model.getResultAttrOfType<StringAttr>(i, kOutputAttr);
    if (failed(outputs.add(model.getLoc(), name, i)) || failed(checkOutput(model, name, value)))
      return failure();
  }
  return success();
}

// Running statistics follow what batch norm computed, so both must count the same elements.
LogicalResult checkRunningStats(RunningStatsOp stats) {
  auto norm = stats.getMean().getDefiningOp<BatchNormOp>();
  if (!norm)
    return success();
  if (stats.getRstd() != norm.getRstd())
    return stats.emitOpError("takes mean and rstd of different ops");
  int64_t count = elementCount(norm.getInput().getType()) / elementCount(norm.getMean().getType());
  if (static_cast<int64_t>(stats.getCount()) != count)
    return stats.emitOpError("counts ")
           << stats.getCount() << " elements a channel, but the batch norm has " << count;
  if (stats.getEpsilon() != norm.getEpsilon())
    return stats.emitOpError("has another epsilon than the batch norm");
  return success();
}

class Body {
public:
  explicit Body(ModuleOp module) : classes(module->getAttrOfType<IntegerAttr>("gc.classes")) {}

  LogicalResult check(Operation &op) {
    if (!isa<func::ReturnOp>(op) && !isa_and_nonnull<GcDialect>(op.getDialect()))
      return op.emitError("'") << op.getName() << "' is not an op of gc: a model has gc ops alone";
    if (isa<func::ReturnOp>(op))
      for (NamedAttribute attribute : op.getDiscardableAttrs())
        if (!attribute.getName().getValue().contains('.'))
          return op.emitError("'")
                 << op.getName() << "' has no attribute '" << attribute.getName().getValue() << "'";
    if (op.hasTrait<TrainingOnly>())
      return op.emitOpError("belongs to a step, which passes make of a model");
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case<CrossEntropyOp, AccuracyOp>([&](auto loss) { return checkClasses(loss); })
        .Case<DropoutOp>([&](DropoutOp dropout) { return checkId(dropout); })
        .Case<RunningStatsOp>([](RunningStatsOp stats) { return checkRunningStats(stats); })
        .Default([](Operation *) { return success(); });
  }

private:
  template <typename Loss> LogicalResult checkClasses(Loss loss) {
    int64_t logits = cast<ShapedType>(loss.getLogits().getType()).getDimSize(1);
    if (classes && classes.getInt() != logits)
      return loss.emitOpError("has logits of ")
             << logits << " classes, but the module says gc.classes = " << classes.getInt();
    return success();
  }

  // Ids keep masks apart: with one id, two dropouts would draw the same bits.
  LogicalResult checkId(DropoutOp dropout) {
    auto [first, isNew] = dropouts.try_emplace(dropout.getId(), dropout);
    if (isNew)
      return success();
    InFlightDiagnostic error = dropout.emitOpError("has the id ")
                               << dropout.getId() << " of another dropout, and so its mask; ids "
                               << "must differ";
    error.attachNote(first->second->getLoc()) << "the other dropout";
    return error;
  }

  IntegerAttr classes;
  std::map<uint64_t, Operation *> dropouts;
};

struct CheckModelPass : impl::CheckModelPassBase<CheckModelPass> {
  using CheckModelPassBase::CheckModelPassBase;
  void runOnOperation() override {
    if (failed(checkModel(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult checkModel(ModuleOp module) {
  if (failed(checkModule(module)))
    return failure();
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model) || failed(checkFunctions(module, *model)) || failed(checkInterface(*model)))
    return failure();
  Body body(module);
  for (Operation &op : model->getBody().front())
    if (failed(body.check(op)))
      return failure();
  return success();
}

} // namespace gc
