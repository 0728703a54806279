//===- Move.cpp - Copies: slices, concatenations, transposes, tables ------===//
//
// A thread copies four neighbouring elements where all sizes and offsets divide into fours, else
// one; neighbouring threads write neighbouring elements.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/language/Segments.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// Runs `body` for the elements [first, first + width) of row `row` of [rows, columns].
void addRows(GpuKernels &kernels, StringRef suffix, ArrayRef<BufferUse> uses, int64_t rows,
             int64_t columns, int64_t width,
             llvm::function_ref<void(GpuBuilder &, ArrayRef<Value>, Expr row, Expr first)> body) {
  int64_t items = rows * columns / width;
  kernels.add(suffix, uses, itemGrid(items), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, items, [&](Expr item) {
                  Expr first = item * width;
                  body(k, buffers, first / columns, first % columns);
                });
              });
}

/// A buffer with one index for all elements.
BufferUse flat(BufferUse use) {
  use.shape = {use.elements()};
  return use;
}

Expr placeOf(const Segments &segments, Expr segment, Expr i) {
  return segment * segments.stride + segments.offset + i;
}

void addCopy(GpuKernels &kernels, const SegmentCopy &copy) {
  const Segments &source = copy.source, &target = copy.target;
  int64_t width =
      vectorWidth({source.length, source.stride, source.offset, target.stride, target.offset});
  addRows(kernels, "copy", {flat(kernels.operand(copy.operand)), flat(kernels.result(0))},
          target.outer, target.length, width,
          [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr segment, Expr i) {
            Elements elements = k.loadElements(buffers[0], {placeOf(source, segment, i)}, width);
            k.storeElements(elements, buffers[1], {placeOf(target, segment, i)});
          });
}

} // namespace

LogicalResult emitSlice(SliceOp op, GpuKernels &kernels) {
  addCopy(kernels, copyOf(op));
  return success();
}

LogicalResult emitConcat(ConcatOp op, GpuKernels &kernels) {
  for (const SegmentCopy &copy : copiesOf(op))
    addCopy(kernels, copy);
  return success();
}

LogicalResult emitPutRows(PutRowsOp op, GpuKernels &kernels) {
  for (const SegmentCopy &copy : copiesOf(op, kernels.isOverwritten(0)))
    addCopy(kernels, copy);
  return success();
}

LogicalResult emitRoll(RollOp op, GpuKernels &kernels) {
  for (const SegmentCopy &copy : copiesOf(op))
    addCopy(kernels, copy);
  return success();
}

LogicalResult emitFlip(FlipOp op, GpuKernels &kernels) {
  Segments whole = Segments::of(shapeOf(op.getInput()), op.getAxis(), 0, 1);
  int64_t size = shapeOf(op.getInput())[op.getAxis()], inner = whole.length;
  int64_t width = vectorWidth({inner});
  addRows(kernels, "", {flat(kernels.operand(0)), flat(kernels.result(0))}, whole.outer * size,
          inner, width, [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row, Expr i) {
            Expr from = row + (size - 1) - row % size * 2;
            k.storeElements(k.loadElements(buffers[0], {from * inner + i}, width), buffers[1],
                            {row * inner + i});
          });
  return success();
}

LogicalResult emitPad(PadOp op, GpuKernels &kernels) {
  auto from = shapeOf(op.getInput()), to = shapeOf(op.getOutput());
  int64_t axis = op.getAxis();
  Segments source = Segments::of(from, axis, 0, from[axis]);
  Segments target = Segments::of(to, axis, op.getLow(), from[axis]);
  int64_t width = vectorWidth({source.length, target.stride, target.offset});
  addRows(kernels, "", {flat(kernels.operand(0)), flat(kernels.result(0))}, target.outer,
          target.stride, width, [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr segment, Expr i) {
            Expr at = i - target.offset;
            auto write = [&](const Elements &elements) {
              k.storeElements(elements, buffers[1], {segment * target.stride + i});
            };
            k.when(
                (at >= 0) & (at < source.length),
                [&] { write(k.loadElements(buffers[0], {placeOf(source, segment, at)}, width)); },
                [&] { write(Elements(width, k.f32(0))); });
          });
  return success();
}

