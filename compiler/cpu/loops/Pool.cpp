//===- Pool.cpp - Pooling forward, and backward as a gather ---------------===//
//
// Forward, an item is a row of the output image; channels are the inner loop. Windows inside the
// image take one pass with all elements of the window; those that overlap its border one pass for
// each element that is there.
//
// Backward, an item is a row of the input image, and each input element gathers from the few
// windows that cover it: no two threads write the same element. A window that does not exist has a
// weight of zero or an index that nothing has.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/language/PoolWindows.h"

using namespace mlir;

namespace gc::cpu {
namespace {

/// Builds the forward loops. `inside` computes a window that lies inside the image, given the
/// indices of its first element. At the border `begin` starts a window, `add` adds the element
/// (position in the window, input indices), `finish` ends it. All work on one channel.
struct Forward {
  llvm::function_ref<void(ArrayRef<Expr> output, Expr row, Expr column, Expr channel)> inside;
  llvm::function_ref<void(ArrayRef<Expr> output, Expr channel)> begin;
  llvm::function_ref<void(ArrayRef<Expr> output, int64_t position, ArrayRef<Expr> input)> add;
  llvm::function_ref<void(ArrayRef<Expr> output, Expr channel)> finish;
};

void addForward(KernelBuilder &k, const PoolWindows &w, Expr begin, Expr end,
                const Forward &forward) {
  Expr zero = k.index(0), channels = k.index(w.channels);
  k.loop(begin, end, [&](Expr item) {
    Expr sample = item / w.outHeight, y = item % w.outHeight;
    Expr top = y * w.strideHeight - w.padHeight;
    k.loop(zero, k.index(w.outWidth), [&](Expr x) {
      Expr left = x * w.strideWidth - w.padWidth;
      SmallVector<Expr> output{sample, y, x};
      auto inside = [&] {
        k.loop(zero, channels, [&](Expr c) { forward.inside(output, top, left, c); });
      };
      if (w.areInsideDown() && w.areInsideAcross())
        return inside();
      Expr isInside = (top >= 0) & (left >= 0) & (top <= k.index(w.height - w.kernelHeight)) &
                      (left <= k.index(w.width - w.kernelWidth));
      k.when(isInside, inside, [&] {
        k.loop(zero, channels, [&](Expr c) { forward.begin(output, c); });
        for (int64_t i = 0; i < w.kernelHeight; ++i)
          for (int64_t j = 0; j < w.kernelWidth; ++j) {
            Expr row = top + i, column = left + j;
            Expr isThere = (row >= 0) & (row < w.height) & (column >= 0) & (column < w.width);
            k.when(isThere, [&] {
              k.loop(zero, channels, [&](Expr c) {
                forward.add(output, i * w.kernelWidth + j, {sample, row, column, c});
              });
            });
          }
        if (forward.finish)
          k.loop(zero, channels, [&](Expr c) { forward.finish(output, c); });
      });
    });
  });
}

/// Calls `body` with all windows that may cover each input element, for every channel.
void addGather(KernelBuilder &k, const PoolWindows &w, Expr begin, Expr end,
               llvm::function_ref<void(ArrayRef<Expr> input, ArrayRef<Covering>)> body) {
  k.loop(begin, end, [&](Expr item) {
    Expr sample = item / w.height, y = item % w.height;
    k.loop(k.index(0), k.index(w.width), [&](Expr x) {
      body({sample, y, x}, windowsOver(k, w, y, x));
    });
  });
}

} // namespace

// The largest element and its position, the first of equal ones; a NaN is larger than anything.
LogicalResult emitMaxPool(MaxPoolOp op, OpKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInput(), op.getOutput());
  kernels.add("", {kernels.operand(0), kernels.result(0), kernels.result(1)}, w.batch * w.outHeight,
              grainOf(w.outWidth * w.channels * w.size() / 2),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Type i8 = k.builder.getI8Type();
                auto wins = [&](Expr element, Expr largest) {
                  return (element > largest) | k.isNaN(element);
                };
                Forward forward;
                auto inside = [&](ArrayRef<Expr> output, Expr row, Expr column, Expr c) {
                  Expr largest = k.load(buffers[0], {output[0], row, column, c}), index = k.i32(0);
                  for (int64_t position = 1; position < w.size(); ++position) {
                    Expr element = k.load(buffers[0], {output[0], row + (position / w.kernelWidth),
                                                       column + (position % w.kernelWidth), c});
                    Expr isLarger = wins(element, largest);
                    largest = k.select(isLarger, element, largest);
                    index = k.select(isLarger, k.i32(position), index);
                  }
                  SmallVector<Expr> at{output[0], output[1], output[2], c};
                  k.store(largest, buffers[1], at);
                  k.store(k.narrow(index, i8), buffers[2], at);
                };
                auto start = [&](ArrayRef<Expr> output, Expr c) {
                  // Below every number, so that the first element wins even if it is minus
                  // infinity.
                  k.store(k.constant(i8, -1), buffers[2], {output[0], output[1], output[2], c});
                };
                auto add = [&](ArrayRef<Expr> output, int64_t position, ArrayRef<Expr> input) {
                  SmallVector<Expr> at{output[0], output[1], output[2], input[3]};
                  Expr element = k.load(buffers[0], input);
                  Expr largest = k.load(buffers[1], at), index = k.load(buffers[2], at);
                  Expr isLarger = wins(element, largest) | (index < 0);
                  k.store(k.select(isLarger, element, largest), buffers[1], at);
                  k.store(k.select(isLarger, k.constant(i8, position), index), buffers[2], at);
                };
                forward.inside = inside;
                forward.begin = start;
                forward.add = add;
                addForward(k, w, begin, end, forward);
              });
  return success();
}

