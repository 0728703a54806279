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
#include "compiler/cpu/loops/Streaming.h"
#include "compiler/language/FusibleGroup.h"

using namespace mlir;

namespace gc::cpu {
namespace {

constexpr int64_t blockRows = 64; // summed before they are added to the chunk's sum

/// Where a point of the space is: one index when flat, else row and channel.
struct Point {
  Expr row, channel;
};

/// A group as loop bodies over rows.
class RowBody : public GroupBody {
public:
  RowBody(const FusibleGroup &group, const OpUses &buffers)
      : GroupBody(group, buffers), group(group) {}

  /// Writes the full results; ranges of rows start at multiples of `rowsOfRange`.
  RowWriter writer(KernelBuilder &k, const OpKernels &kernels, ArrayRef<Value> buffers,
                   int64_t rowsOfRange) const {
    SmallVector<BufferUse> written;
    SmallVector<Value> targets;
    for (unsigned result : results) {
      written.push_back(uses[result]);
      targets.push_back(buffers[result]);
    }
    return RowWriter(k, kernels, written, targets, group.channels, rowsOfRange);
  }

  SmallVector<Expr> computeAt(KernelBuilder &k, ArrayRef<Value> buffers, Point point,
                              RowWriter::Store store) const {
    return compute(
        k,
        [&](unsigned use, Access access) -> Value {
          return k.load(buffers[use], indices(access, point));
        },
        [&](unsigned result, Expr value) { store(result, point.row, point.channel, value); });
  }

private:
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

  const FusibleGroup &group;
};

void addElementwise(const FusibleGroup &group, const RowBody &body, OpKernels &kernels) {
  // An item is a few rows, about a kilobyte of elements.
  int64_t itemRows = std::max<int64_t>(1, 1024 / group.channels);
  int64_t items = (group.rows + itemRows - 1) / itemRows;
  kernels.add("", body.uses, items, grainOf(itemRows * group.channels),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                RowWriter writer = body.writer(k, kernels, buffers, itemRows);
                writer.forRows(itemRange(k, begin, end, itemRows, group.rows),
                               [&](Expr row, RowWriter::Store store) {
                                 if (group.isFlat)
                                   body.computeAt(k, buffers, {row, {}}, store);
                                 else
                                   k.loop(k.index(0), k.index(group.channels), [&](Expr channel) {
                                     body.computeAt(k, buffers, {row, channel}, store);
                                   });
                               });
                writer.finish();
              });
}

/// Computes `rows`, summands added to `sums`, an array [sums, channels] or, with `chunk`, the
/// workspace [sums, chunks, channels].
void addRows(KernelBuilder &k, const FusibleGroup &group, const RowBody &body,
             ArrayRef<Value> buffers, RowWriter &writer, Range rows, Value sums,
             std::optional<Expr> chunk) {
  writer.forRows(rows, [&](Expr row, RowWriter::Store store) {
    k.loop(k.index(0), k.index(group.channels), [&](Expr channel) {
      SmallVector<Expr> summands = body.computeAt(k, buffers, {row, channel}, store);
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

void addSums(const FusibleGroup &group, const RowBody &body, OpKernels &kernels) {
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
            Expr last = k.minimum(first + blockRows, rows.end);
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
  FailureOr<FusibleGroup> group = FusibleGroup::of(op);
  if (failed(group))
    return failure();
  RowBody body(*group, kernels);
  if (body.sums.empty())
    addElementwise(*group, body, kernels);
  else
    addSums(*group, body, kernels);
  return success();
}

} // namespace gc::cpu
