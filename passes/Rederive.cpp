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
// The last four are one kernel, which reads %c anyway: %a is no longer read there. It dies with its
// last other use, the weight gradient of the next product, or in forward if there is none.
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

// Longer derivations would spend more than the read that they save.
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

  // Clones what makes the operand, before its reader.
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
      // Per channel or scalar: small, and saved for the reader's neighbours or soon made.
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

  // Whether a backward op behind `reader` reads the value whatever we do here.
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
