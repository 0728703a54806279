//===- Split.cpp - chains of ops in parts of the batch --------------------===//
//
//   %a = gc.conv2d %x, %w : 8x...       %x0 = gc.slice %x {offset = 0, size = 4}
//   %y = gc.relu %a                     %a0 = gc.conv2d %x0, %w : 4x...
//                                       %y0 = gc.relu %a0
//                                 =>    %x1 = gc.slice %x {offset = 4, size = 4}
//                                       %a1 = gc.conv2d %x1, %w : 4x...
//                                       %y1 = gc.relu %a1
//                                       %y = gc.concat %y0, %y1 {axis = 0}
//
// What a part looks like, and which values have samples along their first dimension, is what
// BatchSplit says of the whole model: it is asked about a clone. Later passes know nothing of
// parts: each has values of its own, which are kept or recomputed by themselves.
//
//===----------------------------------------------------------------------===//
#include "passes/Split.h"
#include "dialects/OpName.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "passes/BatchSplit.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"
#include "llvm/ADT/DenseSet.h"

namespace gc {
#define GEN_PASS_DEF_SPLITPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

/// A model beside itself as it is for a part of the batch.
class PartOfModel {
public:
  static FailureOr<PartOfModel> of(func::FuncOp model, int64_t parts) {
    FailureOr<int64_t> batch = batchOf(model);
    if (failed(batch))
      return failure();
    if (parts < 1 || *batch % parts != 0)
      return model.emitError("a batch of ")
             << *batch << " cannot be split into " << parts << " equal parts";
    PartOfModel result(model);
    SmallVector<Operation *> mixing;
    if (failed(splitBatch(*result.part, parts, mixing)))
      return failure();
    result.mixing.insert(mixing.begin(), mixing.end());
    Block &whole = model.getBody().front(), &part = result.part->getBody().front();
    for (auto [a, b] : llvm::zip_equal(whole.getArguments(), part.getArguments()))
      result.partOf[a] = b;
    for (auto [a, b] : llvm::zip_equal(whole, part)) {
      result.opPart[&a] = &b;
      for (auto [x, y] : llvm::zip_equal(a.getResults(), b.getResults()))
        result.partOf[x] = y;
    }
    return result;
  }

  /// `value` stands for `old` from now on.
  void replace(Value old, Value value) { partOf[value] = Value(partOf.lookup(old)); }

  Operation *operator()(Operation *op) const { return opPart.lookup(op); }
  Value operator()(Value value) const { return partOf.lookup(value); }

  /// Whether samples lie along a dimension of the value.
  bool hasSamples(Value value) const { return partOf.lookup(value).getType() != value.getType(); }
  /// Whether they are its rows, so that a part of the batch is a range of them.
  bool hasSamplesInRows(Value value) const {
    auto whole = cast<RankedTensorType>(value.getType());
    auto part = cast<RankedTensorType>(partOf.lookup(value).getType());
    return whole != part && whole.getShape().drop_front() == part.getShape().drop_front();
  }

