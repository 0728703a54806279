//===- Reduce.cpp - Sums, means and maxima over dimensions ----------------===//
//
// Three ways, by the simple form of the reduction (see Reduction.h):
//   rows:    one reduced dimension, the innermost: threads share a row (Rows.h);
//   points:  many results, or few elements for each: a thread for each result;
//   columns: few results of many elements: blocks reduce chunks, whose results meet in the
//            workspace and are combined by a second kernel (Columns.h).
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/cuda/grids/Rows.h"
#include "compiler/language/Reduction.h"
#include "compiler/language/Segments.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// What is reduced: the value of an element, given its place in the input and in the result, both
/// as one index. buffers[0] is the result.
using ElementValue =
    llvm::function_ref<Expr(GpuBuilder &k, ArrayRef<Value> buffers, Expr input, Expr result)>;

/// The place in the input of row `row` among the reduced elements of result row `target`; columns
/// come on top. `reduction` ends with columns.
Expr offsetOf(const Reduction &reduction, Expr target, Expr row) {
  Expr offset;
  int64_t stride = reduction.columns();
  for (int64_t d = reduction.rank() - 2; d >= 0; --d) {
    Expr &rest = reduction.isReduced[d] ? row : target;
    // The outermost of its kind needs no remainder.
    bool isLast = llvm::none_of(llvm::seq<int64_t>(0, d), [&](int64_t outer) {
      return reduction.isReduced[outer] == reduction.isReduced[d];
    });
    Expr index = isLast ? rest : rest % reduction.sizes[d];
    rest = rest / reduction.sizes[d];
    Expr part = index * stride;
    offset = Value(offset) ? offset + part : part;
    stride *= reduction.sizes[d];
  }
  return offset;
}

void addPoints(GpuKernels &kernels, const Reduction &reduction, ArrayRef<BufferUse> uses,
               ElementValue value) {
  int64_t width = reduction.columns(), items = reduction.kept() * width;
  kernels.add("points", uses, itemGrid(items), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, items, [&](Expr item) {
                  Expr target = item / width, column = item % width;
                  auto read = [&](Expr row) {
                    Expr at = column;
                    if (reduction.rank() > 1)
                      at = offsetOf(reduction, target, row) + column;
                    return SmallVector<Expr>{value(k, buffers, at, item)};
                  };
                  Expr total = k.reduceStrided(k.index(0), k.index(reduction.reduced()), 1, 1,
                                               reduction.isMaximum, read)[0];
                  k.store(total * k.f32(reduction.scale), buffers[0], {item});
                });
              });
}

ColumnBlocks blocksOf(const Reduction &reduction) {
  return ColumnBlocks::inChunks(reduction.kept(), reduction.reduced(), reduction.columns());
}

void addColumns(GpuKernels &kernels, const Reduction &reduction, ArrayRef<BufferUse> uses,
                int64_t partialsAt, ElementValue value) {
  int64_t kept = reduction.kept(), width = reduction.columns();
  ColumnBlocks blocks = blocksOf(reduction);
  bool isWhole = blocks.chunks.count == 1;
  BufferUse partials = kernels.scratch({partialsAt + blocks.allChunks() * width});
  auto partialAt = [&](Expr chunk, Expr column) { return chunk * width + column + partialsAt; };
  SmallVector<BufferUse> chunkUses(uses);
  if (!isWhole)
    chunkUses.push_back(partials);
  ColumnReduction how{.count = 1, .isMaximum = reduction.isMaximum};
  addColumnReduction(
      kernels, "chunks", chunkUses, blocks, how,
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr row) {
        Expr from = offsetOf(reduction, at.matrix, row) + at.channel;
        return SmallVector<Expr>{value(k, buffers, from, at.matrix * width + at.channel)};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        if (isWhole)
          k.store(totals[0] * k.f32(reduction.scale), buffers[0], {at.matrix * width + at.channel});
        else
          k.store(totals[0], buffers.back(), {partialAt(at.chunk, at.channel)});
      });
  if (isWhole)
    return;
  addColumnReduction(
      kernels, "combine", {uses[0], partials},
      ColumnBlocks::whole(kept, blocks.chunks.count, width), how,
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr chunk) {
        Expr row = at.matrix * blocks.chunks.count + chunk;
        return SmallVector<Expr>{k.load(buffers[1], {partialAt(row, at.channel)})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        k.store(totals[0] * k.f32(reduction.scale), buffers[0], {at.matrix * width + at.channel});
      });
}

/// uses[0] is the result, as one row; `value` gets the buffers of all. Partial results are put into
/// the workspace at `partialsAt`.
void addReduction(GpuKernels &kernels, Reduction reduction, ArrayRef<BufferUse> uses,
                  int64_t partialsAt, ElementValue value) {
  constexpr int64_t manyResults = 32768, fewElements = 32;
  reduction.endWithColumns();
  int64_t results = reduction.kept() * reduction.columns();
  bool isPoint = reduction.reduced() <= fewElements ||
                 (results >= manyResults && reduction.columns() >= warpSize);
  if (isPoint)
    addPoints(kernels, reduction, uses, value);
  else
    addColumns(kernels, reduction, uses, partialsAt, value);
}

