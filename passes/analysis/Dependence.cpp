//===- Dependence.cpp - which op must come before which -------------------===//
#include "passes/analysis/Dependence.h"

using namespace mlir;

namespace gc {

SmallVector<FlatSymbolRefAttr> variablesWritten(Operation *op) {
  if (auto update = dyn_cast<UpdateOpInterface>(op))
    return update.getVariables();
  if (auto change = dyn_cast<VariableChangeOpInterface>(op))
    return change.getVariables();
  return {};
}

bool isView(Operation *op) {
  auto inPlace = dyn_cast<InPlaceOpInterface>(op);
  return inPlace && inPlace.isView();
}

bool isNothing(Operation *op) { return isa<ReadOp, GradientOp>(op) || isView(op); }

Value storageOf(Value value) {
  while (value.getDefiningOp() && isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

int64_t offsetInStorage(Value value) {
  int64_t offset = 0;
  for (Operation *op = value.getDefiningOp(); op && isView(op);
       op = op->getOperand(0).getDefiningOp())
    offset += cast<InPlaceOpInterface>(op).getViewOffset();
  return offset;
}

// Collects the users of a value and of its views.
static void collectUsers(Value value, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : value.getUsers()) {
    users.push_back(user);
    if (isView(user))
      collectUsers(user->getResult(0), users);
  }
}

void Dependence::addEdge(Operation *from, Operation *to) {
  if (from == to || llvm::is_contained(before[to], from))
    return;
  before[to].push_back(from);
  after[from].push_back(to);
}

llvm::DenseSet<Operation *> backwardOps(Block &block) {
  llvm::DenseSet<Operation *> backward;
  for (Operation &op : block)
    if (isa<GradientSeedOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return operand.getDefiningOp() && backward.contains(operand.getDefiningOp());
        }))
      backward.insert(&op);
  return backward;
}

Dependence::Dependence(Block &block) {
  llvm::DenseMap<StringRef, SmallVector<Operation *>> readersSinceWrite;
  llvm::DenseMap<StringRef, Operation *> lastWrite;
  for (Operation &op : block) {
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        addEdge(producer, &op);
    if (auto read = dyn_cast<ReadOp>(op)) {
      StringRef name = read.getVariable();
      if (Operation *write = lastWrite.lookup(name))
        addEdge(write, &op);
      auto &readers = readersSinceWrite[name];
      readers.push_back(&op);
      collectUsers(read.getValue(), readers);
    }
    for (FlatSymbolRefAttr variable : variablesWritten(&op)) {
      StringRef name = variable.getValue();
      if (Operation *write = lastWrite.lookup(name))
        addEdge(write, &op);
      for (Operation *reader : readersSinceWrite[name])
        addEdge(reader, &op);
      readersSinceWrite[name].clear();
      lastWrite[name] = &op;
    }
  }
  // The terminator ends the block whatever it uses.
  if (block.mightHaveTerminator())
    for (Operation &op : block.without_terminator())
      if (after.find(&op) == after.end()) {
        before[block.getTerminator()].push_back(&op);
        after[&op].push_back(block.getTerminator());
      }
}

} // namespace gc
