//===- Reduce.cpp - Sums, means and maxima over dimensions ----------------===//
//
// The innermost dimension of the simple form (see Reduction.h) decides the loop:
//   reduced: rows are folded in vectors, an item is an element of the result;
//   kept:    columns are added up row by row, an item is a block of columns.
// Where that leaves too few items for the threads, the (only) reduced dimension is cut into chunks
// whose results meet in the workspace and are combined in order by a second kernel.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/language/Reduction.h"

using namespace mlir;

namespace gc::cpu {
namespace {

constexpr int64_t columnBlock = 1024; // columns of an item
constexpr int64_t rowBlock = 64;      // rows summed before they are added to the rest
constexpr int64_t fewItems = 16;      // fewer would leave threads idle
constexpr int64_t rowChunk = 16384;   // elements of a row in an item, where rows are cut

/// The leading indices (all but the innermost) of the input: kept ones from `item`, reduced ones
/// filled in by loops around `body`, which may be cut to `rows` if there is only one.
void forReduced(KernelBuilder &k, const Reduction &reduction, Expr item, std::optional<Range> rows,
                llvm::function_ref<void(ArrayRef<Expr>)> body) {
  int64_t leading = reduction.rank() - 1;
  SmallVector<Expr> indices(leading);
  Expr rest = item;
  for (int64_t d = leading - 1; d >= 0; --d)
    if (!reduction.isReduced[d]) {
      indices[d] = rest % reduction.sizes[d];
      rest = rest / reduction.sizes[d];
    }
  std::function<void(int64_t)> nest = [&](int64_t d) {
    if (d == leading)
      return body(indices);
    if (!reduction.isReduced[d])
      return nest(d + 1);
    Range range = rows ? *rows : Range{k.index(0), k.index(reduction.sizes[d])};
    k.loop(range.begin, range.end, [&](Expr i) {
      indices[d] = i;
      nest(d + 1);
    });
  };
  nest(0);
}

/// Columns [first, last) of result row `target` from the rows of `item` in `rows` (or all).
void addColumns(KernelBuilder &k, const Reduction &reduction, Value input, Expr item,
                std::optional<Range> rows, Range columns, Value block, Value result,
                ArrayRef<Expr> target, double scale) {
  auto at = [&](Expr c) {
    SmallVector<Expr> indices(target);
    indices.push_back(c);
    return indices;
  };
  auto forEach = [&](llvm::function_ref<void(Expr)> body) {
    k.loop(columns.begin, columns.end, body);
  };
  forEach([&](Expr c) { k.store(k.f32(reduction.neutral()), result, at(c)); });
  auto addRows = [&](std::optional<Range> range) {
    forEach([&](Expr c) { k.store(k.f32(reduction.neutral()), block, {c - columns.begin}); });
    forReduced(k, reduction, item, range, [&](ArrayRef<Expr> leading) {
      forEach([&](Expr c) {
        SmallVector<Expr> indices(leading);
        indices.push_back(c);
        Expr slot = c - columns.begin;
        Expr element = reduction.taken(k.load(input, indices));
        k.store(reduction.combine(k, k.load(block, {slot}), element), block, {slot});
      });
    });
    forEach([&](Expr c) {
      Expr part = k.load(block, {c - columns.begin});
      k.store(reduction.combine(k, k.load(result, at(c)), part), result, at(c));
    });
  };
  if (reduction.reducedDimensions() != 1) {
    addRows(std::nullopt);
  } else {
    Range all = rows ? *rows : Range{k.index(0), k.index(reduction.reduced())};
    k.loop(all.begin, all.end, rowBlock, [&](Expr first) {
      addRows(Range{first, k.minimum(first + rowBlock, all.end)});
    });
  }
  if (scale != 1)
    forEach([&](Expr c) { k.store(k.load(result, at(c)) * k.f32(scale), result, at(c)); });
}

void emitColumns(const Reduction &reduction, OpKernels &kernels) {
  int64_t kept = reduction.kept(), width = reduction.columns();
  int64_t blockColumns = std::min(width, columnBlock);
  int64_t blocks = (width + blockColumns - 1) / blockColumns;
  int64_t rows = reduction.reduced();
  BufferUse input = kernels.operand(0, reduction.sizes), output = kernels.result(0, {kept, width});
  RowChunks chunks = chunkRows(rows, blockColumns);
  bool inChunks =
      kept * blocks < fewItems && reduction.reducedDimensions() == 1 && chunks.count > 1;
  if (!inChunks) {
    kernels.add("columns", {input, output}, kept * blocks, grainOf(rows * blockColumns),
                [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                  Value block = k.stackArray({blockColumns});
                  k.loop(begin, end, [&](Expr item) {
                    Expr target = item / blocks, part = item % blocks;
                    addColumns(k, reduction, buffers[0], target, std::nullopt,
                               itemRange(k, part, part + 1, blockColumns, width), block, buffers[1],
                               {target}, reduction.scale);
                  });
                });
    return;
  }
  BufferUse partials = kernels.scratch({kept, chunks.count, width});
  kernels.add("chunks", {input, partials}, kept * blocks * chunks.count,
              grainOf(chunks.rows * blockColumns),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Value block = k.stackArray({blockColumns});
                k.loop(begin, end, [&](Expr item) {
                  Expr part = item % blocks;
                  Expr chunk = item / blocks % chunks.count;
                  Expr target = item / (blocks * chunks.count);
                  addColumns(k, reduction, buffers[0], target,
                             itemRange(k, chunk, chunk + 1, chunks.rows, rows),
                             itemRange(k, part, part + 1, blockColumns, width), block, buffers[1],
                             {target, chunk}, 1);
                });
              });
  kernels.add("combine", {partials, output}, kept, grainOf(chunks.count * width),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Expr columns = k.index(width), zero = k.index(0);
                k.loop(begin, end, [&](Expr target) {
                  k.loop(zero, columns, [&](Expr c) {
                    k.store(k.f32(reduction.neutral()), buffers[1], {target, c});
                  });
                  k.loop(zero, k.index(chunks.count), [&](Expr chunk) {
                    k.loop(zero, columns, [&](Expr c) {
                      Expr part = k.load(buffers[0], {target, chunk, c});
                      k.store(reduction.combine(k, k.load(buffers[1], {target, c}), part),
                              buffers[1], {target, c});
                    });
                  });
                  k.loop(zero, columns, [&](Expr c) {
                    k.store(k.load(buffers[1], {target, c}) * k.f32(reduction.scale), buffers[1],
                            {target, c});
                  });
                });
              });
}