LogicalResult emitReduction(Value input, ArrayRef<int64_t> dimensions, bool isMaximum, bool isMean,
                            GpuKernels &kernels, bool ofSquares = false) {
  constexpr int64_t longRow = 8192;
  Reduction reduction(shapeOf(input), dimensions);
  reduction.isMaximum = isMaximum;
  reduction.ofSquares = ofSquares;
  if (isMean)
    reduction.scale = 1 / double(reduction.reduced());
  int64_t length = reduction.sizes.back();
  bool inRows = reduction.innerIsReduced() && reduction.reducedDimensions() == 1;
  if (!inRows || length > longRow || ofSquares) {
    addReduction(kernels, reduction,
                 {kernels.result(0, {reduction.kept() * reduction.columns()}),
                  kernels.operand(0, {elementCount(input.getType())})},
                 /*partialsAt=*/0, [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr from, Expr) {
                   return reduction.taken(k.load(buffers[1], {from}));
                 });
    return success();
  }
  RowLayout layout(reduction.kept(), length);
  kernels.add("rows", {kernels.operand(0, layout.shape()), kernels.result(0, {layout.rows})},
              layout.grid(), layout.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                RowThreads t(k, layout);
                Expr total = t.reduce(t.rowOf(buffers[0]), isMaximum) * k.f32(reduction.scale);
                t.once([&] { k.store(total, buffers[1], {t.row}); });
              });
  return success();
}

} // namespace

LogicalResult emitReduceSum(ReduceSumOp op, GpuKernels &kernels) {
  if (op.getFusionKind() == FusionKind::SumOverRows)
    return emitFusible(op, kernels);
  return emitReduction(op.getInput(), op.getDimensions(), false, false, kernels);
}
LogicalResult emitReduceMean(ReduceMeanOp op, GpuKernels &kernels) {
  return emitReduction(op.getInput(), op.getDimensions(), false, true, kernels);
}
LogicalResult emitMeanSquare(MeanSquareOp op, GpuKernels &kernels) {
  return emitReduction(op.getInput(), op.getDimensions(), false, true, kernels, true);
}
LogicalResult emitReduceMax(ReduceMaxOp op, GpuKernels &kernels) {
  return emitReduction(op.getInput(), op.getDimensions(), true, false, kernels);
}

LogicalResult emitGlobalAvgPool(GlobalAvgPoolOp op, GpuKernels &kernels) {
  return emitReduction(op.getInput(), middleDimensions(op.getInput()), false, true, kernels);
}

// dx = dy / (elements in the middle)
LogicalResult emitGlobalAvgPoolGrad(GlobalAvgPoolGradOp op, GpuKernels &kernels) {
  auto shape = shapeOf(op.getInputGradient());
  int64_t batch = shape.front(), channels = shape.back();
  int64_t middle = elementCount(op.getInputGradient().getType()) / (batch * channels);
  int64_t width = vectorWidth({channels}), items = batch * middle * channels / width;
  kernels.add("", {kernels.operand(0), kernels.result(0, {batch * middle, channels})},
              itemGrid(items), itemBlock, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, items, [&](Expr item) {
                  Expr first = item * width;
                  Expr row = first / channels, channel = first % channels;
                  Elements gradients = k.loadElements(buffers[0], {row / middle, channel}, width);
                  for (Expr &gradient : gradients)
                    gradient = gradient * k.f32(1.0 / double(middle));
                  k.storeElements(gradients, buffers[1], {row, channel});
                });
              });
  return success();
}

// dx = dy / (elements that equal the largest) where x is the largest, else 0. The elements are
// counted first.
LogicalResult emitReduceMaxGrad(ReduceMaxGradOp op, GpuKernels &kernels) {
  Reduction reduction(shapeOf(op.getInput()), op.getDimensions());
  reduction.endWithColumns();
  int64_t elements = elementCount(op.getInput().getType()), width = reduction.columns();
  int64_t results = reduction.kept() * width;
  BufferUse input = kernels.operand(0, {elements}), largest = kernels.operand(1, {results});
  // The workspace: the counts, then what their sums need.
  BufferUse counts = kernels.scratch({results + blocksOf(reduction).allChunks() * width});
  addReduction(kernels, reduction, {counts, input, largest}, /*partialsAt=*/results,
               [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr from, Expr to) {
                 Expr isLargest = k.load(buffers[1], {from}) == k.load(buffers[2], {to});
                 return k.select(isLargest, k.f32(1), k.f32(0));
               });
  kernels.add(
      "", {input, largest, kernels.operand(2, {results}), counts, kernels.result(0, {elements})},
      itemGrid(elements), itemBlock, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        forItems(k, elements, [&](Expr item) {
          // The result that the element went into.
          Expr to = item % width, rest = item / width;
          int64_t stride = width;
          for (int64_t d = reduction.rank() - 2; d >= 0; --d) {
            if (!reduction.isReduced[d]) {
              to = to + rest % reduction.sizes[d] * stride;
              stride *= reduction.sizes[d];
            }
            rest = rest / reduction.sizes[d];
          }
          Expr share = k.load(buffers[2], {to}) / k.load(buffers[3], {to});
          Expr isLargest = k.load(buffers[0], {item}) == k.load(buffers[1], {to});
          k.store(k.select(isLargest, share, k.f32(0)), buffers[4], {item});
        });
      });
  return success();
}

} // namespace gc::cuda
