//===- FusibleGroup.cpp - Elementwise groups, independent of the machine --===//
#include "compiler/language/FusibleGroup.h"

using namespace mlir;

namespace gc::kernels {
namespace {

bool isSum(Value output) {
  auto fusible = output.getDefiningOp<FusibleOpInterface>();
  return fusible && fusible.getFusionKind() == FusionKind::SumOverRows;
}

/// Checks that every tensor has the size that its access in the space implies.
LogicalResult checkSizes(FusibleGroup &group) {
  for (FusibleOpInterface op : group.ops) {
    auto check = [&](Value value, Access access, StringRef what, unsigned index) -> LogicalResult {
      int64_t expected = access == Access::Full      ? group.elements
                         : access == Access::Channel ? group.channels
                         : access == Access::Row     ? group.rows
                                                     : 1;
      if (elementCount(value.getType()) == expected)
        return success();
      return op->emitOpError() << what << " " << index << " has " << value.getType()
                               << ", which does not fit a group over [" << group.rows << ", "
                               << group.channels << "]; do not fuse it here";
    };
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      if (failed(check(operand, op.getOperandAccess(index), "operand", index)))
        return failure();
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (failed(check(result, op.getResultAccess(index), "result", index)))
        return failure();
  }
  return success();
}

} // namespace

FailureOr<FusibleGroup> FusibleGroup::of(Operation *op) {
  FusibleGroup group;
  if (auto fused = dyn_cast<FusedOp>(op)) {
    Block &block = fused.getBody().front();
    for (Operation &nested : block.without_terminator())
      group.ops.push_back(cast<FusibleOpInterface>(nested));
    for (BlockArgument argument : block.getArguments())
      group.inputs.insert({argument, argument.getArgNumber()});
    llvm::append_range(group.outputs, block.getTerminator()->getOperands());
  } else {
    auto fusible = cast<FusibleOpInterface>(op);
    if (fusible.getFusionKind() == FusionKind::None)
      return op->emitOpError("has no generated kernel in this form");
    group.ops.push_back(fusible);
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      group.inputs.insert({operand, index});
    llvm::append_range(group.outputs, op->getResults());
  }
  int64_t rows = 0;
  auto note = [&](Value value, Access access) {
    int64_t count = elementCount(value.getType());
    if (access == Access::Full)
      group.elements = std::max(group.elements, count);
    else if (access == Access::Channel)
      group.channels = count;
    else if (access == Access::Row)
      rows = count;
  };
  for (FusibleOpInterface member : group.ops) {
    for (auto [index, operand] : llvm::enumerate(member->getOperands()))
      note(operand, member.getOperandAccess(index));
    for (auto [index, result] : llvm::enumerate(member->getResults()))
      note(result, member.getResultAccess(index));
  }
  group.isFlat = group.channels == 0 && rows == 0;
  if (group.isFlat)
    group.rows = group.elements, group.channels = 1;
  else if (group.channels == 0)
    group.rows = rows, group.channels = group.elements / rows;
  else
    group.rows = group.elements / group.channels;
  if (group.elements == 0)
    return op->emitOpError("has no elements to compute");
  if (failed(checkSizes(group)))
    return failure();
  return group;
}

GroupBody::GroupBody(const FusibleGroup &group, const OpUses &buffers) : group(group) {
  for (FusibleOpInterface op : group.ops)
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      if (group.inputs.contains(operand))
        use(operand, op.getOperandAccess(index), buffers);
  for (Value output : group.outputs)
    if (!isSum(output) && group.inputs.contains(output))
      use(output, Access::Full, buffers);
  for (auto [index, output] : llvm::enumerate(group.outputs))
    if (!isSum(output)) {
      stored.push_back(output);
      results.push_back(uses.size());
      uses.push_back(buffers.result(index, shapeOf(Access::Full)));
      accesses.push_back(Access::Full);
    } else {
      sums.push_back(output);
      sumResults.push_back(buffers.result(index, {group.channels}));
    }
}

SmallVector<Expr> GroupBody::compute(KernelBuilder &k, Load load, Store store) const {
  llvm::DenseMap<Value, Value> scalars;                   // computed inside the group
  llvm::DenseMap<std::pair<Value, unsigned>, Value> read; // loaded from outside
  auto valueOf = [&](Value value, Access access) -> Value {
    if (Value inside = scalars.lookup(value))
      return inside;
    Value &loaded = read[{value, unsigned(access)}];
    if (!loaded)
      loaded = load(reads.lookup({value, unsigned(access)}), access);
    return loaded;
  };
  for (FusibleOpInterface op : group.ops) {
    SmallVector<Value> operands, results;
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(valueOf(operand, op.getOperandAccess(index)));
    op.emitScalar(k.builder, k.location, operands, results);
    for (auto [result, scalar] : llvm::zip_equal(op->getResults(), results))
      scalars[result] = scalar;
  }
  SmallVector<Expr> values;
  for (Value value : stored)
    values.push_back(k.wrap(valueOf(value, Access::Full)));
  for (auto [index, value] : llvm::enumerate(values))
    store(index, value);
  SmallVector<Expr> summands;
  for (Value sum : sums)
    summands.push_back(k.wrap(scalars.lookup(sum)));
  return summands;
}

void GroupBody::use(Value value, Access access, const OpUses &buffers) {
  auto [entry, isNew] = reads.try_emplace({value, unsigned(access)}, uses.size());
  if (!isNew)
    return;
  uses.push_back(buffers.operand(group.inputs.lookup(value), shapeOf(access)));
  accesses.push_back(access);
}

SmallVector<int64_t> GroupBody::shapeOf(Access access) const {
  switch (access) {
  case Access::Full:
    return group.isFlat ? SmallVector<int64_t>{group.elements}
                        : SmallVector<int64_t>{group.rows, group.channels};
  case Access::Channel:
    return {group.channels};
  case Access::Row:
    return {group.rows};
  case Access::Scalar:
    return {};
  }
  llvm_unreachable("unknown access");
}

} // namespace gc::kernels