// output[b] = concat(token, input[b]) + position
LogicalResult emitClassToken(ClassTokenOp op, GpuKernels &kernels) {
  auto shape = shapeOf(op.getOutput());
  int64_t sequence = shape[1], columns = shape[2], rows = shape[0] * sequence;
  int64_t width = vectorWidth({columns});
  SmallVector<BufferUse> uses{kernels.operand(0), kernels.operand(1, {columns}),
                              kernels.operand(2, {sequence, columns}),
                              kernels.result(0, {rows, columns})};
  addRows(kernels, "", uses, rows, columns, width,
          [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row, Expr c) {
            Expr sample = row / sequence, position = row % sequence;
            auto write = [&](Elements elements) {
              Elements offsets = k.loadElements(buffers[2], {position, c}, width);
              for (auto [element, offset] : llvm::zip_equal(elements, offsets))
                element = element + offset;
              k.storeElements(elements, buffers[3], {row, c});
            };
            k.when(
                position == 0, [&] { write(k.loadElements(buffers[1], {c}, width)); },
                [&] {
                  write(k.loadElements(buffers[0], {sample, position - 1, c}, width));
                });
          });
  return success();
}

// Along a row of the result the input either runs or stands still.
LogicalResult emitBroadcast(BroadcastOp op, GpuKernels &kernels) {
  auto input = shapeOf(op.getInput()), output = shapeOf(op.getOutput());
  ArrayRef<int64_t> dimensions = op.getDimensions();
  int64_t rank = output.size(), columns = rank ? output.back() : 1;
  int64_t rows = elementCount(op.getOutput().getType()) / columns, width = vectorWidth({columns});
  bool runs = !dimensions.empty() && dimensions.back() == rank - 1 && input.back() != 1;
  addRows(kernels, "", {kernels.operand(0), kernels.result(0, {rows, columns})}, rows, columns,
          width, [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row, Expr c) {
            SmallVector<Expr> position(rank);
            Expr rest = row;
            for (int64_t d = rank - 2; d >= 0; --d) {
              position[d] = rest % output[d];
              rest = rest / output[d];
            }
            if (rank)
              position[rank - 1] = c;
            SmallVector<Expr> at;
            for (auto [i, d] : llvm::enumerate(dimensions))
              at.push_back(input[i] == 1 ? k.index(0) : position[d]);
            Elements elements = runs ? k.loadElements(buffers[0], at, width)
                                     : Elements(width, k.load(buffers[0], at));
            k.storeElements(elements, buffers[1], {row, c});
          });
  return success();
}

// Where the last dimension stays last, or one of the two that come last is short, elements are
// copied in the order of the result. Else the two dimensions that are last in input and result are
// walked in square tiles through shared memory, so that both sides read and write whole lines.
LogicalResult emitTranspose(TransposeOp op, GpuKernels &kernels) {
  auto output = shapeOf(op.getOutput());
  ArrayRef<int64_t> permutation = op.getPermutation();
  int64_t rank = output.size(), last = rank - 1;
  if (rank == 0) {
    addCopy(kernels, {0, {1, 1, 1, 0}, {1, 1, 1, 0}});
    return success();
  }
  constexpr int64_t tile = 32, height = 8, shortest = 16;
  int64_t across = llvm::find(permutation, last) - permutation.begin(); // in the result
  auto source = [&](ArrayRef<Expr> to) {
    SmallVector<Expr> from(rank);
    for (auto [i, d] : llvm::enumerate(permutation))
      from[d] = to[i];
    return from;
  };
  // The indices of item `number` of [counts].
  auto split = [&](Expr number, ArrayRef<int64_t> counts) {
    SmallVector<Expr> at(rank);
    for (int64_t d = last; d >= 0; --d) {
      at[d] = number % counts[d];
      number = number / counts[d];
    }
    return at;
  };
  if (across == last || output[last] < shortest || output[across] < shortest) {
    int64_t width = across == last ? vectorWidth({output[last]}) : 1;
    int64_t items = elementCount(op.getOutput().getType()) / width;
    kernels.add("", {kernels.operand(0), kernels.result(0)}, itemGrid(items), itemBlock,
                [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                  forItems(k, items, [&](Expr item) {
                    SmallVector<Expr> to = split(item * width, output);
                    k.storeElements(k.loadElements(buffers[0], source(to), width), buffers[1], to);
                  });
                });
    return success();
  }
  SmallVector<int64_t> counts(output); // blocks along each dimension of the result
  counts[last] = ceilDiv(output[last], tile);
  counts[across] = ceilDiv(output[across], tile);
  int64_t blocks = 1;
  for (int64_t count : counts)
    blocks *= count;
  kernels.add(
      "tiles", {kernels.operand(0), kernels.result(0)}, {blocks, 1, 1}, {tile, height, 1},
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        // A column more, so that the threads that read a column meet different banks.
        Value staged = k.shared({tile, tile + 1}, op.getInput().getType().getElementType());
        SmallVector<Expr> to = split(k.block(), counts);
        Expr firstLast = to[last] * tile, firstAcross = to[across] * tile;
        Expr x = k.thread(), y = k.thread(GpuBuilder::Dimension::y);
        auto forTile = [&](bool isInput, llvm::function_ref<void(Expr line)> body) {
          for (int64_t offset = 0; offset < tile; offset += height) {
            Expr line = y + offset;
            to[last] = firstLast + (isInput ? line : x);
            to[across] = firstAcross + (isInput ? x : line);
            k.when((to[last] < output[last]) & (to[across] < output[across]), [&] { body(line); });
          }
        };
        forTile(true, [&](Expr line) {
          k.store(k.load(buffers[0], source(to)), staged, {line, x});
        });
        k.barrier();
        forTile(false, [&](Expr line) { k.store(k.load(staged, {x, line}), buffers[1], to); });
      });
  return success();
}

