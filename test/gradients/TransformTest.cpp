//===- TransformTest.cpp - what passes do to the numbers ------------------===//
#include "dialects/Gc.h"
#include "passes/Autodiff.h"
#include "passes/Expand.h"
#include "passes/Freeze.h"
#include "passes/Inference.h"
#include "passes/Optimizer.h"
#include "passes/Schedule.h"
#include "passes/Split.h"
#include "test/gradients/Model.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace gc;
using namespace gc::test;

namespace {

// @w is used twice, so that its first adjoint comes before its last use.
const char *kTied = R"(
  gc.parameter @w : tensor<3x3xf32> = #gc.init<constant, [0.0]>
  func.func @model(%x: tensor<5x3xf32> {gc.input = "x"}, %l: tensor<5xi32> {gc.input = "labels"})
      -> (tensor<f32> {gc.output = "loss"}) {
    %w = gc.read @w : tensor<3x3xf32>
    %a = gc.linear %x, %w : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
    %b = gc.tanh %a : (tensor<5x3xf32>) -> tensor<5x3xf32>
    %c = gc.linear %b, %w : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
    %loss, %lse = gc.cross_entropy %c, %l : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
    return %loss : tensor<f32>
  }
)";

func::FuncOp functionNamed(ModuleOp module, StringRef name) {
  return module.lookupSymbol<func::FuncOp>(name);
}

struct TiedModel : ::testing::Test {
  void SetUp() override {
    module = parse(std::string(kTied));
    ASSERT_TRUE(module);
    inputs = drawInputs(functionNamed(*module, "model"));
    inputs["labels"].data = {0, 2, 1, -1, 2};
    variables["w"] = draw({3, 3}, -1, 1, 1);
    variables["w.velocity"] = variables["w.exp_avg"] = variables["w.exp_avg_sq"] =
        reference::Tensor(ArrayRef<int64_t>{3, 3});
    variables["generator"] = reference::Tensor(ArrayRef<int64_t>{2});
    variables["learning_rate"] = reference::Tensor(ArrayRef<int64_t>{kScheduledSteps}, 0.5);
    ASSERT_TRUE(succeeded(autodiff(*module)));
    // The gradient before any update is there to disturb it.
    reference::Tensors copy = variables;
    auto outputs = reference::run(functionNamed(*module, "train"), inputs, copy);
    ASSERT_TRUE(succeeded(outputs));
    gradient = outputs->gradients.at("w");
  }
  // Runs a step and returns the gradient that the step saw.
  reference::Tensor step() {
    auto outputs = reference::run(functionNamed(*module, "train"), inputs, variables);
    EXPECT_TRUE(succeeded(outputs));
    return succeeded(outputs) ? outputs->gradients.at("w") : reference::Tensor();
  }
  OwningOpRef<ModuleOp> module;
  reference::Tensors inputs, variables;
  reference::Tensor gradient;
};

TEST_F(TiedModel, SgdUpdatesAfterTheLastUse) {
  OptimizerSettings options;
  options.lr = 0.5;
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  reference::Tensor before = variables["w"];
  EXPECT_EQ(step().data, gradient.data);
  for (int64_t i = 0; i < before.size(); ++i)
    EXPECT_DOUBLE_EQ(variables["w"][i], before[i] - 0.5 * gradient[i]);
}

TEST_F(TiedModel, MomentumStartsWithTheGradient) {
  OptimizerSettings options;
  options.lr = 0.5;
  options.momentum = 0.75;
  options.dampening = 0.25;
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  EXPECT_EQ(step().data, gradient.data);
  EXPECT_EQ(variables["w.velocity"].data, gradient.data);
  EXPECT_EQ(variables["generator"][1], 1);
  reference::Tensor before = variables["w"], second = step();
  for (int64_t i = 0; i < second.size(); ++i) {
    double velocity = 0.75 * gradient[i] + 0.75 * second[i];
    EXPECT_DOUBLE_EQ(variables["w.velocity"][i], velocity);
    EXPECT_DOUBLE_EQ(variables["w"][i], before[i] - 0.5 * velocity);
  }
}

