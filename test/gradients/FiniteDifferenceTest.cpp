//===- FiniteDifferenceTest.cpp - every derivative against differences ----===//
//
// Central differences in double: (L(p + h) - L(p - h)) / 2h differs from the derivative by
// h^2 L''' / 6 (truncation) plus about 2^-53 k |L| / h (rounding of a loss with k terms). With
// h = 1e-5, L''' below a few hundred and |L| k below a few hundred, both stay under 1e-8. A wrong
// factor, a lost term or a shifted index is off by 1e-3 and more.
//
//===----------------------------------------------------------------------===//
#include "dialects/Gc.h"
#include "passes/Autodiff.h"
#include "test/gradients/Model.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace gc;
using namespace gc::test;

namespace {

constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-8;

class FiniteDifference : public ::testing::TestWithParam<size_t> {};

double lossOf(func::FuncOp function, const reference::Tensors &inputs,
              reference::Tensors variables) {
  auto outputs = reference::run(function, inputs, variables);
  EXPECT_TRUE(succeeded(outputs));
  return succeeded(outputs) ? outputs->results.at("loss")[0] : NAN;
}

TEST_P(FiniteDifference, Matches) {
  const Model &model = models()[GetParam()];
  OwningOpRef<ModuleOp> forward = parse(model), both = parse(model);
  ASSERT_TRUE(forward && both);
  ASSERT_TRUE(succeeded(autodiff(*both)));
  auto function = *forward->getOps<func::FuncOp>().begin();
  auto train = *both->getOps<func::FuncOp>().begin();
  reference::Tensors inputs = drawInputs(function);
  reference::Tensors variables = drawVariables(model, *forward);
  auto outputs = reference::run(train, inputs, variables);
  ASSERT_TRUE(succeeded(outputs));
  EXPECT_EQ(outputs->results.at("loss")[0], lossOf(function, inputs, variables));

  for (auto &[name, shape] : model.parameters) {
    const reference::Tensor &gradient = outputs->gradients.at(name);
    ASSERT_EQ(gradient.shape, variables.at(name).shape);
    double largest = 0;
    for (double g : gradient.data)
      largest = std::max(largest, std::abs(g));
    EXPECT_GT(largest, 1e-3) << "the gradient of " << name << " says nothing";
    double tolerance = (kTolerance + model.rounding) * std::max(1.0, largest);
    for (int64_t i = 0; i < gradient.size(); ++i) {
      reference::Tensors above = variables, below = variables;
      above.at(name)[i] += kStep;
      below.at(name)[i] -= kStep;
      double difference =
          (lossOf(function, inputs, above) - lossOf(function, inputs, below)) / (2 * kStep);
      EXPECT_NEAR(gradient[i], difference, tolerance) << name << "[" << i << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Op, FiniteDifference, ::testing::Range<size_t>(0, models().size()),
                         [](const auto &info) { return models()[info.param].name; });

// A new differentiable op needs a model here.
TEST(FiniteDifferenceCoverage, EveryDifferentiableOp) {
  for (RegisteredOperationName op : context().getRegisteredOperations()) {
    if (!op.hasInterface<DifferentiableOpInterface>())
      continue;
    std::string name = op.getStringRef().str() + " ";
    EXPECT_TRUE(llvm::any_of(
        models(), [&](const Model &m) { return m.body.find(name) != std::string::npos; }))
        << op.getStringRef().str() << " has no finite-difference test in Models.cpp";
  }
}

} // namespace
