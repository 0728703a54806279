//===- AccumulateTest.cpp - micro-batches against the whole batch ---------===//
#include "passes/Accumulate.h"
#include "dialects/Gc.h"
#include "mlir/IR/Diagnostics.h"
#include "models/ModelBuilder.h"
#include "passes/AccumulateProducts.h"
#include "passes/Autodiff.h"
#include "passes/Optimizer.h"
#include "test/gradients/Model.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace mlir;
using namespace gc;
using namespace gc::test;

namespace {

constexpr int64_t batch = 8;
constexpr int64_t steps = 2;

using Build = std::function<OwningOpRef<ModuleOp>()>;
struct Network {
  std::string name;
  Build build;
};

OwningOpRef<ModuleOp> take(models::Network network) { return llvm::cantFail(std::move(network)); }

// The structure of the mnist network, in small.
OwningOpRef<ModuleOp> buildConvnet() {
  models::ModelBuilder model(context(), "convnet", 3, {batch, 6, 6, 2});
  Value x = model.conv("conv1", model.input(), {4, 3, 1, 1});
  x = model.relu("relu1", model.groupNorm("norm1", x, 2));
  x = model.maxPool("pool1", x, {2, 2});
  x = model.conv("conv2", x, {batch, 1}); // a filter as long as the batch
  x = model.relu("relu2", x);
  x = model.dropout("drop", model.flatten("flatten", x), 0.25);
  return take(model.finish(model.linear("fc", x, 3)));
}

// The structure of the vision transformer, in small.
OwningOpRef<ModuleOp> buildTransformer() {
  models::ModelBuilder model(context(), "transformer", 3, {batch, 4, 4, 3});
  Value token = model.parameter("cls_token", {1, 1, 4}, models::normal(0.1));
  Value position = model.parameter("pos_embed", {1, 5, 4}, models::normal(0.1));
  Value x = model.patchEmbed("patch", model.input(), 2, 4);
  x = model.create<ClassTokenOp>("pos", x, token, position);
  Value y = model.linear("qkv", model.layerNorm("norm1", x, 1e-6), 12);
  x = model.add("add1", x, model.linear("proj", model.attention("attn", y, 2), 4));
  y = model.gelu("gelu", model.linear("fc1", model.layerNorm("norm2", x, 1e-6), 8));
  x = model.add("add2", x, model.linear("fc2", y, 4));
  x = model.reshape("token", model.slice("token", x, 1, 0, 1), {batch, 4});
  return take(model.finish(model.linear("head", x, 3)));
}

OwningOpRef<ModuleOp> buildEncoder() {
  models::EncoderOptions options;
  options.layers = 1;
  options.width = 8;
  options.heads = 2;
  options.ffn = 8;
  options.sequence = 3;
  options.batch = batch;
  options.classes = 3;
  return take(models::buildEncoder(context(), options));
}

// A mean over everything instead of cross entropy, and a value repeated over the batch.
OwningOpRef<ModuleOp> buildRegression() {
  return parse(std::string(R"(
    gc.parameter @w : tensor<4x3xf32> = #gc.init<constant, [0.0]>
    gc.parameter @offset : tensor<4xf32> = #gc.init<constant, [0.0]>
    func.func @model(%x: tensor<8x3xf32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) {
      %w = gc.read @w : tensor<4x3xf32>
      %o = gc.read @offset : tensor<4xf32>
      %y = gc.linear %x, %w : (tensor<8x3xf32>, tensor<4x3xf32>) -> tensor<8x4xf32>
      %b = gc.broadcast %o {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
      %d = gc.sub %y, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %s = gc.mul %d, %d : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %loss = gc.reduce_mean %s {dimensions = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
      return %loss : tensor<f32>
    }
  )"));
}

// Rows of three tokens, each with a label that may be left out.
OwningOpRef<ModuleOp> buildTokens() {
  return parse(std::string(R"(
    gc.parameter @w : tensor<4x5xf32> = #gc.init<constant, [0.0]>
    func.func @model(%x: tensor<8x3x5xf32> {gc.input = "image"}, %l: tensor<8x3xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
      %w = gc.read @w : tensor<4x5xf32>
      %y = gc.linear %x, %w : (tensor<8x3x5xf32>, tensor<4x5xf32>) -> tensor<8x3x4xf32>
      %r = gc.reshape %y : (tensor<8x3x4xf32>) -> tensor<24x4xf32>
      %loss, %lse = gc.cross_entropy %r, %l : (tensor<24x4xf32>, tensor<8x3xi32>) -> (tensor<f32>, tensor<24xf32>)
      return %loss : tensor<f32>
    }
  )"));
}

func::FuncOp function(ModuleOp module, StringRef name) {
  return module.lookupSymbol<func::FuncOp>(name);
}

reference::Tensors firstValues(ModuleOp module) {
  reference::Tensors variables;
  unsigned seed = 1;
  for (auto parameter : module.getOps<ParameterOp>())
    variables[parameter.getSymName().str()] =
        draw(cast<RankedTensorType>(parameter.getType()).getShape(), -0.5, 0.5, seed++);
  for (auto state : module.getOps<StateOp>()) {
    reference::Tensor value(state.getType());
    if (state.getRole() == StateRole::Generator)
      value[0] = 11;
    if (state.getSymName() == kWindowScale)
      value[0] = 1;
    if (state.getRole() == StateRole::Schedule)
      value.data.assign(value.data.size(), state.getInit().getValues()[0]);
    variables[state.getSymName().str()] = value;
  }
  return variables;
}

reference::Tensors inputsOf(func::FuncOp train, unsigned step) {
  reference::Tensors inputs;
  for (BlockArgument argument : train.getArguments()) {
    auto name = train.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "gc.input");
    auto type = cast<RankedTensorType>(argument.getType());
    reference::Tensor value = draw(type.getShape(), -1, 1, 50 + step * 7);
    if (!type.getElementType().isF32())
      for (int64_t i = 0; i < value.size(); ++i)
        value[i] = (i * 5 + step) % 3;
    // Of several labels a sample some are left out, and all of the first one.
    if (name.getValue() == "label" && type.getRank() > 1)
      for (int64_t i = 0; i < value.size(); ++i)
        value[i] = i < type.getDimSize(1) || i % 5 == 2 ? -100 : value[i];
    inputs[name.getValue().str()] = value;
  }
  return inputs;
}

reference::Tensors part(const reference::Tensors &inputs, int64_t index, int64_t parts) {
  reference::Tensors result;
  for (auto &[name, whole] : inputs) {
    std::vector<int64_t> shape = whole.shape;
    shape[0] /= parts;
    reference::Tensor value{ArrayRef<int64_t>(shape)};
    for (int64_t i = 0; i < value.size(); ++i)
      value[i] = whole[index * value.size() + i];
    result[name] = value;
  }
  return result;
}

struct Trained {
  std::vector<double> losses;
  reference::Tensors variables, gradients;
};

// Two steps in K micro-batches; `inProducts` adds to the accumulators wherever an op can.
Trained train(const Build &build, const OptimizerSettings &options, int64_t microBatches,
              bool inProducts = false) {
  Trained trained;
  OwningOpRef<ModuleOp> module = build();
  if (!module || failed(autodiff(*module)) ||
      failed(addOptimizer(*module, options, /*keepGradients=*/true))) {
    ADD_FAILURE() << "no step to split";
    return trained;
  }
  std::vector<reference::Tensors> inputs;
  for (unsigned step = 0; step < steps; ++step)
    inputs.push_back(inputsOf(function(*module, "train"), step));
  if (failed(accumulate(*module, microBatches))) {
    ADD_FAILURE() << "not split";
    return trained;
  }
  if (inProducts) {
    EXPECT_GT(accumulateInProducts(function(*module, "train"),
                                   [](Operation *, AccumulateProductOp) { return true; }),
              0);
  }
  if (failed(module->verify())) {
    ADD_FAILURE() << "not sound";
    return trained;
  }
  trained.variables = firstValues(*module);
  for (const reference::Tensors &whole : inputs) {
    double loss = 0;
    for (int64_t i = 0; i < microBatches; ++i) {
      auto outputs = reference::run(function(*module, "train"), part(whole, i, microBatches),
                                    trained.variables);
      if (failed(outputs)) {
        ADD_FAILURE();
        return trained;
      }
      loss += outputs->results.at("loss")[0] / static_cast<double>(microBatches);
      if (microBatches == 1)
        trained.gradients = outputs->gradients;
    }
    trained.losses.push_back(loss);
    if (microBatches > 1) {
      auto outputs = reference::run(function(*module, "step"), {}, trained.variables);
      if (failed(outputs)) {
        ADD_FAILURE();
        return trained;
      }
      trained.gradients = outputs->gradients;
    }
  }
  return trained;
}

void expectNear(const reference::Tensors &a, const reference::Tensors &b, double tolerance,
                const std::string &what) {
  for (auto &[name, expected] : a) {
    ASSERT_TRUE(b.count(name)) << what << " " << name;
    for (int64_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(expected[i], b.at(name)[i], tolerance) << what << " " << name << " " << i;
  }
}

struct MicroBatches : ::testing::TestWithParam<Network> {};

TEST_P(MicroBatches, GiveTheStepOfTheWholeBatch) {
  // Not Lion: the sign of what is nearly 0 is decided by rounding.
  for (const char *kind : {"sgd", "adam", "adamw", "rmsprop", "lamb", "adafactor", "clipped"}) {
    OptimizerSettings options;
    // The norm is that of the whole batch's gradient, not of a micro-batch's, and it is exceeded.
    if (kind == std::string_view("clipped"))
      options.clipNorm = 0.125;
    else
      options.name = kind;
    options.lr = 0.125;
    options.weightDecay = 0.125;
    if (options.name == "sgd")
      options.momentum = 0.5;
    else
      options.epsilon = 0.25; // so that the update is smooth where a gradient is nearly 0
    Trained whole = train(GetParam().build, options, 1);
    for (auto [microBatches, inProducts] :
         {std::pair(2, false), {2, true}, {8, false}, {8, true}}) {
      std::string what = std::string(kind) + " in " + std::to_string(microBatches) +
                         (inProducts ? ", added in products" : "");
      Trained split = train(GetParam().build, options, microBatches, inProducts);
      ASSERT_EQ(split.losses.size(), whole.losses.size());
      for (size_t step = 0; step < whole.losses.size(); ++step)
        EXPECT_NEAR(split.losses[step], whole.losses[step], 1e-12) << what;
      expectNear(whole.variables, split.variables, 1e-12, what);
      expectNear(whole.gradients, split.gradients, 1e-12, what + " gradient");
      for (auto &[name, value] : split.variables) // accumulators are empty after a step
        if (!whole.variables.count(name)) {
          for (double element : value.data)
            EXPECT_EQ(element, name == kWindowScale ? 1 : 0) << name;
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, MicroBatches,
                         ::testing::Values(Network{"convnet", buildConvnet},
                                           Network{"transformer", buildTransformer},
                                           Network{"encoder", buildEncoder},
                                           Network{"regression", buildRegression}),
                         [](const auto &info) { return info.param.name; });

// A micro-batch with one label weighs less than one with many, and one without any nothing.
TEST(Accumulate, EveryLabelWeighsTheSame) {
  for (bool clipped : {false, true}) {
    OptimizerSettings options;
    options.lr = 0.125;
    options.momentum = 0.5;
    if (clipped)
      options.clipNorm = 0.125;
    Trained whole = train(buildTokens, options, 1);
    for (int64_t microBatches : {2, 8}) {
      std::string what = std::to_string(microBatches) + " micro-batches";
      Trained split = train(buildTokens, options, microBatches);
      expectNear(whole.variables, split.variables, 1e-12, what);
      expectNear(whole.gradients, split.gradients, 1e-12, what + " gradient");
      EXPECT_EQ(split.variables.at("label_count")[0], 0) << what;
    }
  }
}

// Without the index of the micro-batch all would draw the first one's mask.
TEST(Accumulate, DropoutDiffersBetweenMicroBatches) {
  OwningOpRef<ModuleOp> module = parse(std::string(R"(
    gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
    gc.state @micro_batch accumulator : tensor<1xi64> = #gc.init<constant, [0.0]>
    func.func @f(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
      %g = gc.read @generator : tensor<2xi64>
      %m = gc.read @micro_batch : tensor<1xi64>
      %y = gc.dropout %x, %g, %m {probability = 0.5 : f32, id = 0 : i64} : (tensor<4x16xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<4x16xf32>
      gc.advance @micro_batch {modulo = 2 : i64}
      return %y : tensor<4x16xf32>
    }
  )"));
  ASSERT_TRUE(module);
  reference::Tensors variables = firstValues(*module), inputs;
  inputs["0"] = reference::Tensor(ArrayRef<int64_t>{4, 16}, 1);
  std::vector<std::vector<double>> masks;
  for (int run = 0; run < 3; ++run) {
    auto outputs = reference::run(function(*module, "f"), inputs, variables);
    ASSERT_TRUE(succeeded(outputs));
    masks.push_back(outputs->results.at("0").data);
  }
  EXPECT_NE(masks[0], masks[1]);
  EXPECT_EQ(masks[0], masks[2]);
}

} // namespace
