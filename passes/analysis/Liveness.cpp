//===- Liveness.cpp - which bytes are alive when --------------------------===//
#include "passes/analysis/Liveness.h"

using namespace mlir;

namespace gc {

static bool isView(Operation *op) {
  auto inPlace = dyn_cast<InPlaceOpInterface>(op);
  return inPlace && inPlace.isView();
}

// The last op that reads the value or a view of it. What a function returns, and a gradient that is
// to be dumped, lives to the end.
int Liveness::lastUse(Value value) const {
  int last = -1;
  for (Operation *user : value.getUsers()) {
    if (isa<GradientOp>(user) || user->hasTrait<OpTrait::IsTerminator>())
      return static_cast<int>(order.size());
    last = std::max(last, isView(user) ? lastUse(user->getResult(0)) : position.lookup(user));
  }
  return last;
}

// A storage that dies at `op` and that `result` may be written over, or -1.
int Liveness::findOverwritten(Operation *op, OpResult result, ArrayRef<unsigned> taken) const {
  auto inPlace = dyn_cast<InPlaceOpInterface>(op);
  if (!inPlace)
    return -1;
  for (Value operand : op->getOperands()) {
    unsigned candidate = storage.lookup(operand);
    const Storage &old = all[candidate];
    bool transient = old.kind == StorageKind::Activation || old.kind == StorageKind::Gradient;
    if (!transient || old.last != position.lookup(op) || llvm::is_contained(taken, candidate) ||
        old.bytes != byteSize(result.getType()))
      continue;
    // The op may read the storage through several operands; all of them must agree.
    bool allowed = true;
    for (auto [i, other] : llvm::enumerate(op->getOperands()))
      if (storage.lookup(other) == candidate)
        allowed &= inPlace.canWriteOver(i, result.getResultNumber());
    if (allowed)
      return static_cast<int>(candidate);
  }
  return -1;
}

static StorageKind kindOf(Value value) {
  for (Operation *user : value.getUsers()) {
    if (isa<GradientOp>(user))
      return StorageKind::Gradient;
    if (auto update = dyn_cast<UpdateOpInterface>(user))
      if (update->getOperand(0) == value)
        return StorageKind::Gradient;
    if (user->hasTrait<OpTrait::IsTerminator>())
      return StorageKind::Metric;
  }
  return StorageKind::Activation;
}

Liveness::Liveness(func::FuncOp function, bool inPlace) {
  Block &block = function.getBody().front();
  for (Operation &op : block.without_terminator()) {
    position[&op] = static_cast<int>(order.size());
    order.push_back(&op);
  }
  position[block.getTerminator()] = static_cast<int>(order.size());
  int end = static_cast<int>(order.size());

  auto add = [&](Storage entry) {
    all.push_back(entry);
    return static_cast<unsigned>(all.size() - 1);
  };
  for (BlockArgument argument : block.getArguments())
    storage[argument] = add({StorageKind::Input, argument, nullptr, {},
                             byteSize(argument.getType()), 0, end});

  llvm::DenseMap<StringRef, unsigned> variables;
  auto variableStorage = [&](FlatSymbolRefAttr symbol, Value value) {
    auto [it, isNew] = variables.try_emplace(symbol.getValue(), 0);
    if (isNew)
      it->second = add({StorageKind::Variable, value, nullptr, symbol,
                        value ? byteSize(value.getType()) : 0, 0, end});
    return it->second;
  };

  for (auto [i, op] : llvm::enumerate(order)) {
    int now = static_cast<int>(i);
    if (auto read = dyn_cast<ReadOp>(op)) {
      storage[read.getValue()] = variableStorage(read.getVariableAttr(), read.getValue());
      continue;
    }
    if (isView(op)) {
      storage[op->getResult(0)] = storage.lookup(op->getOperand(0));
      continue;
    }
    SmallVector<unsigned> taken;
    for (OpResult result : op->getResults()) {
      int last = std::max(now, lastUse(result));
      int over = inPlace ? findOverwritten(op, result, taken) : -1;
      if (over >= 0) {
        taken.push_back(over);
        storage[result] = over;
      } else {
        storage[result] =
            add({kindOf(result), result, op, {}, byteSize(result.getType()), now, last});
      }
    }
    // Extended only now: while results were placed, the old last use told who dies here.
    for (OpResult result : op->getResults()) {
      Storage &place = all[storage[result]];
      place.last = std::max({place.last, now, lastUse(result)});
    }
    if (auto cost = dyn_cast<CostOpInterface>(op))
      if (int64_t bytes = cost.getWorkspaceBytes())
        workspace[op] = add({StorageKind::Workspace, Value(), op, {}, bytes, now, now});
  }
}

std::vector<int64_t> Liveness::liveBytes() const {
  std::vector<int64_t> live(order.size() + 1, 0);
  for (const Storage &entry : all) {
    if (entry.kind == StorageKind::Variable || entry.kind == StorageKind::Input)
      continue;
    for (int i = entry.first; i <= entry.last && i < static_cast<int>(live.size()); ++i)
      live[i] += alignedBytes(entry.bytes);
  }
  return live;
}

} // namespace gc
