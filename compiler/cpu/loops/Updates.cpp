//===- Updates.cpp - Ops that change variables, and what they need --------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/language/Formulas.h"

using namespace mlir;

namespace gc::cpu {

namespace {
constexpr int64_t itemElements = 1024;
int64_t itemsOf(int64_t elements) { return (elements + itemElements - 1) / itemElements; }
} // namespace

// The kernel goes element by element over the variables and the gradient, if the op has one. All
// other operands are a few numbers that are the same for every element.
LogicalResult emitUpdate(UpdateOpInterface op, OpKernels &kernels) {
  UpdateUses update(op, kernels);
  kernels.add("", update.uses, itemsOf(update.elements), grainOf(itemElements),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                SmallVector<Value> numbers = loadNumbers(k, update, buffers);
                ArrayRef<Value> targets = buffers.drop_front(update.firstVariable);
                Range range = itemRange(k, begin, end, itemElements, update.elements);
                k.loop(range.begin, range.end, [&](Expr i) {
                  SmallVector<Value> operands;
                  if (update.firstVariable > 0)
                    operands.push_back(k.load(buffers[0], {i}));
                  operands.append(numbers);
                  SmallVector<Value> variables, results;
                  for (Value buffer : targets)
                    variables.push_back(k.load(buffer, {i}));
                  op.emitUpdate(k.builder, k.location, operands, variables, results);
                  for (auto [result, buffer] : llvm::zip_equal(results, targets))
                    k.store(k.wrap(result), buffer, {i});
                });
              });
  return success();
}

LogicalResult emitRunningStats(RunningStatsOp op, OpKernels &kernels) {
  int64_t channels = elementCount(op.getMean().getType());
  kernels.add("", runningStatsUses(op, kernels), itemsOf(channels), grainOf(itemElements),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Range range = itemRange(k, begin, end, itemElements, channels);
                k.loop(range.begin, range.end, [&](Expr c) { addRunningStats(k, op, buffers, c); });
              });
  return success();
}

LogicalResult emitAdvance(AdvanceOp op, OpKernels &kernels) {
  kernels.add("", {advanceUse(op, kernels)}, 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) { addAdvance(k, op, buffers[0]); });
              });
  return success();
}

LogicalResult emitCoefficients(CoefficientsOp op, OpKernels &kernels) {
  kernels.add("", coefficientsUses(op, kernels), 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) { addCoefficients(k, op, buffers); });
              });
  return success();
}

// Chunks of a size that does not depend on the threads are summed in vectors, their sums in f64.
LogicalResult emitSquareSum(SquareSumOp op, OpKernels &kernels) {
  constexpr int64_t chunk = 4096;
  int64_t elements = elementCount(op.getInput().getType());
  int64_t whole = elements / chunk, rest = elements % chunk;
  BufferUse input = kernels.operand(0, {elements}), partials = kernels.scratch({whole});
  auto squares = [&](KernelBuilder &k, Value input, Expr first, int64_t size) {
    return k.sumColumns(size, [&](const Columns &columns) {
      Expr x = k.load(input, {}, {first + columns.first, columns.count, columns.mask});
      return x * x;
    });
  };
  if (whole > 0)
    kernels.add("chunks", {input, partials}, whole, grainOf(chunk),
                [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                  k.loop(begin, end, [&](Expr i) {
                    k.store(squares(k, buffers[0], i * chunk, chunk), buffers[1], {i});
                  });
                });
  SmallVector<BufferUse> uses = squareSumUses(op, kernels);
  if (rest > 0)
    uses.push_back(input);
  if (whole > 0)
    uses.push_back(partials);
  kernels.add(
      "sum", uses, 1, 1, [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr) {
          size_t own = op.getBefore() ? 2 : 1;
          Expr sum = k.f64(0);
          if (rest > 0)
            sum = k.toDouble(squares(k, buffers[own], k.index(whole * chunk), rest));
          if (whole > 0)
            sum = k.loop(k.index(0), k.index(whole), 1, {sum}, [&](Expr i, ArrayRef<Expr> carried) {
              Expr part = k.toDouble(k.load(buffers.back(), {i}));
              return SmallVector<Expr>{carried[0] + part};
            })[0];
          finishSquareSum(k, sum, buffers.take_front(own));
        });
      });
  return success();
}