LogicalResult emitMaxPoolGrad(MaxPoolGradOp op, OpKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInputGradient(), op.getGradient());
  kernels.add("", {kernels.operand(0), kernels.operand(1), kernels.result(0)}, w.batch * w.height,
              grainOf(w.width * w.channels),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Type i8 = k.builder.getI8Type();
                addGather(k, w, begin, end, [&](ArrayRef<Expr> input, ArrayRef<Covering> windows) {
                  SmallVector<Expr> wanted; // the index that sends its gradient here
                  for (const Covering &window : windows)
                    wanted.push_back(k.select(window.exists, k.fromIndex(window.position, i8),
                                              k.constant(i8, -1)));
                  k.loop(k.index(0), k.index(w.channels), [&](Expr c) {
                    Expr sum = k.f32(0);
                    for (auto [window, position] : llvm::zip_equal(windows, wanted)) {
                      SmallVector<Expr> at{input[0], window.row, window.column, c};
                      Expr gradient = k.load(buffers[1], at);
                      sum = sum + k.select(k.load(buffers[0], at) == position, gradient, k.f32(0));
                    }
                    k.store(sum, buffers[2], {input[0], input[1], input[2], c});
                  });
                });
              });
  return success();
}

LogicalResult emitAvgPool(AvgPoolOp op, OpKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInput(), op.getOutput());
  kernels.add("", {kernels.operand(0), kernels.result(0)}, w.batch * w.outHeight,
              grainOf(w.outWidth * w.channels * w.size() / 2),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                auto inside = [&](ArrayRef<Expr> output, Expr row, Expr column, Expr c) {
                  Expr sum = k.f32(0);
                  for (int64_t position = 0; position < w.size(); ++position)
                    sum = sum + k.load(buffers[0], {output[0], row + (position / w.kernelWidth),
                                                    column + (position % w.kernelWidth), c});
                  k.store(sum / w.size(), buffers[1], {output[0], output[1], output[2], c});
                };
                // The sums of a window at the border; the output might round them.
                Value sums = k.stackArray({w.channels});
                auto start = [&](ArrayRef<Expr>, Expr c) { k.store(k.f32(0), sums, {c}); };
                auto add = [&](ArrayRef<Expr>, int64_t, ArrayRef<Expr> input) {
                  Expr c = input[3];
                  k.store(k.load(sums, {c}) + k.load(buffers[0], input), sums, {c});
                };
                auto finish = [&](ArrayRef<Expr> output, Expr c) {
                  SmallVector<Expr> at{output[0], output[1], output[2], c};
                  Expr count = averageCount(k, w, op.getCountPadding(), output[1], output[2]);
                  Expr sum = k.load(sums, {c});
                  k.store(Value(count) ? sum / count : sum / w.size(), buffers[1], at);
                };
                Forward forward;
                forward.inside = inside;
                forward.begin = start;
                forward.add = add;
                forward.finish = finish;
                addForward(k, w, begin, end, forward);
              });
  return success();
}

LogicalResult emitAvgPoolGrad(AvgPoolGradOp op, OpKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInputGradient(), op.getGradient());
  kernels.add(
      "", {kernels.operand(0), kernels.result(0)}, w.batch * w.height,
      grainOf(w.width * w.channels),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        addGather(k, w, begin, end, [&](ArrayRef<Expr> input, ArrayRef<Covering> windows) {
          SmallVector<Expr> counts;
          for (const Covering &window : windows)
            counts.push_back(averageCount(k, w, op.getCountPadding(), window.row, window.column));
          bool differ = Value(counts.front()) != Value();
          k.loop(k.index(0), k.index(w.channels), [&](Expr c) {
            Expr sum = k.f32(0);
            for (auto [window, count] : llvm::zip_equal(windows, counts)) {
              Expr gradient = k.load(buffers[0], {input[0], window.row, window.column, c});
              if (differ)
                gradient = gradient / count;
              sum = sum + k.select(window.exists, gradient, k.f32(0));
            }
            k.store(differ ? sum : sum / w.size(), buffers[1], {input[0], input[1], input[2], c});
          });
        });
      });
  return success();
}

} // namespace gc::cpu
