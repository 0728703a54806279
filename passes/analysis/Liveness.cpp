//===- Liveness.cpp - which bytes are alive when --------------------------===//
#include "passes/analysis/Liveness.h"
#include "passes/analysis/Dependence.h"
#include "passes/analysis/StepGraphOf.h"

using namespace mlir;

namespace gc {

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
  llvm::DenseMap<Operation *, int> position;
  for (Operation &op : block.without_terminator()) {
    position[&op] = static_cast<int>(order.size());
    order.push_back(&op);
  }
  int end = static_cast<int>(order.size());

  // Persistent storages first: inputs, and one for each variable.
  auto add = [&](Storage entry) {
    all.push_back(entry);
    return static_cast<unsigned>(all.size() - 1);
  };
  for (BlockArgument argument : block.getArguments())
    storage[argument] =
        add({StorageKind::Input, argument, nullptr, {}, byteSize(argument.getType()), 0, end});
  llvm::DenseMap<StringRef, unsigned> variables;
  for (auto read : block.getOps<ReadOp>()) {
    auto [it, isNew] = variables.try_emplace(read.getVariable(), 0);
    if (isNew)
      it->second = add({StorageKind::Variable, read.getValue(), nullptr, read.getVariableAttr(),
                        byteSize(read.getValue().getType()), 0, end});
    storage[read.getValue()] = it->second;
  }

  FunctionGraph graph = stepGraphOf(function, [](Operation *) { return 0.0; });
  FlatGraph flat(graph.graph);
  Schedule schedule = plainSchedule(flat);
  Lives lives;
  lives.analyse(flat, schedule, inPlace);
  auto placeOf = [&](int place) {
    return place == schedule.size() ? end : position.lookup(graph.ops[place]);
  };
  life = lives.storages();
  std::vector<unsigned> storageAt;
  for (const StorageLife &own : life) {
    Operation *op = graph.ops[own.first];
    Value value = own.instance < 0 ? Value() : graph.values[schedule.value(own.instance)];
    storageAt.push_back(
        add({value ? kindOf(value) : StorageKind::Workspace,
             value,
             op,
             {},
             value ? byteSize(value.getType()) : cast<CostOpInterface>(op).getWorkspaceBytes(),
             placeOf(own.first),
             placeOf(own.last)}));
    if (!value)
      workspace[op] = storageAt.back();
  }
  for (int i = 0; i < schedule.instances(); ++i)
    storage[graph.values[schedule.value(i)]] = storageAt[lives.storageOf(i)];
  // Views show the storage of their root.
  for (Operation *op : order)
    if (isView(op))
      storage[op->getResult(0)] = storage.lookup(op->getOperand(0));
}

std::vector<int64_t> Liveness::liveBytes() const {
  std::vector<int64_t> live(order.size() + 1, 0);
  for (const Storage &entry : transient())
    for (int i = entry.first; i <= entry.last && i < static_cast<int>(live.size()); ++i)
      live[i] += alignedBytes(entry.bytes);
  return live;
}

} // namespace gc