// Chunks as in a sum of squares.
LogicalResult emitLambRatio(LambRatioOp op, OpKernels &kernels) {
  constexpr int64_t chunk = 4096;
  int64_t elements = elementCount(op.getGradient().getType());
  int64_t whole = elements / chunk, rest = elements % chunk;
  SmallVector<BufferUse> uses{kernels.operand(1)};
  for (unsigned i : {0, 2, 3, 4})
    uses.push_back(kernels.operand(i, {elements}));
  // The sums of the squares of p and of u over `size` elements.
  auto squares = [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr first, int64_t size) {
    SmallVector<Value> coefficients;
    for (int64_t i = 0; i < kCoefficients; ++i)
      coefficients.push_back(k.splat(k.load(buffers[0], {k.index(i)})));
    return k.reduceColumns(size, 2, /*isMaximum=*/false, [&](const Columns &columns) {
      SmallVector<Value> tensors, results;
      for (Value buffer : buffers.slice(1, 4))
        tensors.push_back(k.load(buffer, {}, {first + columns.first, columns.count, columns.mask}));
      op.emitSquares(k.builder, k.location, tensors, coefficients, results);
      return SmallVector<Expr>{k.keep(k.wrap(results[0]), columns),
                               k.keep(k.wrap(results[1]), columns)};
    });
  };
  if (whole > 0) {
    SmallVector<BufferUse> chunks(uses);
    chunks.push_back(kernels.scratch({2, whole}));
    kernels.add("chunks", chunks, whole, grainOf(4 * chunk),
                [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                  k.loop(begin, end, [&](Expr i) {
                    for (auto [sum, total] : llvm::enumerate(squares(k, buffers, i * chunk, chunk)))
                      k.store(total, buffers[5], {k.index(int64_t(sum)), i});
                  });
                });
  }
  if (rest == 0)
    uses.clear();
  uses.push_back(kernels.result(0));
  if (whole > 0)
    uses.push_back(kernels.scratch({2, whole}));
  kernels.add(
      "ratio", uses, 1, 1, [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr) {
          SmallVector<Expr> sums{k.f64(0), k.f64(0)};
          if (rest > 0)
            sums = llvm::map_to_vector(squares(k, buffers, k.index(whole * chunk), rest),
                                       [&](Expr sum) { return k.toDouble(sum); });
          if (whole > 0)
            sums = k.loop(k.index(0), k.index(whole), 1, sums, [&](Expr i, ArrayRef<Expr> carried) {
              SmallVector<Expr> next;
              for (int64_t sum : {0, 1})
                next.push_back(carried[sum] +
                               k.toDouble(k.load(buffers.back(), {k.index(sum), i})));
              return next;
            });
          Value result = buffers[rest > 0 ? 5 : 0];
          k.store(lambRatio(k, sums[0], sums[1]), result, {k.index(0)});
        });
      });
  return success();
}

// An item is a line of the tensor; the sums of lines meet in f64.
LogicalResult emitAdafactorRatio(AdafactorRatioOp op, OpKernels &kernels) {
  VarianceUses variances(op, 3, kernels);
  int64_t elements = variances.elements(), length = variances.lineLength();
  int64_t lines = elements / length;
  BufferUse partials = kernels.scratch({2, lines});
  SmallVector<BufferUse> uses{kernels.operand(1), kernels.operand(0, {elements}),
                              kernels.operand(2, {elements}), partials};
  uses.append(variances.uses);
  kernels.add("lines", uses, lines, grainOf(4 * length),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                SmallVector<Value> coefficients;
                for (int64_t i = 0; i < kCoefficients; ++i)
                  coefficients.push_back(k.splat(k.load(buffers[0], {k.index(i)})));
                k.loop(begin, end, [&](Expr line) {
                  auto squares = [&](const Columns &part) {
                    Columns place{line * length + part.first, part.count, part.mask};
                    Value tensors[] = {k.load(buffers[1], {}, place), k.load(buffers[2], {}, place),
                                       variances.along(k, buffers.drop_front(4), line, part)};
                    SmallVector<Value> results;
                    op.emitSquares(k.builder, k.location, tensors, coefficients, results);
                    return SmallVector<Expr>{k.keep(k.wrap(results[0]), part),
                                             k.keep(k.wrap(results[1]), part)};
                  };
                  for (auto [sum, total] :
                       llvm::enumerate(k.reduceColumns(length, 2, /*isMaximum=*/false, squares)))
                    k.store(total, buffers[3], {k.index(int64_t(sum)), line});
                });
              });
  kernels.add(
      "ratio", {partials, kernels.result(0)}, 1, 1,
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr) {
          auto add = [&](Expr line, ArrayRef<Expr> sums) {
            SmallVector<Expr> next;
            for (int64_t sum : {0, 1})
              next.push_back(sums[sum] + k.toDouble(k.load(buffers[0], {k.index(sum), line})));
            return next;
          };
          SmallVector<Expr> sums = k.loop(k.index(0), k.index(lines), 1, {k.f64(0), k.f64(0)}, add);
          k.store(adafactorRatio(k, op, sums[0], sums[1]), buffers[1], {k.index(0)});
        });
      });
  return success();
}

// As every update, but that each element has a variance; an item is a row.
LogicalResult emitAdafactor(AdafactorOp op, OpKernels &kernels) {
  VarianceUses variances(op, 3, kernels);
  int64_t elements = variances.elements();
  AdafactorUses update(op, elements, kernels);
  SmallVector<BufferUse> uses(update.uses);
  uses.append(variances.uses);
  auto addRow = [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr item, Expr from, Expr to) {
    FactoredPlace place{item / variances.rows, item % variances.rows, {}, {}};
    k.loop(from, to, [&](Expr column) {
      place.column = column;
      k.loop(k.index(0), k.index(variances.inner), [&](Expr inner) {
        place.inner = inner;
        Expr element = (item * variances.columns + column) * variances.inner + inner;
        Expr variance = variances.at(k, buffers.drop_front(update.uses.size()), place);
        update.add(k, op, buffers, element, variance);
      });
    });
  };
  int64_t items = variances.outer * variances.rows, width = variances.columns * variances.inner;
  if (variances.isFactored) {
    kernels.add("", uses, items, grainOf(width),
                [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                  k.loop(begin, end, [&](Expr item) {
                    addRow(k, buffers, item, k.index(0), k.index(variances.columns));
                  });
                });
    return success();
  }
  kernels.add("", uses, itemsOf(elements), grainOf(itemElements),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Range range = itemRange(k, begin, end, itemElements, elements);
                addRow(k, buffers, k.index(0), range.begin, range.end);
              });
  return success();
}

LogicalResult emitGradientSeed(GradientSeedOp op, OpKernels &kernels) {
  double scale = op.getScale().convertToFloat();
  kernels.add("", {kernels.result(0)}, 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) { k.store(k.f32(scale), buffers[0], {}); });
              });
  return success();
}

} // namespace gc::cpu