// In the first step m / c1 = g and v / c2 = g^2, so p moves by lr g / (|g| + epsilon).
TEST_F(TiedModel, AdamsFirstStepIsTheSign) {
  OptimizerSettings options;
  options.name = "adam";
  options.lr = 0.5;
  options.beta1 = 0.75;
  options.beta2 = 0.75;
  options.epsilon = 0.25;
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  reference::Tensor before = variables["w"];
  EXPECT_EQ(step().data, gradient.data);
  for (int64_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(variables["w"][i], before[i] - 0.5 * gradient[i] / (std::abs(gradient[i]) + 0.25),
                1e-14);
}

TEST_F(TiedModel, AdamWDecaysTheParameter) {
  OptimizerSettings options;
  options.name = "adamw";
  options.lr = 0.5;
  options.weightDecay = 0.25;
  options.beta1 = 0.75;
  options.beta2 = 0.75;
  options.epsilon = 0.25;
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  reference::Tensor before = variables["w"];
  EXPECT_EQ(step().data, gradient.data);
  for (int64_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(variables["w"][i],
                before[i] * (1 - 0.125) - 0.5 * gradient[i] / (std::abs(gradient[i]) + 0.25),
                1e-14);
}

// What remains to train has the gradients that it would have had, whichever parameter is frozen.
TEST(Freeze, LeavesTheOtherGradientsAsTheyWere) {
  for (const Model &model : models())
    for (const auto &[frozen, shape] : model.parameters) {
      if (model.parameters.size() == 1)
        continue;
      OwningOpRef<ModuleOp> whole = parse(model), part = parse(model);
      ASSERT_TRUE(whole && succeeded(autodiff(*whole)));
      ASSERT_TRUE(part && succeeded(freeze(*part, {.names = frozen})) &&
                  succeeded(autodiff(*part)));
      reference::Tensors inputs = drawInputs(functionNamed(*whole, "train"));
      reference::Tensors variables = drawVariables(model, *whole);
      auto all = reference::run(functionNamed(*whole, "train"), inputs, variables);
      auto rest = reference::run(functionNamed(*part, "train"), inputs, variables);
      ASSERT_TRUE(succeeded(all) && succeeded(rest)) << model.name;
      EXPECT_EQ(all->results.at("loss").data, rest->results.at("loss").data) << model.name;
      EXPECT_EQ(rest->gradients.count(frozen), 0u) << model.name;
      EXPECT_EQ(rest->gradients.size() + 1, all->gradients.size()) << model.name;
      for (auto &[name, gradient] : rest->gradients)
        EXPECT_EQ(gradient.data, all->gradients.at(name).data) << model.name << " " << name;
    }
}

TEST_F(TiedModel, TheLearningRateIsThatOfTheStep) {
  OptimizerSettings options;
  ASSERT_TRUE(succeeded(addOptimizer(*module, options)));
  auto trainStep = [&](double rate) {
    reference::Tensor before = variables["w"];
    ASSERT_TRUE(succeeded(reference::run(functionNamed(*module, "train"), inputs, variables)));
    bool moved = variables["w"].data != before.data;
    EXPECT_EQ(moved, rate != 0);
  };
  variables["learning_rate"].data.assign(kScheduledSteps, 0);
  variables["learning_rate"][1] = 0.5;
  variables["generator"][1] = kScheduledSteps - 1; // the last of the ring, then its first two
  trainStep(0);
  trainStep(0);
  trainStep(0.5);
  EXPECT_EQ(variables["generator"][1], kScheduledSteps + 2);
}

// clip_grad_norm_: all gradients times min(1, most / (norm + 1e-6)), before weight decay.
TEST_F(TiedModel, ClippingScalesTheGradientBeforeWeightDecay) {
  double norm = 0;
  for (double g : gradient.data)
    norm += g * g;
  norm = std::sqrt(norm);
  OptimizerSettings options;
  options.weightDecay = 0.25;
  options.clipNorm = static_cast<float>(norm / 2);
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  reference::Tensor before = variables["w"];
  EXPECT_EQ(step().data, gradient.data) << "what is kept is not clipped";
  double scale = *options.clipNorm / (norm + 1e-6);
  for (int64_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(variables["w"][i], before[i] - 0.5 * (scale * gradient[i] + 0.25 * before[i]),
                1e-14);
}

TEST_F(TiedModel, ANormBelowTheLimitChangesNothing) {
  OptimizerSettings options;
  options.clipNorm = 1e6;
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  reference::Tensor before = variables["w"];
  step();
  for (int64_t i = 0; i < before.size(); ++i)
    EXPECT_DOUBLE_EQ(variables["w"][i], before[i] - 0.5 * gradient[i]);
}

// clip_grad_value_.
TEST_F(TiedModel, ClippingCutsEveryElement) {
  double most = 0;
  for (double g : gradient.data)
    most = std::max(most, std::abs(g));
  OptimizerSettings options;
  options.clipValue = static_cast<float>(most / 2);
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  reference::Tensor before = variables["w"];
  step();
  for (int64_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(variables["w"][i],
                before[i] - 0.5 * std::clamp(gradient[i], -*options.clipValue, *options.clipValue),
                1e-15);
}

TEST_F(TiedModel, AGroupHasItsOwnRateAndNoDecay) {
  OptimizerSettings options;
  options.name = "adamw";
  options.weightDecay = 0.25;
  options.epsilon = 0.25;
  options.noDecay = "w*";
  options.lrScale = "w=0.25";
  ASSERT_TRUE(succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
  reference::Tensor before = variables["w"];
  step();
  for (int64_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(variables["w"][i], before[i] - 0.125 * gradient[i] / (std::abs(gradient[i]) + 0.25),
                1e-7);
}

TEST_F(TiedModel, AveragesFollowTheWeightsAndAreEvaluated) {
  // Inference comes before autodiff.
  module = parse(std::string(kTied));
  ASSERT_TRUE(module && succeeded(addInference(*module)) && succeeded(autodiff(*module)));
  OptimizerSettings options;
  options.ema = 0.75;
  ASSERT_TRUE(succeeded(addOptimizer(*module, options)));
  variables["w.ema"] = variables["w"];
  reference::Tensor average = variables["w"];
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(succeeded(reference::run(functionNamed(*module, "train"), inputs, variables)));
    for (int64_t j = 0; j < average.size(); ++j) {
      average[j] = 0.75 * average[j] + 0.25 * variables["w"][j];
      EXPECT_DOUBLE_EQ(variables["w.ema"][j], average[j]);
    }
  }
  auto lossOf = [&] {
    auto outputs = reference::run(functionNamed(*module, "evaluate"), inputs, variables);
    EXPECT_TRUE(succeeded(outputs));
    return outputs->results.at("loss")[0];
  };
  double averaged = lossOf();
  variables["w"].data.assign(9, 0);
  EXPECT_EQ(lossOf(), averaged) << "evaluation reads the average";
  variables["w.ema"].data.assign(9, 0);
  EXPECT_NE(lossOf(), averaged);
}

// Every model, also those that expansion leaves alone, computes the same afterwards.
TEST(Expand, KeepsLossAndGradients) {
  for (const Model &model : models()) {
    OwningOpRef<ModuleOp> module = parse(model);
    ASSERT_TRUE(module && succeeded(autodiff(*module)));
    reference::Tensors inputs = drawInputs(functionNamed(*module, "train"));
    reference::Tensors variables = drawVariables(model, *module);
    auto before = reference::run(functionNamed(*module, "train"), inputs, variables);
    expand(*module);
    auto after = reference::run(functionNamed(*module, "train"), inputs, variables);
    ASSERT_TRUE(succeeded(before) && succeeded(after)) << model.name;
    // patch_embed adds its bias first, conv2d last: equal to rounding.
    EXPECT_NEAR(before->results.at("loss")[0], after->results.at("loss")[0], 1e-13) << model.name;
    for (auto &[name, gradient] : before->gradients)
      for (int64_t i = 0; i < gradient.size(); ++i)
        EXPECT_NEAR(gradient[i], after->gradients.at(name)[i], 1e-13) << model.name << " " << name;
  }
}

// A step in parts of the batch is that of the whole batch up to rounding, which in double is
// little; the loss, which is computed from the same values of samples, is even the same to the bit.
TEST(Split, KeepsLossAndGradients) {
  const std::string text = R"(
    gc.parameter @a : tensor<4x3x3x2xf32> = #gc.init<constant, [0.0]>
    gc.parameter @c : tensor<4x3x3x4xf32> = #gc.init<constant, [0.0]>
    gc.parameter @s : tensor<4xf32> = #gc.init<constant, [0.0]>
    gc.parameter @w : tensor<3x16xf32> = #gc.init<constant, [0.0]>
    func.func @model(%x: tensor<4x4x4x2xf32> {gc.input = "x"}, %l: tensor<4xi32> {gc.input = "labels"})
        -> (tensor<f32> {gc.output = "loss"}) {
      %a = gc.read @a : tensor<4x3x3x2xf32>
      %s = gc.read @s : tensor<4xf32>
      %0 = gc.conv2d %x, %a bias %s {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x4x4x2xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<4x4x4x4xf32> loc("first")
      %1 = gc.tanh %0 : (tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32> loc("skip")
      %c = gc.read @c : tensor<4x3x3x4xf32>
      %2 = gc.conv2d %1, %c {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x4x4x4xf32>, tensor<4x3x3x4xf32>) -> tensor<4x4x4x4xf32> loc("second")
      %3, %m, %r = gc.group_norm %2, %s, %s {groups = 2 : i64, epsilon = 0.25 : f32} : (tensor<4x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4x4x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
      %4 = gc.add %3, %1 : (tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32> loc("add")
      %5, %i = gc.max_pool %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<4x4x4x4xf32>) -> (tensor<4x2x2x4xf32>, tensor<4x2x2x4xi8>) loc("pool")
      %f = gc.reshape %5 : (tensor<4x2x2x4xf32>) -> tensor<4x16xf32>
      %w = gc.read @w : tensor<3x16xf32>
      %y = gc.linear %f, %w : (tensor<4x16xf32>, tensor<3x16xf32>) -> tensor<4x3xf32>
      %loss, %lse = gc.cross_entropy %y, %l : (tensor<4x3xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
      return %loss : tensor<f32>
    }
  )";
  auto step = [&](llvm::ArrayRef<SampleChain> chains, int64_t parts, bool isExpanded) {
    OwningOpRef<ModuleOp> module = parse(text);
    EXPECT_TRUE(module && succeeded(splitChains(functionNamed(*module, "model"), chains, parts)) &&
                succeeded(autodiff(*module)));
    if (isExpanded)
      expand(*module);
    reference::Tensors inputs = drawInputs(functionNamed(*module, "train")), variables;
    inputs["labels"].data = {0, 2, 1, 2};
    variables["a"] = draw({4, 3, 3, 2}, -1, 1, 1);
    variables["c"] = draw({4, 3, 3, 4}, -1, 1, 2);
    variables["s"] = draw({4}, 0.5, 1.5, 3);
    variables["w"] = draw({3, 16}, -1, 1, 4);
    auto outputs = reference::run(functionNamed(*module, "train"), inputs, variables);
    EXPECT_TRUE(succeeded(outputs));
    return std::move(*outputs);
  };
  auto whole = step({}, 1, false);
  // All that can be split; both ends inside, where a value and its gradient cross; two chains.
  SmallVector<SmallVector<SampleChain>> cases{{{2, 8}}, {{5, 6}}, {{2, 3}, {5, 8}}, {{7, 7}}};
  for (const auto &chains : cases)
    for (int64_t parts : {2, 4})
      for (bool isExpanded : {false, true}) {
        SCOPED_TRACE(textOf(chains) + " in " + std::to_string(parts));
        auto split = step(chains, parts, isExpanded);
        EXPECT_EQ(whole.results.at("loss")[0], split.results.at("loss")[0]);
        ASSERT_EQ(whole.gradients.size(), split.gradients.size());
        for (auto &[name, gradient] : whole.gradients)
          for (int64_t i = 0; i < gradient.size(); ++i)
            EXPECT_NEAR(gradient[i], split.gradients.at(name)[i], 1e-14) << name;
      }
  // What is found by itself ends before the product.
  OwningOpRef<ModuleOp> module = parse(text);
  EXPECT_EQ(textOf(findSampleChains(functionNamed(*module, "model"), 2)), "2-8");
}

// Moved ops compute what they did, to the bit, and update what they did. Workspaces make the order
// matter.
TEST(Schedule, KeepsLossGradientsAndUpdates) {
  int moved = 0;
  std::mt19937 random(1);
  for (const Model &model : models()) {
    OwningOpRef<ModuleOp> module = parse(model);
    OptimizerSettings options;
    ASSERT_TRUE(module && succeeded(autodiff(*module)) &&
                succeeded(addOptimizer(*module, options, /*keepGradients=*/true)));
    func::FuncOp train = functionNamed(*module, "train");
    reference::Tensors inputs = drawInputs(train), variables = drawVariables(model, *module);
    reference::Tensors copy = variables;
    auto before = reference::run(train, inputs, variables);
    SmallVector<Operation *> order;
    for (Operation &op : train.getBody().front()) {
      op.setAttr("gc.workspace", Builder(&op).getI64IntegerAttr(random() % 4096));
      order.push_back(&op);
    }
    scheduleForMemory(train);
    for (auto [op, old] : llvm::zip(train.getBody().front(), order))
      moved += &op != old;
    auto after = reference::run(train, inputs, copy);
    ASSERT_TRUE(succeeded(before) && succeeded(after)) << model.name;
    EXPECT_EQ(before->results.at("loss").data, after->results.at("loss").data) << model.name;
    for (auto &[name, gradient] : before->gradients)
      EXPECT_EQ(gradient.data, after->gradients.at(name).data) << model.name << " " << name;
    for (auto &[name, value] : variables)
      EXPECT_EQ(value.data, copy.at(name).data) << model.name << " " << name;
  }
  EXPECT_GT(moved, 10);
}

TEST(Inference, UsesRunningStatisticsAndDropsNothing) {
  OwningOpRef<ModuleOp> module = parse(std::string(R"(
    gc.state @m running_statistic : tensor<3xf32> = #gc.init<constant, [0.0]>
    gc.state @v running_statistic : tensor<3xf32> = #gc.init<constant, [1.0]>
    gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
    func.func @model(%x: tensor<5x3xf32> {gc.input = "x"}, %w: tensor<3xf32> {gc.input = "w"},
                     %b: tensor<3xf32> {gc.input = "b"})
        -> (tensor<f32> {gc.output = "loss"}, tensor<5x3xf32> {gc.output = "y"}) {
      %g = gc.read @generator : tensor<2xi64>
      %n, %mean, %rstd = gc.batch_norm %x, %w, %b {epsilon = 0.25 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>)
      gc.running_stats @m, @v, %mean, %rstd {momentum = 0.5 : f32, epsilon = 0.25 : f32, count = 5 : i64} : tensor<3xf32>, tensor<3xf32>
      %y = gc.dropout %n, %g {probability = 0.5 : f32, id = 1 : i64} : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<5x3xf32>
      %loss = gc.reduce_sum %y {dimensions = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
      return %loss, %y : tensor<f32>, tensor<5x3xf32>
    }
  )"));
  ASSERT_TRUE(module && succeeded(addInference(*module)));
  reference::Tensors inputs = drawInputs(functionNamed(*module, "model")), variables;
  variables["m"] = draw({3}, -1, 1, 5);
  variables["v"] = draw({3}, 1, 2, 6);
  variables["generator"] = reference::Tensor(ArrayRef<int64_t>{2});
  reference::Tensors kept = variables;
  auto outputs = reference::run(functionNamed(*module, "evaluate"), inputs, variables);
  ASSERT_TRUE(succeeded(outputs));
  for (int64_t i = 0; i < 15; ++i) {
    int64_t c = i % 3;
    EXPECT_NEAR(outputs->results.at("y")[i],
                (inputs["x"][i] - kept["m"][c]) / std::sqrt(kept["v"][c] + 0.25) * inputs["w"][c] +
                    inputs["b"][c],
                1e-14);
  }
  EXPECT_EQ(variables["m"].data, kept["m"].data);
  EXPECT_EQ(variables["v"].data, kept["v"].data);
}

} // namespace
