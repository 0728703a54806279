//===- Fusible.cpp - Elementwise groups and sums over rows ----------------===//
//
// A group of fusible ops, or one of them alone, is one loop nest over [rows, channels]:
//   for r: for c: load each operand once, compute, store full results, add to sums.
// Without anything indexed by row or channel it is one loop over all elements.
//
// Sums over rows go through partial sums: one for each chunk of rows, combined in order by a second
// kernel. Inside a chunk, blocks of rows are summed first, which keeps rounding errors small. Rows
// are read strictly in order: several at a time would defeat the hardware's prefetching.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/kernels/Streaming.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace gc::cpu {
namespace {

constexpr int64_t blockRows = 64; // summed before they are added to the chunk's sum

/// What a group computes, independent of how.
struct Group {
  SmallVector<FusibleOpInterface> ops;
  llvm::SmallMapVector<Value, unsigned, 8> inputs; // to the operand of the op
  SmallVector<Value> outputs;                      // full results and summands' ops, in order
  int64_t elements = 0, rows = 0, channels = 0;
  bool isFlat = true;
};

bool isSum(Value output) {
  auto fusible = output.getDefiningOp<FusibleOpInterface>();
  return fusible && fusible.getFusionKind() == FusionKind::SumOverRows;
}

/// Checks that every tensor has the size that its access in the space implies.
LogicalResult checkSizes(Group &group) {
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

FailureOr<Group> analyze(Operation *op) {
  Group group;
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
      return op->emitOpError("has no generated kernel for the CPU in this form");
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

/// Where a point of the space is: one index when flat, else row and channel.
struct Point {
  Expr row, channel;
};

/// Turns a group into loop bodies over the buffers of one kernel.
class GroupBody {
public:
  GroupBody(Group &group, OpKernels &kernels) : group(group) {
    for (FusibleOpInterface op : group.ops)
      for (auto [index, operand] : llvm::enumerate(op->getOperands()))
        if (group.inputs.contains(operand))
          use(operand, op.getOperandAccess(index), kernels);
    for (Value output : group.outputs)
      if (!isSum(output) && group.inputs.contains(output))
        use(output, Access::Full, kernels);
    for (auto [index, output] : llvm::enumerate(group.outputs))
      if (!isSum(output)) {
        stores.push_back({output, unsigned(uses.size())});
        uses.push_back(kernels.result(index, shapeOf(Access::Full)));
      } else {
        sums.push_back(output);
        sumResults.push_back(kernels.result(index, {group.channels}));
      }
  }

  /// Writes the full results; ranges of rows start at multiples of `rowsOfRange`.
  RowWriter writer(KernelBuilder &k, const OpKernels &kernels, ArrayRef<Value> buffers,
                   int64_t rowsOfRange) const {
    SmallVector<BufferUse> results;
    SmallVector<Value> targets;
    for (auto [value, buffer] : stores) {
      results.push_back(uses[buffer]);
      targets.push_back(buffers[buffer]);
    }
    return RowWriter(k, kernels, results, targets, group.channels, rowsOfRange);
  }

  /// Loads, computes and stores at a point; returns the summands.
  SmallVector<Expr> compute(KernelBuilder &k, ArrayRef<Value> buffers, Point point,
                            RowWriter::Store store) const {
    llvm::DenseMap<Value, Value> scalars;                   // computed inside the group
    llvm::DenseMap<std::pair<Value, unsigned>, Value> read; // loaded from outside
    auto valueOf = [&](Value value, Access access) -> Value {
      if (Value inside = scalars.lookup(value))
        return inside;
      Value &loaded = read[{value, unsigned(access)}];
      if (!loaded)
        loaded = k.load(buffers[reads.lookup({value, unsigned(access)})], indices(access, point));
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
    // All loads come before all stores: a result may lie over an operand.
    SmallVector<Expr> stored;
    for (auto [value, buffer] : stores)
      stored.push_back(k.wrap(valueOf(value, Access::Full)));
    for (auto [index, value] : llvm::enumerate(stored))
      store(index, point.row, point.channel, value);
    SmallVector<Expr> summands;
    for (Value sum : sums)
      summands.push_back(k.wrap(scalars.lookup(sum)));
    return summands;
  }

  SmallVector<BufferUse> uses;
  SmallVector<Value> sums;
  SmallVector<BufferUse> sumResults;

private:
  void use(Value value, Access access, OpKernels &kernels) {
    auto [entry, isNew] = reads.try_emplace({value, unsigned(access)}, uses.size());
    if (isNew)
      uses.push_back(kernels.operand(group.inputs.lookup(value), shapeOf(access)));
  }
  SmallVector<int64_t> shapeOf(Access access) const {
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
  SmallVector<Expr> indices(Access access, Point point) const {
    switch (access) {
    case Access::Full:
      return group.isFlat ? SmallVector<Expr>{point.row}
                          : SmallVector<Expr>{point.row, point.channel};
    case Access::Channel:
      return {point.channel};
    case Access::Row:
      return {point.row};
    case Access::Scalar:
      return {};
    }
    llvm_unreachable("unknown access");
  }

  Group &group;
  llvm::DenseMap<std::pair<Value, unsigned>, unsigned> reads; // to an index in uses
  SmallVector<std::pair<Value, unsigned>> stores;
};

void addElementwise(const Group &group, const GroupBody &body, OpKernels &kernels) {
  // An item is a few rows, about a kilobyte of elements.
  int64_t itemRows = std::max<int64_t>(1, 1024 / group.channels);
  int64_t items = (group.rows + itemRows - 1) / itemRows;
  kernels.add("", body.uses, items, grainOf(itemRows * group.channels),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                RowWriter writer = body.writer(k, kernels, buffers, itemRows);
                writer.forRows(itemRange(k, begin, end, itemRows, group.rows),
                               [&](Expr row, RowWriter::Store store) {
                                 if (group.isFlat)
                                   body.compute(k, buffers, {row, {}}, store);
                                 else
                                   k.loop(k.index(0), k.index(group.channels), [&](Expr channel) {
                                     body.compute(k, buffers, {row, channel}, store);
                                   });
                               });
                writer.finish();
              });
}

/// Computes `rows`, summands added to `sums`, an array [sums, channels] or, with `chunk`, the
/// workspace [sums, chunks, channels].
void addRows(KernelBuilder &k, const Group &group, const GroupBody &body, ArrayRef<Value> buffers,
             RowWriter &writer, Range rows, Value sums, std::optional<Expr> chunk) {
  writer.forRows(rows, [&](Expr row, RowWriter::Store store) {
    k.loop(k.index(0), k.index(group.channels), [&](Expr channel) {
      SmallVector<Expr> summands = body.compute(k, buffers, {row, channel}, store);
      for (auto [index, summand] : llvm::enumerate(summands)) {
        SmallVector<Expr> at{k.index(index)};
        if (chunk)
          at.push_back(*chunk);
        at.push_back(channel);
        k.store(k.load(sums, at) + summand, sums, at);
      }
    });
  });
}

void addSums(const Group &group, const GroupBody &body, OpKernels &kernels) {
  RowChunks chunks = chunkRows(group.rows, group.channels);
  int64_t count = body.sums.size();
  SmallVector<BufferUse> uses = body.uses;
  uses.push_back(kernels.scratch({count, chunks.count, group.channels}));
  bool inBlocks = chunks.rows > 2 * blockRows;
  kernels.add(
      "sums", uses, chunks.count, grainOf(chunks.rows * group.channels),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        Value partials = buffers.back();
        Value block = inBlocks ? k.stackArray({count, group.channels}) : Value();
        // Blocks start at multiples of 64 rows of a chunk, so at whole vectors if the chunk does.
        RowWriter writer = body.writer(k, kernels, buffers, chunks.rows);
        auto forEach = [&](llvm::function_ref<void(Expr sum, Expr channel)> each) {
          for (int64_t sum = 0; sum < count; ++sum)
            k.loop(k.index(0), k.index(group.channels),
                   [&](Expr channel) { each(k.index(sum), channel); });
        };
        k.loop(begin, end, [&](Expr chunk) {
          Range rows = itemRange(k, chunk, chunk + 1, chunks.rows, group.rows);
          forEach([&](Expr sum, Expr channel) {
            k.store(k.f32(0), partials, {sum, chunk, channel});
          });
          if (!inBlocks) {
            addRows(k, group, body, buffers, writer, rows, partials, chunk);
            return;
          }
          k.loop(rows.begin, rows.end, blockRows, [&](Expr first) {
            forEach([&](Expr sum, Expr channel) { k.store(k.f32(0), block, {sum, channel}); });
            Expr last = k.minimum(first + double(blockRows), rows.end);
            addRows(k, group, body, buffers, writer, {first, last}, block, std::nullopt);
            forEach([&](Expr sum, Expr channel) {
              k.store(k.load(partials, {sum, chunk, channel}) + k.load(block, {sum, channel}),
                      partials, {sum, chunk, channel});
            });
          });
        });
        writer.finish();
      });
  addCombineSums(kernels, body.sumResults, chunks.count, group.channels);
}

} // namespace

LogicalResult emitFusible(Operation *op, OpKernels &kernels) {
  FailureOr<Group> group = analyze(op);
  if (failed(group))
    return failure();
  GroupBody body(*group, kernels);
  if (body.sums.empty())
    addElementwise(*group, body, kernels);
  else
    addSums(*group, body, kernels);
  return success();
}

} // namespace gc::cpu
