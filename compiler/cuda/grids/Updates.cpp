//===- Updates.cpp - Ops that change variables, and what they need --------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/language/Formulas.h"

using namespace mlir;

namespace gc::cuda {

// One thread is enough where a kernel computes a number or two.
constexpr Extent one{1, 1, 1};

namespace {

// Element by element over the gradient, if the op has one, and the variables; all other operands
// are a few numbers that are the same for every element. Four elements a thread where sizes allow.
struct Update {
  Update(UpdateOpInterface op, const GpuKernels &kernels)
      : op(op), buffers(op, kernels), width(vectorWidth({buffers.elements})) {}

  int64_t items() const { return buffers.elements / width; }
  int64_t blocks() const { return itemGrid(items()).x; }

  // The elements of one thread.
  void add(GpuBuilder &k, ArrayRef<Value> views, Expr item) {
    Expr first = item * width;
    SmallVector<Value> numbers = loadNumbers(k, buffers, views);
    bool hasGradient = buffers.firstVariable > 0;
    Elements gradient;
    if (hasGradient)
      gradient = k.loadElements(views[0], {first}, width);
    ArrayRef<Value> targets = views.drop_front(buffers.firstVariable);
    SmallVector<Elements> before, after(targets.size());
    for (Value target : targets)
      before.push_back(k.loadElements(target, {first}, width));
    for (int64_t i = 0; i < width; ++i) {
      SmallVector<Value> operands, variables, results;
      if (hasGradient)
        operands.push_back(gradient[i]);
      operands.append(numbers);
      for (const Elements &variable : before)
        variables.push_back(variable[i]);
      op.emitUpdate(k.builder, k.location, operands, variables, results);
      for (auto [values, result] : llvm::zip_equal(after, results))
        values.push_back(k.wrap(result));
    }
    for (auto [values, target] : llvm::zip_equal(after, targets))
      k.storeElements(values, target, {first});
  }

  UpdateOpInterface op;
  UpdateUses buffers;
  int64_t width;
};

// One of the updates in a kernel of several.
struct JoinedUpdate {
  Update update;
  int64_t firstBlock;
  size_t firstUse; // of its buffers among those of the kernel
};

// A block finds its update by halving: each half is a branch that whole blocks take.
void addJoined(GpuBuilder &k, MutableArrayRef<JoinedUpdate> updates, ArrayRef<Value> views) {
  if (updates.size() > 1) {
    size_t half = updates.size() / 2;
    return k.when(
        k.block() < updates[half].firstBlock,
        [&] { addJoined(k, updates.take_front(half), views); },
        [&] { addJoined(k, updates.drop_front(half), views); });
  }
  JoinedUpdate &one = updates.front();
  int64_t items = one.update.items();
  Expr item = (k.block() - one.firstBlock) * itemThreads + k.thread();
  auto add = [&] {
    one.update.add(k, views.slice(one.firstUse, one.update.buffers.uses.size()), item);
  };
  if (items % itemThreads == 0)
    add();
  else
    k.when(item < items, add);
}

} // namespace

LogicalResult emitUpdate(UpdateOpInterface op, GpuKernels &kernels) {
  Update update(op, kernels);
  kernels.add("", update.buffers.uses, itemGrid(update.items()), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> views) {
                forItems(k, update.items(), [&](Expr item) { update.add(k, views, item); });
              });
  return success();
}

void emitJoinedUpdates(ArrayRef<UpdateOpInterface> ops, ArrayRef<SmallVector<int>> buffers,
                       GpuKernels &kernels, KernelModule &built) {
  SmallVector<JoinedUpdate> updates;
  SmallVector<BufferUse> uses;
  int64_t blocks = 0;
  for (auto [op, numbers] : llvm::zip_equal(ops, buffers)) {
    updates.push_back({Update(op, GpuKernels(op, {}, built)), blocks, uses.size()});
    const Update &update = updates.back().update;
    blocks += update.blocks();
    for (auto [use, number] : llvm::zip_equal(update.buffers.uses, numbers))
      uses.push_back(kernels.plain(number, use.shape, use.element));
  }
  kernels.add("x" + std::to_string(ops.size()), uses, {blocks, 1, 1}, itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> views) { addJoined(k, updates, views); });
}

LogicalResult emitRunningStats(RunningStatsOp op, GpuKernels &kernels) {
  int64_t channels = elementCount(op.getMean().getType());
  kernels.add("", runningStatsUses(op, kernels), itemGrid(channels), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, channels, [&](Expr c) { addRunningStats(k, op, buffers, c); });
              });
  return success();
}

LogicalResult emitAdvance(AdvanceOp op, GpuKernels &kernels) {
  kernels.add("", {advanceUse(op, kernels)}, one, one,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) { addAdvance(k, op, buffers[0]); });
  return success();
}

LogicalResult emitCoefficients(CoefficientsOp op, GpuKernels &kernels) {
  kernels.add("", coefficientsUses(op, kernels), one, one,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) { addCoefficients(k, op, buffers); });
  return success();
}

