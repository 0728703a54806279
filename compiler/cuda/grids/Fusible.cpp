//===- Fusible.cpp - Elementwise groups and sums over rows ----------------===//
//
// Without sums a thread computes four neighbouring elements, read and written as vectors, where the
// sizes allow it, else one. With sums over rows a block computes a chunk of rows for a tile of
// channels; the chunks' sums meet in the workspace and are combined in order by a second kernel.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/language/FusibleGroup.h"

using namespace mlir;

namespace gc::cuda {
namespace {

// Full operands and results by one index for all elements.
SmallVector<BufferUse> flatUses(const FusibleGroup &group, const GroupBody &body) {
  SmallVector<BufferUse> uses = body.uses;
  for (auto [use, access] : llvm::zip_equal(uses, body.accesses))
    if (access == Access::Full)
      use.shape = {group.elements};
  return uses;
}

void addElementwise(const FusibleGroup &group, const GroupBody &body, GpuKernels &kernels) {
  bool inVectors = group.elements % 4 == 0 && (group.isFlat || group.channels % 4 == 0);
  int64_t width = inVectors ? 4 : 1;
  int64_t items = group.elements / width;
  kernels.add("", flatUses(group, body), itemGrid(items), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, items, [&](Expr item) {
                  Expr first = item * width;
                  Expr row, channel;
                  if (!group.isFlat) {
                    row = first / group.channels;
                    channel = first % group.channels;
                  }
                  // What is read as a vector is read once, before the first lane; and so are rows
                  // and scalars.
                  llvm::DenseMap<unsigned, Expr> loaded;
                  SmallVector<SmallVector<Expr>> stored(body.results.size());
                  auto valueOf = [&](unsigned use, Access access, int64_t lane) -> Value {
                    bool perLane = access == Access::Full || access == Access::Channel;
                    Expr &value = loaded[use];
                    if (!Value(value)) {
                      SmallVector<Expr> at;
                      if (access == Access::Full)
                        at = {first};
                      else if (access == Access::Channel)
                        at = {channel};
                      else if (access == Access::Row)
                        at = {row};
                      value = perLane && inVectors ? k.loadVector(buffers[use], at, width)
                                                   : k.load(buffers[use], at);
                    }
                    return perLane && inVectors ? k.element(value, lane) : value;
                  };
                  for (int64_t lane = 0; lane < width; ++lane)
                    body.compute(
                        k, [&](unsigned use, Access access) { return valueOf(use, access, lane); },
                        [&](unsigned result, Expr value) { stored[result].push_back(value); });
                  for (auto [result, values] : llvm::enumerate(stored)) {
                    Value target = buffers[body.results[result]];
                    if (inVectors)
                      k.storeVector(k.vectorOf(values), target, {first});
                    else
                      k.store(values[0], target, {first});
                  }
                });
              });
}

void addSums(const FusibleGroup &group, const GroupBody &body, GpuKernels &kernels) {
  ColumnBlocks blocks = ColumnBlocks::inChunks(1, group.rows, group.channels);
  unsigned count = body.sums.size();
  SmallVector<BufferUse> uses = flatUses(group, body);
  uses.push_back(kernels.scratch({count, blocks.chunks.count, group.channels}));
  addColumnReduction(
      kernels, "sums", uses, blocks, {count},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr row) {
        Expr flat = row * group.channels + at.channel;
        auto load = [&](unsigned use, Access access) -> Value {
          switch (access) {
          case Access::Full:
            return k.load(buffers[use], {flat});
          case Access::Channel:
            return k.load(buffers[use], {at.channel});
          case Access::Row:
            return k.load(buffers[use], {row});
          case Access::Scalar:
            return k.load(buffers[use], {});
          }
          llvm_unreachable("unknown access");
        };
        return body.compute(k, load, [&](unsigned result, Expr value) {
          k.store(value, buffers[body.results[result]], {flat});
        });
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        for (unsigned i = 0; i < count; ++i)
          k.store(totals[i], buffers.back(), {k.index(i), at.chunk, at.channel});
      });
  addCombineSums(kernels, body.sumResults, blocks.chunks.count, group.channels);
}

} // namespace

LogicalResult emitFusible(Operation *op, GpuKernels &kernels) {
  FailureOr<FusibleGroup> group = FusibleGroup::of(op);
  if (failed(group))
    return failure();
  GroupBody body(*group, kernels);
  if (body.sums.empty())
    addElementwise(*group, body, kernels);
  else
    addSums(*group, body, kernels);
  return success();
}

} // namespace gc::cuda
