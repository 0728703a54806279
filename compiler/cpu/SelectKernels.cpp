//===- SelectKernels.cpp - how each op runs on the CPU --------------------===//
//
//   %0 = gc.conv2d %x, %w {...}    =>    %0 = gc.conv2d %x, %w {gc.workspace = 147456, ...}
//
// Gradients that a library can add to their accumulators move into gc.accumulate_product.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/SelectKernels.h"
#include "compiler/cpu/CpuTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/AccumulateProducts.h"

using namespace mlir;

namespace gc::cpu {
namespace {
struct SelectKernelsPass : PassWrapper<SelectKernelsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SelectKernelsPass)
  explicit SelectKernelsPass(int threads = 0) : threads(threads) {}
  StringRef getArgument() const override { return "gc-select-cpu"; }
  StringRef getDescription() const override {
    return "decides how each op runs on the CPU and what scratch it needs";
  }
  void runOnOperation() override {
    CpuTarget target(&getContext(), threads);
    Builder builder(&getContext());
    auto walked = getOperation().walk([&](func::FuncOp function) {
      accumulateInProducts(function, [&](Operation *op, AccumulateProductOp accumulating) {
        return target.prefersAccumulating(op, accumulating);
      });
      for (Operation &op : function.getBody().front().without_terminator()) {
        FailureOr<int64_t> bytes = target.workspaceBytes(&op);
        if (failed(bytes))
          return WalkResult::interrupt();
        if (*bytes)
          op.setAttr("gc.workspace", builder.getI64IntegerAttr(*bytes));
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
  int threads;
};
} // namespace

std::unique_ptr<Pass> createSelectKernelsPass(int threads) {
  return std::make_unique<SelectKernelsPass>(threads);
}
void registerSelectKernelsPass() {
  registerPass([] { return createSelectKernelsPass(0); });
}
} // namespace gc::cpu