  /// Why the op cannot be a part of a chain; empty where it can.
  StringRef fault(Operation *op) const {
    if (!isMemoryEffectFree(op))
      return "changes a variable";
    if (isa<DropoutOp>(op)) // numbers elements from the first of the batch
      return "draws random numbers for the whole batch";
    if (mixing.contains(opPart.lookup(op)))
      return "mixes the samples of a batch";
    bool takesSamples = false;
    for (Value operand : op->getOperands()) {
      takesSamples |= hasSamples(operand);
      if (hasSamples(operand) && !hasSamplesInRows(operand))
        return "takes samples that are not rows";
    }
    if (!takesSamples)
      return "does not depend on the batch";
    if (!llvm::all_of(op->getResults(), [&](Value v) { return hasSamplesInRows(v); }))
      return "has a result in which samples are not rows";
    return "";
  }

private:
  explicit PartOfModel(func::FuncOp model) : part(model.clone()) {}
  OwningOpRef<func::FuncOp> part;
  llvm::DenseMap<Value, Value> partOf;
  llvm::DenseMap<Operation *, Operation *> opPart;
  llvm::DenseSet<Operation *> mixing; // of the part
};

/// Reads are moved out of a chain; they name bytes and compute nothing.
bool isRead(Operation *op) { return isa<ReadOp>(op); }

// The location of a part's op carries the part, because adjoints take over locations.
Location locationOf(Operation *op, ChainPart part) {
  Builder builder(op->getContext());
  return FusedLoc::get({op->getLoc()}, builder.getDenseI64ArrayAttr({part.chain, part.part}),
                       op->getContext());
}

LogicalResult splitChain(PartOfModel &partOf, ArrayRef<Operation *> ops, int64_t chain,
                         int64_t parts) {
  llvm::SmallPtrSet<Operation *, 32> inside;
  for (Operation *op : ops) {
    if (isRead(op))
      continue;
    if (StringRef fault = partOf.fault(op); !fault.empty())
      return op->emitOpError(fault) << ", and so cannot be split into parts of the batch; end the "
                                       "chain before it or begin behind it";
    inside.insert(op);
  }
  auto isInside = [&](Operation *op) { return op && inside.contains(op); };
  Operation *last = *llvm::find_if(llvm::reverse(ops), isInside);
  for (Operation *op : ops)
    if (isRead(op) && op != ops.front())
      op->moveBefore(ops.front());
  SmallVector<Value> outputs;
  for (Operation *op : ops)
    if (isInside(op))
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !isInside(user); }))
          outputs.push_back(result);

  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  std::vector<SmallVector<Value>> made(outputs.size());
  for (int64_t number = 0; number < parts; ++number) {
    IRMapping map; // from values of the model to those of this part
    auto operandOf = [&](Operation *user, Value value) -> Value {
      if (!partOf.hasSamples(value))
        return value;
      if (!map.contains(value)) {
        auto type = cast<RankedTensorType>(partOf(value).getType());
        int64_t rows = type.getDimSize(0);
        map.map(value,
                SliceOp::create(builder, user->getLoc(), type, value, builder.getI64IntegerAttr(0),
                                builder.getI64IntegerAttr(number * rows),
                                builder.getI64IntegerAttr(rows)));
      }
      return map.lookup(value);
    };
    for (Operation *op : ops) {
      if (!isInside(op))
        continue;
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(operandOf(op, operand));
      Operation *clone = builder.clone(*partOf(op));
      clone->setOperands(operands);
      clone->setLoc(locationOf(op, {chain, number}));
      for (auto [whole, part] : llvm::zip_equal(op->getResults(), clone->getResults()))
        map.map(whole, part);
    }
    for (auto [i, output] : llvm::enumerate(outputs))
      made[i].push_back(map.lookup(output));
  }
  for (auto [output, values] : llvm::zip_equal(outputs, made)) {
    if (!cast<RankedTensorType>(output.getType()).getElementType().isF32())
      return output.getDefiningOp()->emitOpError("has a result of type ")
             << output.getType() << " that is read outside of its chain; only f32 can be joined";
    Value joined = ConcatOp::create(builder, output.getLoc(), output.getType(), values,
                                    builder.getI64IntegerAttr(0));
    partOf.replace(output, joined);
    output.replaceUsesWithIf(joined, [&](OpOperand &use) { return !isInside(use.getOwner()); });
  }
  for (Operation *op : llvm::reverse(ops))
    if (isInside(op))
      op->erase();
  return success();
}

/// Bytes that an op reads and writes: those of samples, which a part has a share of, and those of
/// anything else, which every part reads again and has a gradient of.
struct Traffic {
  int64_t samples = 0, shared = 0;
};
Traffic trafficOf(Operation *op, const PartOfModel &partOf) {
  Traffic traffic;
  for (Value operand : op->getOperands())
    (partOf.hasSamples(operand) ? traffic.samples : traffic.shared) += byteSize(operand.getType());
  for (Value result : op->getResults())
    traffic.samples += byteSize(result.getType());
  return traffic;
}

class ChainFinder {
public:
  ChainFinder(func::FuncOp model, const PartOfModel &partOf, int64_t parts)
      : partOf(partOf), parts(parts) {
    for (Operation &op : model.getBody().front())
      ops.push_back(&op);
    findCrossing();
  }

