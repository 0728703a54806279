//===- Rederive.cpp - derive again inside the kernel that reads -----------===//
//
//   %n = gc.normalize %c, ...                      %n = gc.normalize %c, ...
//   %a = gc.relu %n                                %a = gc.relu %n
//   ...                                            ...
//                                            =>    %n2 = gc.normalize %c, ... {gc.rederived}
//                                                  %a2 = gc.relu %n2 {gc.rederived}
//   %dn = gc.relu_grad %a, %da                     %dn = gc.relu_grad %a2, %da
//   %s = gc.normalize_grad_... %c, %dn             %s = gc.normalize_grad_... %c, %dn
//
// Fusion makes one kernel of the last four ops. It reads %c anyway and no longer reads %a, which
// dies at its last other use: the weight gradient of the next product, or a forward op if there is
// none.
//
//===----------------------------------------------------------------------===//
#include "passes/Rederive.h"
#include "dialects/Gc.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/Dependence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace gc {
namespace {

// With more ops than this, computing the value again costs more than the read that it saves.
constexpr unsigned longestDerivation = 6;

class Rederivation {
public:
  explicit Rederivation(Block &block) : backward(backwardOps(block)) {}

  void run(Block &block) {
    for (Operation &op : block)
      if (backward.contains(&op) && isPointwise(&op))
        for (OpOperand &operand : op.getOpOperands())
          rederiveOperand(operand);
  }

private:
  static bool isPointwise(Operation *op) {
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    return fusible && fusible.getFusionKind() != FusionKind::None;
  }
  bool isForward(Operation *op) const { return op && !backward.contains(op); }

  // Clones the ops that make the operand, right before its reader.
  void rederiveOperand(OpOperand &operand) {
    Operation *reader = operand.getOwner();
    if (cast<FusibleOpInterface>(reader).getOperandAccess(operand.getOperandNumber()) !=
            Access::Full ||
        !isForward(operand.get().getDefiningOp()))
      return;
    llvm::SetVector<Operation *> derivation;
    if (!collect(operand.get().getDefiningOp(), reader, derivation))
      return;
    OpBuilder builder(reader);
    IRMapping mapping;
    for (Operation *op : derivation)
      builder.clone(*op, mapping)->setAttr("gc.rederived", builder.getUnitAttr());
    operand.set(mapping.lookup(operand.get()));
  }

  // Gathers the ops that make a value, operands first; false if it needs anything that is not there
  // when `reader` runs.
  bool collect(Operation *op, Operation *reader, llvm::SetVector<Operation *> &derivation) {
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    auto repeat = dyn_cast<RecomputableOpInterface>(op);
    if (!fusible || fusible.getFusionKind() != FusionKind::Elementwise || !repeat ||
        repeat.getRepetition() != Repetition::Exact)
      return false;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      // A scalar or a value per channel is not derived: it is a variable or an input, or it must be
      // alive here anyway.
      if (fusible.getOperandAccess(i) != Access::Full) {
        if (operand.getDefiningOp() && !isa<ReadOp>(operand.getDefiningOp()) &&
            !aliveAt(operand, reader))
          return false;
        continue;
      }
      Operation *producer = operand.getDefiningOp();
      if (aliveAt(operand, reader) || (producer && derivation.contains(producer)))
        continue;
      if (!isForward(producer) || !collect(producer, reader, derivation))
        return false;
    }
    derivation.insert(op);
    return derivation.size() <= longestDerivation;
  }

  // Whether another backward op behind `reader` reads the value, so that it is saved in any case.
  bool aliveAt(Value value, Operation *reader) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user != reader && backward.contains(user) && user->getBlock() == reader->getBlock() &&
             reader->isBeforeInBlock(user) && !user->hasAttr("gc.rederived");
    });
  }

  llvm::DenseSet<Operation *> backward;
};

} // namespace

void rederive(func::FuncOp function) {
  for (Block &block : function.getBody())
    Rederivation(block).run(block);
}

} // namespace gc