void emitRows(const Reduction &reduction, OpKernels &kernels) {
  int64_t kept = reduction.kept(), length = reduction.sizes.back();
  BufferUse output = kernels.result(0, {kept});
  auto fold = [&](KernelBuilder &k, int64_t size, llvm::function_ref<Expr(const Columns &)> read) {
    return reduction.isMaximum ? k.maximumOfColumns(size, read) : k.sumColumns(size, read);
  };
  double missing = reduction.neutral();
  if (kept >= fewItems || length <= rowChunk || reduction.reducedDimensions() != 1) {
    kernels.add("rows", {kernels.operand(0, reduction.sizes), output}, kept, grainOf(length),
                [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                  k.loop(begin, end, [&](Expr target) {
                    k.store(k.f32(reduction.neutral()), buffers[1], {target});
                    forReduced(k, reduction, target, std::nullopt, [&](ArrayRef<Expr> leading) {
                      Expr part = fold(k, length, [&](const Columns &columns) {
                        return reduction.taken(k.load(buffers[0], leading, columns, missing));
                      });
                      k.store(reduction.combine(k, k.load(buffers[1], {target}), part), buffers[1],
                              {target});
                    });
                    k.store(k.load(buffers[1], {target}) * k.f32(reduction.scale), buffers[1],
                            {target});
                  });
                });
    return;
  }
  int64_t chunks = (length + rowChunk - 1) / rowChunk;
  int64_t lastSize = length - (chunks - 1) * rowChunk;
  BufferUse partials = kernels.scratch({kept, chunks});
  kernels.add("chunks", {kernels.operand(0, {kept, length}), partials}, kept * chunks, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr item) {
                  Expr target = item / chunks, chunk = item % chunks;
                  Expr offset = chunk * rowChunk;
                  auto foldChunk = [&](int64_t size) {
                    Expr part = fold(k, size, [&](const Columns &columns) {
                      return reduction.taken(
                          k.load(buffers[0], {target},
                                 {offset + columns.first, columns.count, columns.mask}, missing));
                    });
                    k.store(part, buffers[1], {target, chunk});
                  };
                  k.when(
                      chunk == chunks - 1, [&] { foldChunk(lastSize); },
                      [&] { foldChunk(rowChunk); });
                });
              });
  kernels.add("combine", {partials, output}, kept, grainOf(chunks),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr target) {
                  Expr total =
                      k.loop(k.index(0), k.index(chunks), 1, {k.f32(reduction.neutral())},
                             [&](Expr chunk, ArrayRef<Expr> carried) {
                               Expr part = k.load(buffers[0], {target, chunk});
                               return SmallVector<Expr>{reduction.combine(k, carried[0], part)};
                             })[0];
                  k.store(total * k.f32(reduction.scale), buffers[1], {target});
                });
              });
}