  SmallVector<SampleChain> find() {
    SmallVector<SampleChain> chains;
    unsigned count = ops.size() - 1; // without the terminator
    for (unsigned i = 0; i < count;) {
      unsigned end = i;
      while (end < count && (isRead(ops[end]) || isWorthIt(ops[end])))
        ++end;
      if (end > i)
        if (std::optional<SampleChain> chain = shorten(i, end - 1))
          chains.push_back(*chain);
      i = end + 1;
    }
    // What is far from the largest decides no peak.
    int64_t largest = 0;
    for (const SampleChain &chain : chains)
      largest = std::max(largest, chain.largestBytes);
    llvm::erase_if(chains,
                   [&](const SampleChain &chain) { return chain.largestBytes * 4 < largest; });
    return chains;
  }

private:
  bool isWorthIt(Operation *op) {
    if (!partOf.fault(op).empty())
      return false;
    Traffic traffic = trafficOf(op, partOf);
    return traffic.shared <= traffic.samples / parts;
  }

  // For each place, the bytes of samples that are made before it and read there or later.
  void findCrossing() {
    llvm::DenseMap<Operation *, unsigned> place;
    for (auto [i, op] : llvm::enumerate(ops))
      place[op] = i;
    std::vector<int64_t> change(ops.size() + 2, 0);
    for (auto [i, op] : llvm::enumerate(ops))
      for (Value result : op->getResults()) {
        if (result.use_empty() || !partOf.hasSamples(result))
          continue;
        unsigned last = i;
        for (Operation *user : result.getUsers())
          last = std::max(last, place.lookup(user));
        lastUse[result] = last;
        change[i + 1] += byteSize(result.getType());
        change[last + 1] -= byteSize(result.getType());
      }
    int64_t sum = 0;
    for (size_t i = 0; i <= ops.size(); ++i)
      crossing.push_back(sum += change[i]);
  }

  // Large ops stay; at both ends the chain goes on to where least crosses.
  std::optional<SampleChain> shorten(unsigned first, unsigned last) {
    SampleChain chain;
    for (unsigned i = first; i <= last; ++i)
      if (!isRead(ops[i]))
        chain.largestBytes = std::max(chain.largestBytes, trafficOf(ops[i], partOf).samples);
    if (chain.largestBytes == 0)
      return std::nullopt;
    auto isLarge = [&](unsigned i) {
      return !isRead(ops[i]) && trafficOf(ops[i], partOf).samples * 4 >= chain.largestBytes;
    };
    unsigned begin = first, end = last;
    while (!isLarge(begin))
      ++begin;
    while (!isLarge(end))
      --end;
    chain.first = begin;
    chain.last = end;
    for (unsigned i = begin; i-- > first;)
      if (crossing[i] < crossing[chain.first])
        chain.first = i;
    for (unsigned i = end + 1; i <= last; ++i)
      if (crossing[i + 1] < crossing[chain.last + 1])
        chain.last = i;
    for (unsigned i = chain.first; i <= chain.last; ++i)
      if (!isRead(ops[i]))
        for (Value result : ops[i]->getResults())
          if (lastUse.lookup(result) <= chain.last)
            chain.insideBytes += byteSize(result.getType());
    return chain;
  }

  const PartOfModel &partOf;
  int64_t parts;
  std::vector<Operation *> ops;
  std::vector<int64_t> crossing;
  llvm::DenseMap<Value, unsigned> lastUse;
};

// The name of the layer that an op belongs to.
StringRef layerOf(StringRef displayName) { return displayName.rsplit(':').first; }

// The chain from the first op of a layer to the last of another.
FailureOr<SampleChain> namedChain(func::FuncOp model, StringRef from, StringRef to) {
  std::optional<unsigned> first, last;
  for (auto [i, op] : llvm::enumerate(model.getBody().front().without_terminator())) {
    if (isRead(&op))
      continue;
    std::string name = displayName(&op);
    if (!first && (name == from || layerOf(name) == from))
      first = i;
    if (name == to || layerOf(name) == to)
      last = i;
  }
  for (auto [name, place] : {std::pair(from, first), std::pair(to, last)})
    if (!place)
      return model.emitError("has no layer '") << name << "' to split a chain at";
  if (*last < *first)
    return model.emitError("layer '") << to << "' comes before '" << from << "'";
  return SampleChain{*first, *last};
}

