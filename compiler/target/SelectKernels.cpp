//===- SelectKernels.cpp - how each op runs -------------------------------===//
//
//   %0 = gc.conv2d %x, %w {...}    =>    %0 = gc.conv2d %x, %w {gc.workspace = 147456, ...}
//
// Gradients that a library can add to their accumulators move into gc.accumulate_product.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/SelectKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/AccumulateProducts.h"

using namespace mlir;

namespace gc {
namespace {
struct SelectKernelsPass : PassWrapper<SelectKernelsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SelectKernelsPass)
  SelectKernelsPass(TargetOf targetOf, bool lean, StringRef argument)
      : targetOf(std::move(targetOf)), lean(lean), argument(argument) {}
  StringRef getArgument() const override { return argument; }
  StringRef getDescription() const override {
    return "decides how each op runs and what scratch it needs";
  }
  void runOnOperation() override {
    std::shared_ptr<Target> target = targetOf(&getContext());
    Builder builder(&getContext());
    auto walked = getOperation().walk([&](func::FuncOp function) {
      accumulateInProducts(function, [&](Operation *op, AccumulateProductOp accumulating) {
        return target->prefersAccumulating(op, accumulating, lean);
      });
      for (Operation &op : function.getBody().front().without_terminator()) {
        FailureOr<int64_t> bytes = target->workspaceBytes(&op, lean);
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
  TargetOf targetOf;
  bool lean;
  StringRef argument; // a literal
};
} // namespace

std::unique_ptr<Pass> createSelectKernelsPass(TargetOf targetOf, bool lean, StringRef argument) {
  return std::make_unique<SelectKernelsPass>(std::move(targetOf), lean, argument);
}
} // namespace gc
