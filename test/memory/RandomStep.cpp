//===- RandomStep.cpp - random training steps -----------------------------===//
#include "test/memory/RandomStep.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace gc::test {
namespace {

constexpr int variableCount = 3;

class StepGenerator {
public:
  StepGenerator(MLIRContext &context, std::mt19937 &random)
      : builder(&context), random(random), location(UnknownLoc::get(&context)) {}

  OwningOpRef<ModuleOp> run(int ops) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(location);
    builder.setInsertionPointToEnd(module->getBody());
    for (int i = 0; i < variableCount; ++i) {
      int64_t size = sizes[i];
      ParameterOp::create(builder, location, "w" + std::to_string(i), tensor({size, size}),
                          InitAttr::get(builder.getContext(), InitKind::Constant,
                                        builder.getDenseF64ArrayAttr({0.0})),
                          DenseI64ArrayAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr());
    }
    function("train", "micro_batch", ops, /*updates=*/true);
    if (draw(3) == 0)
      function("evaluate", "evaluate", ops / 2, /*updates=*/false);
    return module;
  }

private:
  unsigned draw(unsigned below) { return random() % below; }
  RankedTensorType tensor(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }
  RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  // Old values are drawn too, so that lives are long and short.
  Value any() {
    return values[draw(2) ? draw(values.size())
                          : values.size() - 1 - draw(std::min<size_t>(4, values.size()))];
  }

  Value make(StringRef name, ValueRange operands, Type type,
             ArrayRef<NamedAttribute> attributes = {}, bool mayHaveWorkspace = true) {
    OperationState state(location, name);
    state.addOperands(operands);
    state.addTypes(type);
    state.addAttributes(attributes);
    if (mayHaveWorkspace && draw(5) == 0)
      state.addAttribute("gc.workspace", builder.getI64IntegerAttr(1 + draw(5000)));
    values.push_back(builder.create(state)->getResult(0));
    return values.back();
  }

  void addOp() {
    Value x = any();
    RankedTensorType type = typeOf(x);
    switch (draw(8)) {
    case 0:
    case 1: {
      static constexpr StringRef unary[] = {"gc.neg", "gc.exp", "gc.relu", "gc.tanh"};
      make(unary[draw(4)], x, type);
      return;
    }
    case 2:
    case 3: {
      for (int tries = 0; tries < 10; ++tries)
        if (Value y = any(); y.getType() == type) {
          make(draw(2) ? "gc.add" : "gc.mul", {x, y}, type);
          return;
        }
      make("gc.add", {x, x}, type);
      return;
    }
    case 4: { // x w^T, and a weight gradient for the update
      for (int i = 0; i < variableCount; ++i)
        if (type.getRank() == 2 && type.getDimSize(1) == sizes[i]) {
          auto w = ReadOp::create(builder, location, tensor({sizes[i], sizes[i]}),
                                  "w" + std::to_string(i));
          Value y = LinearOp::create(builder, location, x, w, Value());
          values.push_back(y);
          gradients[i] = make("gc.linear_grad_weight", {x, y}, w.getType());
          return;
        }
      make("gc.neg", x, type);
      return;
    }
    case 5:
      make("gc.reshape", x,
           type.getRank() == 2 ? tensor({type.getNumElements()})
                               : tensor({type.getNumElements() / 16, 16}),
           {}, /*mayHaveWorkspace=*/false);
      return;
    case 6:
      if (type.getRank() == 2 && type.getDimSize(1) % 16 == 0) {
        make("gc.reduce_sum", x, tensor({type.getDimSize(1)}),
             builder.getNamedAttr("dimensions", builder.getDenseI64ArrayAttr({0})));
        return;
      }
      [[fallthrough]];
    case 7:
      if (type.getRank() == 2 && type.getDimSize(0) % 16 == 0) {
        make("gc.transpose", x, tensor({type.getDimSize(1), type.getDimSize(0)}),
             builder.getNamedAttr("permutation", builder.getDenseI64ArrayAttr({1, 0})));
        return;
      }
      make("gc.exp", x, type);
    }
  }

  void function(StringRef name, StringRef list, int ops, bool updates) {
    OpBuilder::InsertionGuard guard(builder);
    values.clear();
    gradients.clear();
    SmallVector<Type> inputs{tensor({int64_t(16), 32}), tensor({int64_t(48), 16})};
    auto made = func::FuncOp::create(builder, location, name, builder.getFunctionType(inputs, {}));
    made->setAttr("gc.list", builder.getStringAttr(list));
    for (unsigned i = 0; i < inputs.size(); ++i)
      made.setArgAttr(i, "gc.input", builder.getStringAttr("x" + std::to_string(i)));
    Block *block = made.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    llvm::append_range(values, block->getArguments());
    for (int i = 0; i < ops; ++i)
      addOp();
    if (updates)
      for (auto [variable, gradient] : gradients) {
        auto symbol = FlatSymbolRefAttr::get(builder.getContext(), "w" + std::to_string(variable));
        if (draw(2))
          GradientOp::create(builder, location, symbol, gradient);
        AccumulateOp::create(builder, location, symbol, gradient);
      }
    SmallVector<Value> returned;
    SmallVector<Type> types;
    for (unsigned i = draw(3); i > 0; --i) {
      returned.push_back(any());
      types.push_back(returned.back().getType());
    }
    made.setFunctionType(builder.getFunctionType(inputs, types));
    func::ReturnOp::create(builder, location, returned);
  }

  static constexpr int64_t sizes[variableCount] = {16, 32, 48};
  OpBuilder builder;
  std::mt19937 &random;
  Location location;
  std::vector<Value> values;
  std::map<int, Value> gradients; // the last one of each variable
};

} // namespace

OwningOpRef<ModuleOp> randomStep(MLIRContext &context, std::mt19937 &random, int ops) {
  return StepGenerator(context, random).run(ops);
}

} // namespace gc::test