struct SplitPass : impl::SplitPassBase<SplitPass> {
  using SplitPassBase::SplitPassBase;
  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run() {
    if (from.empty() != to.empty())
      return getOperation().emitError("from and to are the two ends of a chain: give both or none");
    if (!from.empty() && !chains.empty())
      return getOperation().emitError("from and to, or chains: both say what is split");
    FailureOr<func::FuncOp> model = findModel(getOperation());
    if (failed(model))
      return failure();
    if (!chains.empty()) {
      std::optional<SmallVector<SampleChain>> given = readChains(chains);
      if (!given)
        return getOperation().emitError("chains=")
               << chains.getValue() << ": expected places in order, such as 3-12,20-31";
      return splitChains(*model, *given, parts);
    }
    if (!from.empty()) {
      FailureOr<SampleChain> chain = namedChain(*model, from, to);
      return failed(chain) ? failure() : splitChains(*model, {*chain}, parts);
    }
    FailureOr<PartOfModel> partOf = PartOfModel::of(*model, parts);
    return failed(partOf) ? failure()
                          : splitChains(*model, ChainFinder(*model, *partOf, parts).find(), parts);
  }
};

} // namespace

SmallVector<SampleChain> findSampleChains(func::FuncOp model, int64_t parts) {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<PartOfModel> partOf = PartOfModel::of(model, parts);
  return failed(partOf) ? SmallVector<SampleChain>() : ChainFinder(model, *partOf, parts).find();
}

LogicalResult splitChains(func::FuncOp model, ArrayRef<SampleChain> chains, int64_t parts) {
  FailureOr<PartOfModel> partOf = PartOfModel::of(model, parts);
  if (failed(partOf))
    return failure();
  if (parts == 1)
    return success();
  SmallVector<Operation *> ops;
  for (Operation &op : model.getBody().front().without_terminator())
    ops.push_back(&op);
  for (auto [number, chain] : llvm::enumerate(chains)) {
    if (chain.last >= ops.size())
      return model.emitError("has ")
             << ops.size() << " ops, and so no chain " << chain.first << "-" << chain.last;
    if (llvm::all_of(ArrayRef(ops).slice(chain.first, chain.last - chain.first + 1), isRead))
      return model.emitError("chain ") << chain.first << "-" << chain.last << " has no op";
    if (failed(splitChain(*partOf, ArrayRef(ops).slice(chain.first, chain.last - chain.first + 1),
                          static_cast<int64_t>(number), parts)))
      return failure();
  }
  return success();
}

std::optional<ChainPart> chainPartOf(Operation *op) {
  std::optional<ChainPart> found;
  WalkResult walked = op->getLoc()->walk([&](Location location) {
    auto fused = dyn_cast<FusedLoc>(location);
    auto numbers =
        fused ? dyn_cast_or_null<DenseI64ArrayAttr>(fused.getMetadata()) : DenseI64ArrayAttr();
    if (!numbers || numbers.size() != 2)
      return WalkResult::advance();
    ChainPart part{numbers[0], numbers[1]};
    if (found && !(*found == part))
      return WalkResult::interrupt();
    found = part;
    return WalkResult::advance();
  });
  return walked.wasInterrupted() ? std::nullopt : found;
}

std::string textOf(ArrayRef<SampleChain> chains) {
  std::string text;
  for (const SampleChain &chain : chains)
    text +=
        (text.empty() ? "" : ",") + std::to_string(chain.first) + "-" + std::to_string(chain.last);
  return text;
}

std::optional<SmallVector<SampleChain>> readChains(StringRef text) {
  SmallVector<SampleChain> chains;
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  for (StringRef entry : entries) {
    SampleChain chain;
    auto [first, last] = entry.split('-');
    if (first.getAsInteger(10, chain.first) || last.getAsInteger(10, chain.last) ||
        chain.last < chain.first || (!chains.empty() && chain.first <= chains.back().last))
      return std::nullopt;
    chains.push_back(chain);
  }
  return chains;
}

} // namespace gc
