//===- ModelFunction.cpp - the functions of a module ----------------------===//
#include "passes/ModelFunction.h"
#include "dialects/Gc.h"

using namespace mlir;

namespace gc {

Value findLoss(func::FuncOp function) {
  if (function.isExternal())
    return {};
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, kOutputAttr);
    if (name && name.getValue() == kLossOutput)
      return function.getBody().back().getTerminator()->getOperand(i);
  }
  return {};
}

FailureOr<func::FuncOp> findModel(ModuleOp module) {
  func::FuncOp model;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(kListAttr) || !findLoss(function))
      continue;
    if (model) {
      InFlightDiagnostic diagnostic =
          function.emitOpError("is a second model: expected one function with a result "
                               "{gc.output = \"loss\"}");
      diagnostic.attachNote(model.getLoc()) << "the first is '" << model.getSymName() << "'";
      return diagnostic;
    }
    model = function;
  }
  if (!model)
    return module.emitOpError("has no model: expected a function with a result "
                              "{gc.output = \"loss\"} and no 'gc.list'");
  if (!model.getBody().hasOneBlock())
    return model.emitOpError("has control flow: a model is one block");
  return model;
}

FailureOr<func::FuncOp> findList(ModuleOp module, StringRef list, StringRef pass) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto name = function->getAttrOfType<StringAttr>(kListAttr);
    if (name && name.getValue() == list)
      return function;
  }
  return module.emitOpError("has no function with gc.list = \"")
         << list << "\": run " << pass << " first";
}

FailureOr<BatchReduction> reductionOf(StringRef output, Value value) {
  if (output == kLossOutput)
    return BatchReduction::Mean;
  if (auto metric = value.getDefiningOp<MetricOpInterface>();
      metric && value == metric->getResult(0))
    return metric.getReduction();
  return emitError(value.getLoc())
         << "the output '" << output << "' is "
         << (value.getDefiningOp()
                 ? "a result of '" + value.getDefiningOp()->getName().getStringRef().str() + "'"
                 : std::string("an input"))
         << ", which does not say whether the values of several batches are averaged or added up; "
            "return what a metric computes, such as gc.accuracy";
}

LogicalResult requireFreeName(const SymbolTable &symbols, StringRef name) {
  if (Operation *taken = symbols.lookup(name))
    return taken->emitOpError("takes the name '") << name << "' that this pass needs; rename it";
  return success();
}

} // namespace gc
