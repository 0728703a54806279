//===- Batch.cpp - a model for another batch ------------------------------===//
//
// Before:
//   func.func @model(%x: tensor<16x28x28x1xf32>, %l: tensor<16xi32>) -> tensor<f32> {
//     %0 = gc.reshape %x : (tensor<16x28x28x1xf32>) -> tensor<16x784xf32>
//     %1 = gc.linear %0, %w : ... -> tensor<16x10xf32>
// After (size=4):
//   func.func @model(%x: tensor<4x28x28x1xf32>, %l: tensor<4xi32>) -> tensor<f32> {
//     %0 = gc.reshape %x : (tensor<4x28x28x1xf32>) -> tensor<4x784xf32>
//     %1 = gc.linear %0, %w : ... -> tensor<4x10xf32>
//
// BatchSplit tells which dimensions follow the batch. Of the backward pass there is nothing yet, so
// means over the batch are ops that take their number of samples from their operands.
//
//===----------------------------------------------------------------------===//
#include "passes/Batch.h"
#include "dialects/Gc.h"
#include "passes/BatchSplit.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_BATCHPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {

LogicalResult setBatch(ModuleOp module, int64_t size) {
  constexpr int64_t largest = std::numeric_limits<int32_t>::max(); // of any dimension
  if (size < 1 || size > largest)
    return module.emitError("size must be from 1 to ") << largest << ", got " << size;
  for (auto function : module.getOps<func::FuncOp>())
    if (auto list = function->getAttrOfType<StringAttr>(kListAttr))
      return function.emitOpError("is the command list \"")
             << list.getValue()
             << "\" already: --gc-batch takes a model, before --gc-inference and --gc-autodiff";
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model))
    return failure();
  return changeBatch(*model, size);
}

namespace {

struct BatchPass : impl::BatchPassBase<BatchPass> {
  using BatchPassBase::BatchPassBase;
  void runOnOperation() override {
    if (failed(setBatch(getOperation(), size)))
      signalPassFailure();
  }
};

} // namespace
} // namespace gc
