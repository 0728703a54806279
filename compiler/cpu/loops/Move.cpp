//===- Move.cpp - Copies: slices, concatenations, transposes, tables ------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/language/Segments.h"

using namespace mlir;

namespace gc::cpu {
namespace {

constexpr int64_t itemElements = 4096;

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// Writes value(o, i) to element i of segment o of a buffer.
void addSegments(OpKernels &kernels, StringRef suffix, ArrayRef<BufferUse> uses, Segments target,
                 llvm::function_ref<Expr(KernelBuilder &, ArrayRef<Value>, Expr, Expr)> value) {
  if (target.length == 0)
    return;
  int64_t blocks = (target.length + itemElements - 1) / itemElements;
  kernels.add(suffix, uses, target.outer * blocks, grainOf(std::min(itemElements, target.length)),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr item) {
                  Expr segment = item / blocks, block = item % blocks;
                  Range range = itemRange(k, block, block + 1, itemElements, target.length);
                  k.loop(range.begin, range.end, [&](Expr i) {
                    k.store(value(k, buffers, segment, i), buffers[0],
                            {segment * target.stride + target.offset + i});
                  });
                });
              });
}

void addCopy(OpKernels &kernels, const SegmentCopy &copy) {
  BufferUse from = kernels.operand(copy.operand), to = kernels.result(0);
  from.shape = {product(from.shape)};
  to.shape = {product(to.shape)};
  addSegments(kernels, "copy", {to, from}, copy.target,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr segment, Expr i) {
                Expr first = segment * copy.source.stride + copy.source.offset;
                return k.load(buffers[1], {first + i});
              });
}

} // namespace

void addCast(OpKernels &kernels, int64_t elements, Type from, Type to) {
  int64_t items = (elements + itemElements - 1) / itemElements;
  kernels.add("", {kernels.plain(0, {elements}, from), kernels.plain(1, {elements}, to)}, items,
              grainOf(itemElements),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Range range = itemRange(k, begin, end, itemElements, elements);
                k.loop(range.begin, range.end,
                       [&](Expr i) { k.store(k.load(buffers[0], {i}), buffers[1], {i}); });
              });
}

LogicalResult emitSlice(SliceOp op, OpKernels &kernels) {
  addCopy(kernels, copyOf(op));
  return success();
}

LogicalResult emitConcat(ConcatOp op, OpKernels &kernels) {
  for (const SegmentCopy &copy : copiesOf(op))
    addCopy(kernels, copy);
  return success();
}

LogicalResult emitPutRows(PutRowsOp op, OpKernels &kernels) {
  for (const SegmentCopy &copy : copiesOf(op, kernels.isOverwritten(0)))
    addCopy(kernels, copy);
  return success();
}

LogicalResult emitRoll(RollOp op, OpKernels &kernels) {
  for (const SegmentCopy &copy : copiesOf(op))
    addCopy(kernels, copy);
  return success();
}

// An item is a row of the result: of the last dimension, or where that is turned round, too.
LogicalResult emitFlip(FlipOp op, OpKernels &kernels) {
  auto shape = shapeOf(op.getInput());
  int64_t axis = op.getAxis(), size = shape[axis];
  int64_t inner = product(shape.drop_front(axis + 1)), outer = product(shape.take_front(axis));
  int64_t rows = inner == 1 ? outer : outer * size, width = inner == 1 ? size : inner;
  kernels.add("", {kernels.operand(0, {rows, width}), kernels.result(0, {rows, width})}, rows,
              grainOf(width), [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  Expr from = inner == 1 ? row : row + (size - 1) - row % size * 2;
                  k.loop(k.index(0), k.index(width), [&](Expr c) {
                    Expr at = inner == 1 ? k.index(size - 1) - c : c;
                    k.store(k.load(buffers[0], {from, at}), buffers[1], {row, c});
                  });
                });
              });
  return success();
}

LogicalResult emitPad(PadOp op, OpKernels &kernels) {
  auto from = shapeOf(op.getInput()), to = shapeOf(op.getOutput());
  int64_t axis = op.getAxis(), low = op.getLow(), size = from[axis];
  addCopy(kernels, {0, Segments::of(from, axis, 0, size), Segments::of(to, axis, low, size)});
  auto zero = [](KernelBuilder &k, ArrayRef<Value>, Expr, Expr) { return k.f32(0); };
  BufferUse output = kernels.result(0, {product(to)});
  addSegments(kernels, "low", {output}, Segments::of(to, axis, 0, low), zero);
  addSegments(kernels, "high", {output}, Segments::of(to, axis, low + size, to[axis] - low - size),
              zero);
  return success();
}

// output[b] = concat(token, input[b]) + position
LogicalResult emitClassToken(ClassTokenOp op, OpKernels &kernels) {
  auto shape = shapeOf(op.getOutput());
  int64_t sequence = shape[1], width = shape[2], rows = shape[0] * sequence;
  kernels.add(
      "",
      {kernels.operand(0), kernels.operand(1, {width}), kernels.operand(2, {sequence, width}),
       kernels.result(0, {rows, width})},
      rows, grainOf(width), [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr row) {
          Expr sample = row / sequence, position = row % sequence;
          auto write = [&](llvm::function_ref<Expr(Expr)> token) {
            k.loop(k.index(0), k.index(width), [&](Expr c) {
              k.store(token(c) + k.load(buffers[2], {position, c}), buffers[3], {row, c});
            });
          };
          k.when(
              position == 0, [&] { write([&](Expr c) { return k.load(buffers[1], {c}); }); },
              [&] {
                write([&](Expr c) { return k.load(buffers[0], {sample, position - 1, c}); });
              });
        });
      });
  return success();
}

