//===- ArgumentAccess.cpp - What a kernel does with its arguments -----------===//
#include "compiler/language/ArgumentAccess.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace gc::kernels {

// The argument of `kernel` whose bytes `memref` is, or -1 (an array on the stack).
static int argumentOf(Value memref, FunctionOpInterface kernel, unsigned count) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(memref);
  if (!argument || argument.getOwner() != &kernel.getFunctionBody().front() ||
      argument.getArgNumber() >= count)
    return -1;
  return static_cast<int>(argument.getArgNumber());
}

SmallVector<ArgumentAccess> argumentAccess(FunctionOpInterface kernel, unsigned count) {
  SmallVector<ArgumentAccess> access(count);
  auto note = [&](Value memref, bool isWrite) {
    int argument = argumentOf(memref, kernel, count);
    if (argument < 0)
      return;
    if (isWrite)
      access[argument].writes = true;
    else if (!access[argument].writes)
      access[argument].reads = true;
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel.getOperation() || isa<ViewLikeOpInterface>(op))
      return;
    SmallVector<MemoryEffects::EffectInstance> effects;
    auto known = dyn_cast<MemoryEffectOpInterface>(op);
    if (known)
      known.getEffects(effects);
    for (Value operand : op->getOperands()) {
      if (!isa<BaseMemRefType>(operand.getType()))
        continue;
      // Where one op both reads and writes, the read comes first.
      for (bool isWrite : {false, true}) {
        bool does = llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &effect) {
          bool isThis = !effect.getValue() || effect.getValue() == operand;
          return isThis && (isWrite ? isa<MemoryEffects::Write>(effect.getEffect())
                                    : isa<MemoryEffects::Read>(effect.getEffect()));
        });
        if (!known || does)
          note(operand, isWrite);
      }
    }
  });
  return access;
}

} // namespace gc::kernels