LogicalResult emitReduction(Value input, ArrayRef<int64_t> dimensions, bool isMaximum, bool isMean,
                            OpKernels &kernels, bool ofSquares = false) {
  auto shape = cast<RankedTensorType>(input.getType()).getShape();
  Reduction reduction(shape, dimensions);
  reduction.isMaximum = isMaximum;
  reduction.ofSquares = ofSquares;
  if (isMean)
    reduction.scale = 1 / double(reduction.reduced());
  if (reduction.innerIsReduced())
    emitRows(reduction, kernels);
  else
    emitColumns(reduction, kernels);
  return success();
}

} // namespace

LogicalResult emitReduceSum(ReduceSumOp op, OpKernels &kernels) {
  if (op.getFusionKind() == FusionKind::SumOverRows)
    return emitFusible(op, kernels);
  return emitReduction(op.getInput(), op.getDimensions(), false, false, kernels);
}
LogicalResult emitReduceMean(ReduceMeanOp op, OpKernels &kernels) {
  return emitReduction(op.getInput(), op.getDimensions(), false, true, kernels);
}
LogicalResult emitMeanSquare(MeanSquareOp op, OpKernels &kernels) {
  return emitReduction(op.getInput(), op.getDimensions(), false, true, kernels, true);
}
LogicalResult emitReduceMax(ReduceMaxOp op, OpKernels &kernels) {
  return emitReduction(op.getInput(), op.getDimensions(), true, false, kernels);
}

LogicalResult emitGlobalAvgPool(GlobalAvgPoolOp op, OpKernels &kernels) {
  return emitReduction(op.getInput(), middleDimensions(op.getInput()), false, true, kernels);
}

// dx = dy / (number of elements that are averaged)
LogicalResult emitGlobalAvgPoolGrad(GlobalAvgPoolGradOp op, OpKernels &kernels) {
  auto shape = cast<RankedTensorType>(op.getInputGradient().getType());
  int64_t batch = shape.getDimSize(0), channels = shape.getShape().back();
  int64_t middle = shape.getNumElements() / (batch * channels);
  kernels.add("", {kernels.operand(0), kernels.result(0, {batch * middle, channels})},
              batch * middle, grainOf(channels),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  Expr sample = row / middle;
                  k.loop(k.index(0), k.index(channels), [&](Expr c) {
                    k.store(k.load(buffers[0], {sample, c}) * k.f32(1.0 / double(middle)),
                            buffers[1], {row, c});
                  });
                });
              });
  return success();
}

// dx = dy / (elements that equal the largest) where x is the largest, else 0.
LogicalResult emitReduceMaxGrad(ReduceMaxGradOp op, OpKernels &kernels) {
  Reduction reduction(cast<RankedTensorType>(op.getInput().getType()).getShape(),
                      op.getDimensions());
  reduction.endWithColumns();
  int64_t kept = reduction.kept(), width = reduction.columns();
  SmallVector<int64_t> small{kept, width};
  kernels.add(
      "",
      {kernels.operand(0, reduction.sizes), kernels.operand(1, small), kernels.operand(2, small),
       kernels.result(0, reduction.sizes), kernels.scratch(small)},
      kept, grainOf(elementCount(op.getInput().getType()) / kept),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr target) {
          auto forEach = [&](llvm::function_ref<void(Expr)> body) {
            k.loop(k.index(0), k.index(width), body);
          };
          auto visit =
              [&](llvm::function_ref<void(ArrayRef<Expr> at, Expr isLargest, Expr c)> body) {
                forReduced(k, reduction, target, std::nullopt, [&](ArrayRef<Expr> leading) {
                  forEach([&](Expr c) {
                    SmallVector<Expr> at(leading);
                    at.push_back(c);
                    body(at, k.load(buffers[0], at) == k.load(buffers[1], {target, c}), c);
                  });
                });
              };
          forEach([&](Expr c) { k.store(k.f32(0), buffers[4], {target, c}); });
          visit([&](ArrayRef<Expr>, Expr isLargest, Expr c) {
            Expr one = k.select(isLargest, k.f32(1), k.f32(0));
            k.store(k.load(buffers[4], {target, c}) + one, buffers[4], {target, c});
          });
          visit([&](ArrayRef<Expr> at, Expr isLargest, Expr c) {
            Expr share = k.load(buffers[2], {target, c}) / k.load(buffers[4], {target, c});
            k.store(k.select(isLargest, share, k.f32(0)), buffers[3], at);
          });
        });
      });
  return success();
}

} // namespace gc::cpu