LogicalResult emitSquareSum(SquareSumOp op, GpuKernels &kernels) {
  int64_t elements = elementCount(op.getInput().getType());
  ColumnBlocks blocks = ColumnBlocks::inChunks(1, elements, 1);
  int64_t chunks = blocks.chunks.count;
  BufferUse input = kernels.operand(0, {elements}), partials = kernels.scratch({chunks});
  SmallVector<BufferUse> uses = squareSumUses(op, kernels);
  size_t own = uses.size();
  auto finish = [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &,
                    ArrayRef<Expr> totals) {
    finishSquareSum(k, k.toDouble(totals[0]), buffers.take_front(own));
  };
  auto square = [&](GpuBuilder &k, Value input, Expr i) {
    Expr x = k.load(input, {i});
    return SmallVector<Expr>{x * x};
  };
  if (chunks == 1) {
    uses.push_back(input);
    addColumnReduction(
        kernels, "sum", uses, blocks, {},
        [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr i) {
          return square(k, buffers.back(), i);
        },
        finish);
    return success();
  }
  addColumnReduction(
      kernels, "chunks", {input, partials}, blocks, {},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr i) {
        return square(k, buffers[0], i);
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        k.store(totals[0], buffers[1], {at.chunk});
      });
  uses.push_back(partials);
  addColumnReduction(
      kernels, "sum", uses, ColumnBlocks::whole(1, chunks, 1), {},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr i) {
        return SmallVector<Expr>{k.load(buffers.back(), {i})};
      },
      finish);
  return success();
}

LogicalResult emitLambRatio(LambRatioOp op, GpuKernels &kernels) {
  int64_t elements = elementCount(op.getGradient().getType());
  ColumnBlocks blocks = ColumnBlocks::inChunks(1, elements, 1);
  int64_t chunks = blocks.chunks.count;
  BufferUse partials = kernels.scratch({2, chunks});
  SmallVector<BufferUse> uses{kernels.operand(1)};
  for (unsigned i : {0, 2, 3, 4})
    uses.push_back(kernels.operand(i, {elements}));
  uses.push_back(partials);
  addColumnReduction(
      kernels, "chunks", uses, blocks, {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr i) {
        SmallVector<Value> coefficients, tensors, results;
        for (int64_t j = 0; j < kCoefficients; ++j)
          coefficients.push_back(k.load(buffers[0], {k.index(j)}));
        for (Value buffer : buffers.slice(1, 4))
          tensors.push_back(k.load(buffer, {i}));
        op.emitSquares(k.builder, k.location, tensors, coefficients, results);
        return SmallVector<Expr>{k.wrap(results[0]), k.wrap(results[1])};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        for (int64_t sum : {0, 1})
          k.store(totals[sum], buffers.back(), {k.index(sum), at.chunk});
      });
  addColumnReduction(
      kernels, "ratio", {partials, kernels.result(0)}, ColumnBlocks::whole(1, chunks, 1),
      {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr i) {
        return SmallVector<Expr>{k.load(buffers[0], {k.index(0), i}),
                                 k.load(buffers[0], {k.index(1), i})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, ArrayRef<Expr> totals) {
        k.store(lambRatio(k, k.toDouble(totals[0]), k.toDouble(totals[1])), buffers[1],
                {k.index(0)});
      });
  return success();
}

LogicalResult emitAdafactorRatio(AdafactorRatioOp op, GpuKernels &kernels) {
  VarianceUses variances(op, 3, kernels);
  int64_t elements = variances.elements();
  ColumnBlocks blocks = ColumnBlocks::inChunks(1, elements, 1);
  int64_t chunks = blocks.chunks.count;
  BufferUse partials = kernels.scratch({2, chunks});
  SmallVector<BufferUse> uses{kernels.operand(1), kernels.operand(0, {elements}),
                              kernels.operand(2, {elements}), partials};
  uses.append(variances.uses);
  addColumnReduction(
      kernels, "chunks", uses, blocks, {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr i) {
        SmallVector<Value> coefficients, results;
        for (int64_t j = 0; j < kCoefficients; ++j)
          coefficients.push_back(k.load(buffers[0], {k.index(j)}));
        Value tensors[] = {k.load(buffers[1], {i}), k.load(buffers[2], {i}),
                           variances.at(k, buffers.drop_front(4), variances.placeOf(k, i))};
        op.emitSquares(k.builder, k.location, tensors, coefficients, results);
        return SmallVector<Expr>{k.wrap(results[0]), k.wrap(results[1])};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        for (int64_t sum : {0, 1})
          k.store(totals[sum], buffers[3], {k.index(sum), at.chunk});
      });
  addColumnReduction(
      kernels, "ratio", {partials, kernels.result(0)}, ColumnBlocks::whole(1, chunks, 1),
      {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr i) {
        return SmallVector<Expr>{k.load(buffers[0], {k.index(0), i}),
                                 k.load(buffers[0], {k.index(1), i})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, ArrayRef<Expr> totals) {
        k.store(adafactorRatio(k, op, k.toDouble(totals[0]), k.toDouble(totals[1])), buffers[1],
                {k.index(0)});
      });
  return success();
}

LogicalResult emitAdafactor(AdafactorOp op, GpuKernels &kernels) {
  VarianceUses variances(op, 3, kernels);
  int64_t elements = variances.elements();
  AdafactorUses update(op, elements, kernels);
  SmallVector<BufferUse> uses(update.uses);
  uses.append(variances.uses);
  kernels.add("", uses, itemGrid(elements), itemBlock, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    forItems(k, elements, [&](Expr i) {
      ArrayRef<Value> views = buffers.drop_front(update.uses.size());
      update.add(k, op, buffers, i, variances.at(k, views, variances.placeOf(k, i)));
    });
  });
  return success();
}

LogicalResult emitGradientSeed(GradientSeedOp op, GpuKernels &kernels) {
  double scale = op.getScale().convertToFloat();
  kernels.add("", {kernels.result(0)}, one, one, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    k.store(k.f32(scale), buffers[0], {});
  });
  return success();
}

} // namespace gc::cuda