// An index outside the table gives a row of NaN: a kernel cannot report it, and must not hide it.
LogicalResult emitEmbedding(EmbeddingOp op, GpuKernels &kernels) {
  int64_t count = elementCount(op.getIndices().getType());
  int64_t size = shapeOf(op.getTable())[0], columns = shapeOf(op.getTable())[1];
  int64_t width = vectorWidth({columns});
  SmallVector<BufferUse> uses{kernels.operand(0, {count}), kernels.operand(1),
                              kernels.result(0, {count, columns})};
  addRows(kernels, "", uses, count, columns, width,
          [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row, Expr c) {
            Expr index = k.load(buffers[0], {row});
            k.when((index >= 0) & (index < size),
                   [&] {
                     k.storeElements(k.loadElements(buffers[1], {k.toIndex(index), c}, width),
                                     buffers[2], {row, c});
                   },
                   [&] {
                     Expr nan = k.f32(std::numeric_limits<double>::quiet_NaN());
                     k.storeElements(Elements(width, nan), buffers[2], {row, c});
                   });
          });
  return success();
}

// First the uses of each row of the table are linked in their order: head[row] is the first,
// next[i] the one after i, -1 none. Then a thread for each element of the table follows its row's
// chain: no two threads add to the same element, and the order of additions is the CPU's.
LogicalResult emitEmbeddingGrad(EmbeddingGradOp op, GpuKernels &kernels) {
  int64_t count = elementCount(op.getIndices().getType());
  int64_t size = shapeOf(op.getTableGradient())[0], columns = shapeOf(op.getTableGradient())[1];
  int64_t width = vectorWidth({columns});
  Type i32 = IntegerType::get(op.getContext(), 32);
  BufferUse links{workspace, {size + count}, i32}; // head, then next
  BufferUse indices = kernels.operand(0, {count});
  kernels.add("clear", {links}, itemGrid(size), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, size, [&](Expr row) { k.store(k.i32(-1), buffers[0], {row}); });
              });
  kernels.add("links", {indices, links}, itemGrid(count), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, count, [&](Expr i) {
                  Expr row = k.load(buffers[0], {i}), none = k.i32(-1);
                  // The first use of the row in [begin, end).
                  auto find = [&](Expr begin, Expr end) {
                    return k.loop(begin, end, 1, {none}, [&](Expr j, ArrayRef<Expr> found) {
                      Expr isFirst = (found[0] < 0) & (k.load(buffers[0], {j}) == row);
                      return SmallVector<Expr>{k.select(isFirst, k.fromIndex(j, i32), found[0])};
                    })[0];
                  };
                  Expr isHead = (find(k.index(0), i) < 0) & (row >= 0) & (row < size);
                  k.when(isHead,
                         [&] { k.store(k.fromIndex(i, i32), buffers[1], {k.toIndex(row)}); });
                  k.store(find(i + 1, k.index(count)), buffers[1], {i + size});
                });
              });
  SmallVector<BufferUse> uses{kernels.operand(1, {count, columns}), links, kernels.result(0)};
  addRows(kernels, "", uses, size, columns, width,
          [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row, Expr c) {
            SmallVector<Expr> state{k.load(buffers[1], {row})};
            state.append(width, k.f32(0));
            state = k.loopWhile(
                state, [&](ArrayRef<Expr> now) { return now[0] >= 0; },
                [&](ArrayRef<Expr> now) {
                  Expr use = k.toIndex(now[0]);
                  SmallVector<Expr> next{k.load(buffers[1], {use + size})};
                  for (auto [sum, part] : llvm::zip_equal(
                           now.drop_front(), k.loadElements(buffers[0], {use, c}, width)))
                    next.push_back(sum + part);
                  return next;
                });
            k.storeElements(ArrayRef(state).drop_front(), buffers[2], {row, c});
          });
  return success();
}

} // namespace gc::cuda
