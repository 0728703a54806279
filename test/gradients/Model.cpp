//===- Model.cpp - small models written as text ---------------------------===//
#include "test/gradients/Model.h"
#include "dialects/Gc.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace mlir;

namespace gc::test {

MLIRContext &context() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registerGcDialects(registry);
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

static std::string tensor(const std::string &shape, const std::string &element = "f32") {
  return "tensor<" + shape + (shape.empty() ? "" : "x") + element + ">";
}

OwningOpRef<ModuleOp> parse(const std::string &text) {
  auto module = parseSourceString<ModuleOp>(text, &context());
  if (!module)
    ADD_FAILURE() << "does not parse:\n" << text;
  return module;
}

OwningOpRef<ModuleOp> parse(const Model &model) {
  std::string text = "module {\n", arguments, reads;
  for (auto &[name, shape] : model.parameters) {
    text += "gc.parameter @" + name + " : " + tensor(shape) + " = #gc.init<constant, [0.0]>\n";
    reads += "%" + name + " = gc.read @" + name + " : " + tensor(shape) + "\n";
  }
  if (model.hasGenerator) {
    text += "gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>\n";
    reads += "%generator = gc.read @generator : tensor<2xi64>\n";
  }
  for (auto &[name, shape] : model.inputs)
    arguments += ", %" + name + ": " + tensor(shape) + " {gc.input = \"" + name + "\"}";
  if (model.hasLabels)
    arguments += ", %labels: tensor<5xi32> {gc.input = \"labels\"}";
  if (model.hasIndices)
    arguments += ", %indices: tensor<3x3xi32> {gc.input = \"indices\"}";
  std::string type = tensor(model.result);
  text += "func.func @model(%weights: " + type + " {gc.input = \"weights\"}" + arguments +
          ") -> (tensor<f32> {gc.output = \"loss\"}) {\n" + reads + model.body +
          "\n%product = gc.mul %y, %weights : (" + type + ", " + type + ") -> " + type + "\n";
  std::string loss = "%product";
  if (!model.result.empty()) {
    std::string dimensions = "0";
    for (int64_t d = 1, e = std::count(model.result.begin(), model.result.end(), 'x'); d <= e; ++d)
      dimensions += ", " + std::to_string(d);
    text += "%loss = gc.reduce_sum %product {dimensions = array<i64: " + dimensions + ">} : (" +
            type + ") -> tensor<f32>\n";
    loss = "%loss";
  }
  return parse(text + "return " + loss + " : tensor<f32>\n}\n}\n");
}

reference::Tensor draw(ArrayRef<int64_t> shape, double low, double high, unsigned seed) {
  reference::Tensor result(shape);
  std::vector<int64_t> order(result.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = low + (high - low) * (order[i] + 0.3) / result.size();
  return result;
}

reference::Tensors drawVariables(const Model &model, ModuleOp module) {
  reference::Tensors variables;
  unsigned seed = 1;
  for (auto parameter : module.getOps<ParameterOp>())
    variables[parameter.getSymName().str()] =
        draw(cast<RankedTensorType>(parameter.getType()).getShape(), model.low, model.high, seed++);
  for (auto state : module.getOps<StateOp>()) {
    reference::Tensor value(state.getType());
    if (state.getRole() == StateRole::Generator)
      value.data = {7, 3};
    else if (state.getRole() == StateRole::Schedule)
      value.data.assign(value.data.size(), state.getInit().getValues()[0]);
    else
      continue;
    variables[state.getSymName().str()] = value;
  }
  return variables;
}

reference::Tensors drawInputs(func::FuncOp function) {
  reference::Tensors inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "gc.input");
    auto type = cast<RankedTensorType>(argument.getType());
    reference::Tensor value = draw(type.getShape(), -1, 1, 100 + argument.getArgNumber());
    if (!type.getElementType().isF32())
      for (int64_t i = 0; i < value.size(); ++i)
        // Repeats itself, so that several gradients meet; one label is left out.
        value[i] = name.getValue() == "labels" && i == 1 ? -1 : (i * 5) % 7 % 5;
    inputs[name.getValue().str()] = value;
  }
  return inputs;
}

} // namespace gc::test