// An item is a row of the result. Along it, either the input advances too or one element repeats.
LogicalResult emitBroadcast(BroadcastOp op, OpKernels &kernels) {
  auto input = shapeOf(op.getInput()), output = shapeOf(op.getOutput());
  ArrayRef<int64_t> dimensions = op.getDimensions();
  int64_t rank = output.size();
  int64_t width = rank ? output.back() : 1, rows = rank ? product(output.drop_back()) : 1;
  kernels.add("", {kernels.operand(0), kernels.result(0, {rows, width})}, rows, grainOf(width),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  SmallVector<Expr> position(rank);
                  Expr rest = row;
                  for (int64_t d = rank - 2; d >= 0; --d) {
                    position[d] = rest % output[d];
                    rest = rest / output[d];
                  }
                  k.loop(k.index(0), k.index(width), [&](Expr c) {
                    if (rank)
                      position[rank - 1] = c;
                    SmallVector<Expr> at;
                    for (auto [i, d] : llvm::enumerate(dimensions))
                      at.push_back(input[i] == 1 ? k.index(0) : position[d]);
                    k.store(k.load(buffers[0], at), buffers[1], {row, c});
                  });
                });
              });
  return success();
}

// Where the last dimension stays last, rows are copied. Else the two dimensions that are last in
// input and result are walked in square tiles, so that both sides use whole cache lines.
LogicalResult emitTranspose(TransposeOp op, OpKernels &kernels) {
  auto output = shapeOf(op.getOutput());
  ArrayRef<int64_t> permutation = op.getPermutation();
  int64_t rank = output.size();
  if (rank == 0) {
    addCopy(kernels, {0, {1, 1, 1, 0}, {1, 1, 1, 0}});
    return success();
  }
  constexpr int64_t tile = 16;
  int64_t last = rank - 1;
  int64_t across = llvm::find(permutation, last) - permutation.begin(); // in the result
  bool inRows = across == last;
  SmallVector<int64_t> counts(output); // items along each dimension of the result
  counts[last] = inRows ? 1 : (output[last] + tile - 1) / tile;
  if (!inRows)
    counts[across] = (output[across] + tile - 1) / tile;
  kernels.add("", {kernels.operand(0), kernels.result(0)}, product(counts),
              grainOf(inRows ? output[last] : tile * tile),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                auto copy = [&](ArrayRef<Expr> to) {
                  SmallVector<Expr> from(rank);
                  for (auto [i, d] : llvm::enumerate(permutation))
                    from[d] = to[i];
                  k.store(k.load(buffers[0], from), buffers[1], to);
                };
                k.loop(begin, end, [&](Expr item) {
                  SmallVector<Expr> to(rank);
                  Expr rest = item;
                  for (int64_t d = last; d >= 0; --d) {
                    to[d] = rest % counts[d];
                    rest = rest / counts[d];
                  }
                  if (inRows) {
                    k.loop(k.index(0), k.index(output[last]), [&](Expr i) {
                      to[last] = i;
                      copy(to);
                    });
                    return;
                  }
                  Range rows = itemRange(k, to[across], to[across] + 1, tile, output[across]);
                  Range columns = itemRange(k, to[last], to[last] + 1, tile, output[last]);
                  k.loop(rows.begin, rows.end, [&](Expr i) {
                    k.loop(columns.begin, columns.end, [&](Expr j) {
                      to[across] = i;
                      to[last] = j;
                      copy(to);
                    });
                  });
                });
              });
  return success();
}

// An index outside the table gives a row of NaN: a kernel cannot report it, and must not hide it.
LogicalResult emitEmbedding(EmbeddingOp op, OpKernels &kernels) {
  int64_t count = elementCount(op.getIndices().getType());
  int64_t size = shapeOf(op.getTable())[0], width = shapeOf(op.getTable())[1];
  kernels.add(
      "", {kernels.operand(0, {count}), kernels.operand(1), kernels.result(0, {count, width})},
      count, grainOf(width), [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr row) {
          Expr index = k.load(buffers[0], {row});
          auto write = [&](llvm::function_ref<Expr(Expr)> value) {
            k.loop(k.index(0), k.index(width), [&](Expr c) {
              k.store(value(c), buffers[2], {row, c});
            });
          };
          k.when((index >= 0) & (index < size),
                 [&] { write([&](Expr c) {
                         return k.load(buffers[1], {k.toIndex(index), c});
                       }); },
                 [&] {
                   write([&](Expr) { return k.f32(std::numeric_limits<double>::quiet_NaN()); });
                 });
        });
      });
  return success();
}

// An item is a block of columns, which walks all indices in order: no two threads add to the same
// element, and the order of additions is fixed.
LogicalResult emitEmbeddingGrad(EmbeddingGradOp op, OpKernels &kernels) {
  int64_t count = elementCount(op.getIndices().getType());
  auto table = shapeOf(op.getTableGradient());
  int64_t size = table[0], width = table[1];
  kernels.add(
      "", {kernels.operand(0, {count}), kernels.operand(1, {count, width}), kernels.result(0)},
      (width + lanes - 1) / lanes, grainOf((count + size) * lanes),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        Range range = itemRange(k, begin, end, lanes, width);
        k.loop(k.index(0), k.index(size), [&](Expr row) {
          k.loop(range.begin, range.end, [&](Expr c) { k.store(k.f32(0), buffers[2], {row, c}); });
        });
        k.loop(k.index(0), k.index(count), [&](Expr i) {
          Expr index = k.load(buffers[0], {i});
          k.when((index >= 0) & (index < size), [&] {
            Expr row = k.toIndex(index);
            k.loop(range.begin, range.end, [&](Expr c) {
              k.store(k.load(buffers[2], {row, c}) + k.load(buffers[1], {i, c}), buffers[2],
                      {row, c});
            });
          });
        });
      });
  return success();
}

} // namespace gc::cpu
