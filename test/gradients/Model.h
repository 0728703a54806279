//===- Model.h - small models written as text -------------------*- C++ -*-===//
#ifndef GC_TEST_GRADIENTS_MODEL_H
#define GC_TEST_GRADIENTS_MODEL_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "test/reference/Interpreter.h"
#include <string>
#include <utility>
#include <vector>

namespace gc::test {

using Named = std::pair<std::string, std::string>; // name, shape such as "3x5" ("" for a scalar)

/// A model of one interesting op. `body` reads the parameters as %name and defines %y; the loss is
/// the sum of %y times fixed weights, so that every element of the gradient is different.
struct Model {
  std::string name;
  std::vector<Named> parameters;
  std::string body;
  std::string result;        // shape of %y
  double low = -1, high = 1; // range of the parameters
  std::vector<Named> inputs = {};
  bool hasLabels = false;    // an input %labels : tensor<5xi32>, one of them negative
  bool hasIndices = false;   // an input %indices : tensor<3x3xi32>, in [0, 7)
  bool hasGenerator = false; // a state @generator
  // 2^-24 where the adjoint holds a factor as an f32 attribute.
  double rounding = 0;
};

/// A context with the gc dialect.
mlir::MLIRContext &context();

/// The module of `model`, verified; fails the test and returns null where it does not parse.
mlir::OwningOpRef<mlir::ModuleOp> parse(const Model &model);
mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);

/// Different numbers in [low, high], in an order drawn from `seed`: at least (high - low) / size
/// apart, and none at the middle of the range, so that no kink of relu or max is near.
reference::Tensor draw(llvm::ArrayRef<int64_t> shape, double low, double high, unsigned seed);

/// Values for the parameters, states and inputs of `model`.
reference::Tensors drawVariables(const Model &model, mlir::ModuleOp module);
reference::Tensors drawInputs(mlir::func::FuncOp function);

/// One model or more for every differentiable op.
const std::vector<Model> &models();

} // namespace gc::test

#endif
