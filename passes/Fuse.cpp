//===- Fuse.cpp - fewer kernels, less memory traffic ----------------------===//
//
//   %0 = gc.linear %x, %w bias %b              %1 = gc.linear %x, %w bias %b residual %r
//   %1 = gc.add %0, %r                   =>
//   %2 = gc.normalize %y, %m, %s, %g, %h       %3 = gc.fused (%a = %y, ...) {
//   %3 = gc.relu %2                              %n = gc.normalize %a, ...
//                                                %p = gc.relu %n
//                                                gc.yield %p
//                                              }
//
// Epilogues first: what a library does inside its kernel is free. Then what backward kernels can
// derive again from what they read anyway (Rederive.cpp). Then groups grow greedily in program
// order: an op joins the groups of its producers when they cover the same space and no path from
// the group to the op leaves the group. A sum over rows may end a group but not feed it.
//
//===----------------------------------------------------------------------===//
#include "passes/Fuse.h"
#include "dialects/Gc.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"
#include "passes/Rederive.h"
#include "passes/Split.h"
#include "passes/analysis/Dependence.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include <queue>

using namespace mlir;

namespace gc {

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

// Whether every operand of `op` is defined before `position`.
static bool definedBefore(Value value, Operation *position) {
  Operation *producer = value.getDefiningOp();
  return !producer || producer->isBeforeInBlock(position);
}

// Lets the product compute what `user` made of its result, and erases `user`.
static void takeOver(EpilogueOpInterface product, Operation *user) {
  product->moveBefore(user);
  product->setLoc(FusedLoc::get(user->getContext(), {product->getLoc(), user->getLoc()}));
  user->getResult(0).replaceAllUsesWith(product->getResult(0));
  user->erase();
}

static bool absorbUser(EpilogueOpInterface product) {
  if (!product->getResult(0).hasOneUse() || product.getActivation() != Activation::None)
    return false;
  OpOperand &use = *product->getResult(0).use_begin();
  Operation *user = use.getOwner();
  if (auto bias = dyn_cast<BiasOp>(user)) {
    if (product.getBias() || product.getResidual() || use.getOperandNumber() != 0)
      return false;
    product.addBias(bias.getBias());
  } else if (auto add = dyn_cast<AddOp>(user)) {
    Value other = use.getOperandNumber() == 0 ? add.getRhs() : add.getLhs();
    if (product.getResidual() || other == product->getResult(0) || !definedBefore(other, user))
      return false;
    product.addResidual(other);
  } else if (isa<ReluOp>(user)) {
    product.changeActivation(Activation::Relu);
  } else if (auto gelu = dyn_cast<GeluOp>(user); gelu && gelu.getApproximate() == GeluForm::None) {
    product.changeActivation(Activation::Gelu);
  } else {
    return false;
  }
  takeOver(product, user);
  return true;
}

void fuseEpilogues(func::FuncOp function) {
  SmallVector<EpilogueOpInterface> products;
  function.walk([&](EpilogueOpInterface op) { products.push_back(op); });
  for (EpilogueOpInterface product : products)
    while (absorbUser(product)) {
    }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

// A group stays within this many buffers, so that its pointers and channel vectors stay in
// registers and in the nearest cache.
constexpr unsigned largestGroup = 16;

struct Space {
  int64_t elements, channels;
  bool operator==(const Space &other) const {
    return elements == other.elements && channels == other.channels;
  }
};

struct Group {
  SmallVector<Operation *> ops; // in program order
  Space space;
};

class Grouping {
public:
  explicit Grouping(Block &block) : block(block), dependence(block) {}

  void run() {
    for (auto [i, op] : llvm::enumerate(block))
      position[&op] = i;
    for (Operation &op : block)
      if (auto fusible = dyn_cast<FusibleOpInterface>(op))
        if (fusible.getFusionKind() != FusionKind::None)
          place(fusible);
    SmallVector<Group *> order;
    for (auto &group : groups)
      if (group && group->ops.size() > 1)
        order.push_back(group.get());
    sortBlock();
    for (Group *group : order)
      outline(*group);
  }

private:
  static Space spaceOf(FusibleOpInterface op) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (op.getOperandAccess(i) == Access::Full) {
        auto shape = cast<ShapedType>(operand.getType()).getShape();
        return {elementCount(operand.getType()), shape.empty() ? 1 : shape.back()};
      }
    return {0, 0};
  }

  // Puts the op in a group of its own, then merges those of its producers into it where possible.
  void place(FusibleOpInterface op) {
    auto own = std::make_unique<Group>(Group{{op}, spaceOf(op)});
    Group *group = own.get();
    groups.push_back(std::move(own));
    groupOf[op] = group;
    llvm::SetVector<Group *> candidates;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (Group *candidate = groupOf.lookup(producer))
          candidates.insert(candidate);
    for (Group *candidate : candidates)
      if (candidate != group && mayMerge(*candidate, *group))
        merge(*candidate, *group);
  }

  bool mayMerge(const Group &first, const Group &second) {
    if (!(first.space == second.space) || buffers(first, second) > largestGroup)
      return false;
    // Parts of the batch run one after the other; a group of several would hold what they made
    // until the last is done.
    std::optional<ChainPart> part = chainPartOf(first.ops.front());
    if (part && part != chainPartOf(second.ops.front()))
      return false;
    // A sum over rows is complete only when its kernel ends, so no op of the group may read it.
    for (Operation *op : second.ops)
      for (Value operand : op->getOperands())
        if (auto producer = operand.getDefiningOp<FusibleOpInterface>())
          if (groupOf.lookup(producer) == &first &&
              producer.getFusionKind() == FusionKind::SumOverRows)
            return false;
    return !pathOutside(first, second) && !pathOutside(second, first);
  }

  unsigned buffers(const Group &first, const Group &second) {
    llvm::SmallDenseSet<Value> outside;
    for (const Group *group : {&first, &second})
      for (Operation *op : group->ops) {
        for (Value operand : op->getOperands()) {
          Group *producer =
              operand.getDefiningOp() ? groupOf.lookup(operand.getDefiningOp()) : nullptr;
          if (!producer || (producer != &first && producer != &second))
            outside.insert(operand);
        }
        for (Value result : op->getResults())
          outside.insert(result);
      }
    return outside.size();
  }

  // Whether something outside both groups lies on a path from `from` to `to`. Groups already formed
  // count as one node.
  bool pathOutside(const Group &from, const Group &to) {
    llvm::SmallDenseSet<Operation *, 32> seen;
    SmallVector<Operation *> stack;
    unsigned last = 0;
    for (Operation *op : to.ops)
      last = std::max(last, position[op]);
    auto push = [&](Operation *op, bool direct) {
      Group *group = groupOf.lookup(op);
      if (group == &from)
        return false;
      if (group == &to)
        return !direct;
      auto visit = [&](Operation *member) {
        if (seen.insert(member).second)
          stack.push_back(member);
      };
      if (group)
        llvm::for_each(group->ops, visit);
      else
        visit(op);
      return false;
    };
    for (Operation *op : from.ops)
      for (Operation *next : dependence.successors(op))
        if (push(next, /*direct=*/true))
          return true;
    while (!stack.empty()) {
      Operation *op = stack.pop_back_val();
      // Ops behind the target in program order cannot reach it, unless a group pulled them there.
      if (position[op] > last && !groupOf.lookup(op))
        continue;
      for (Operation *next : dependence.successors(op))
        if (push(next, /*direct=*/false))
          return true;
    }
    return false;
  }

  void merge(Group &source, Group &target) {
    for (Operation *op : source.ops)
      groupOf[op] = &target;
    target.ops.append(source.ops.begin(), source.ops.end());
    llvm::sort(target.ops, [&](Operation *a, Operation *b) { return position[a] < position[b]; });
    source.ops.clear();
  }

  // Orders the block so that each group is contiguous, otherwise as near to program order as
  // dependence allows. A group is ready when all that its members need is done.
  void sortBlock() {
    llvm::DenseMap<void *, unsigned> waiting, key;
    llvm::DenseMap<void *, SmallVector<Operation *>> members;
    auto nodeOf = [&](Operation *op) -> void * {
      Group *group = groupOf.lookup(op);
      return group ? static_cast<void *>(group) : static_cast<void *>(op);
    };
    llvm::DenseMap<void *, llvm::SetVector<void *>> successors;
    for (Operation &op : block) {
      void *node = nodeOf(&op);
      members[node].push_back(&op);
      // A group takes the place of its last member; an op outside of groups keeps its own.
      key[node] = position[&op];
      waiting.try_emplace(node, 0);
      for (Operation *previous : dependence.predecessors(&op))
        if (nodeOf(previous) != node && successors[nodeOf(previous)].insert(node))
          ++waiting[node];
    }
    using Entry = std::pair<unsigned, void *>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (auto [node, count] : waiting)
      if (count == 0)
        ready.push({key[node], node});
    SmallVector<Operation *> order;
    while (!ready.empty()) {
      void *node = ready.top().second;
      ready.pop();
      llvm::append_range(order, members[node]);
      for (void *next : successors[node])
        if (--waiting[next] == 0)
          ready.push({key[next], next});
    }
    assert(order.size() == position.size() && "fusion made a cycle");
    for (Operation *op : order)
      op->moveBefore(&block, block.end());
  }

  void outline(Group &group) {
    llvm::SmallDenseSet<Operation *> inside(group.ops.begin(), group.ops.end());
    llvm::SetVector<Value> inputs, outputs;
    SmallVector<Location> locations;
    for (Operation *op : group.ops) {
      locations.push_back(op->getLoc());
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp() || !inside.contains(operand.getDefiningOp()))
          inputs.insert(operand);
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *u) { return !inside.contains(u); }))
          outputs.insert(result);
    }
    OpBuilder builder(group.ops.back());
    SmallVector<Type> types;
    for (Value output : outputs)
      types.push_back(output.getType());
    auto fused = FusedOp::create(builder, FusedLoc::get(builder.getContext(), locations), types,
                                 inputs.getArrayRef());
    Block *body = new Block;
    fused.getBody().push_back(body);
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    for (Operation *op : group.ops)
      inner.clone(*op, mapping);
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(mapping.lookup(output));
    YieldOp::create(inner, fused.getLoc(), yielded);
    for (auto [output, result] : llvm::zip(outputs, fused.getResults()))
      Value(output).replaceUsesWithIf(
          result, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
  }

  Block &block;
  Dependence dependence;
  llvm::DenseMap<Operation *, unsigned> position;
  llvm::DenseMap<Operation *, Group *> groupOf;
  std::vector<std::unique_ptr<Group>> groups;
};

} // namespace

void fuseElementwise(func::FuncOp function) {
  for (Block &block : function.getBody())
    Grouping(block).run();
}

#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"

namespace {
struct FusePass : impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;
  void runOnOperation() override {
    fuseEpilogues(getOperation());
    rederive(getOperation());
    fuseElementwise(getOperation());
  }
};
} // namespace
} // namespace gc
