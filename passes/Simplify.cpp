//===- Simplify.cpp - an equal model that needs less ----------------------===//
//
//   %r = gc.relu %x : 16x224x224x64            %p, %i = gc.max_pool %x
//   %y, %i = gc.max_pool %r              =>    %y = gc.relu %p : 16x112x112x64
//
// The largest of the rectified is the rectified of the largest, bit for bit, and where both are
// zero no gradient passes either way. The adjoint of ReLU then reads the small output, and the
// large one need not be saved.
//
//===----------------------------------------------------------------------===//
#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

void poolBeforeRelu(MaxPoolOp pool) {
  auto relu = pool.getInput().getDefiningOp<ReluOp>();
  if (!relu || !relu->hasOneUse())
    return;
  pool.getInputMutable().assign(relu->getOperand(0));
  relu->moveAfter(pool);
  relu->getResult(0).setType(pool.getOutput().getType());
  pool.getOutput().replaceAllUsesWith(relu->getResult(0));
  relu->setOperand(0, pool.getOutput());
}

struct SimplifyPass : impl::SimplifyPassBase<SimplifyPass> {
  using SimplifyPassBase::SimplifyPassBase;
  void runOnOperation() override {
    SmallVector<MaxPoolOp> pools;
    getOperation().walk([&](MaxPoolOp pool) { pools.push_back(pool); });
    llvm::for_each(pools, poolBeforeRelu);
  }
};

} // namespace
} // namespace gc
