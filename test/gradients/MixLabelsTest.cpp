//===- MixLabelsTest.cpp - loss and gradients of mixed labels -------------===//
#include "passes/MixLabels.h"
#include "dialects/Gc.h"
#include "passes/Autodiff.h"
#include "test/gradients/Model.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace gc;
using namespace gc::test;

namespace {

const char *kClassifier = R"(
  gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
  func.func @model(%x: tensor<5x4xf32> {gc.input = "image"}, %l: tensor<5xi32> {gc.input = "label"})
      -> (tensor<f32> {gc.output = "loss"}) {
    %w = gc.read @w : tensor<3x4xf32>
    %y = gc.linear %x, %w : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
    %loss, %lse = gc.cross_entropy %y, %l : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
    return %loss : tensor<f32>
  }
)";

reference::Outputs stepOf(bool isMixed, reference::Tensors inputs) {
  OwningOpRef<ModuleOp> module = parse(std::string(kClassifier));
  EXPECT_TRUE(module && (!isMixed || succeeded(mixLabels(*module))) &&
              succeeded(autodiff(*module)));
  reference::Tensors variables;
  variables["w"] = draw({3, 4}, -1, 1, 1);
  inputs["image"] = draw({5, 4}, -1, 1, 2);
  auto outputs = reference::run(module->lookupSymbol<func::FuncOp>("train"), inputs, variables);
  EXPECT_TRUE(succeeded(outputs));
  return std::move(*outputs);
}

reference::Tensor labels(std::vector<double> values) {
  reference::Tensor result(ArrayRef<int64_t>{5});
  result.data = std::move(values);
  return result;
}

} // namespace

// Loss and gradient are linear in what each label alone gives. One sample is left out of both.
TEST(MixLabels, IsTheMeanOfBothLabelsByTheShare) {
  reference::Tensors first, second, both;
  both["label"] = first["label"] = labels({0, 2, 1, -1, 2});
  both["mixed_label"] = second["label"] = labels({2, 0, 1, -1, 0});
  reference::Outputs own = stepOf(false, first), other = stepOf(false, second);
  EXPECT_GT(std::abs(own.results.at("loss")[0] - other.results.at("loss")[0]), 0.01);
  for (double share : {0.0, 0.25, 0.7, 1.0}) {
    both["share"] = reference::Tensor(ArrayRef<int64_t>{}, share);
    reference::Outputs mixed = stepOf(true, both);
    EXPECT_NEAR(mixed.results.at("loss")[0],
                share * own.results.at("loss")[0] + (1 - share) * other.results.at("loss")[0],
                1e-14);
    const reference::Tensor &gradient = mixed.gradients.at("w");
    for (int64_t i = 0; i < gradient.size(); ++i)
      EXPECT_NEAR(gradient[i],
                  share * own.gradients.at("w")[i] + (1 - share) * other.gradients.at("w")[i],
                  1e-14);
    if (share == 1) { // not only nearly
      EXPECT_EQ(mixed.results.at("loss")[0], own.results.at("loss")[0]);
      EXPECT_EQ(gradient.data, own.gradients.at("w").data);
    }
  }
}
