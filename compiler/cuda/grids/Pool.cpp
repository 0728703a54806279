//===- Pool.cpp - Pooling forward, and backward as a gather ---------------===//
//
// A thread computes one element (four channels where they divide into fours) of the output, or of
// the input's gradient, which it gathers from the few windows that cover it: no two threads write
// the same element. All loads of a window are under way at once: those that lie outside of the
// image read an element inside, which does not count.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/language/PoolWindows.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// Channels at a place of an image.
struct Place {
  Expr sample, row, column, channel;
};

/// One thread for `width` channels of each place.
void addPlaces(GpuKernels &kernels, ArrayRef<BufferUse> uses, const PoolWindows &w, int64_t rows,
               int64_t columns, int64_t width,
               llvm::function_ref<void(GpuBuilder &, ArrayRef<Value>, const Place &)> body) {
  int64_t items = w.batch * rows * columns * w.channels / width;
  kernels.add("", uses, itemGrid(items), itemBlock, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    forItems(k, items, [&](Expr item) {
      Expr first = item * width, place = first / w.channels;
      Expr line = place / columns;
      body(k, buffers, {line / rows, line % rows, place % columns, first % w.channels});
    });
  });
}

/// Carries values through the elements of a window: `body` gets the position in the window, an
/// input element that is always inside the image, and whether it is the window's (null: certainly).
SmallVector<Expr>
forWindow(GpuBuilder &k, const PoolWindows &w, const Place &output, SmallVector<Expr> carried,
          llvm::function_ref<SmallVector<Expr>(Expr position, ArrayRef<Expr> input, Expr isThere,
                                               ArrayRef<Expr> carried)>
              body) {
  Expr top = output.row * w.strideHeight, left = output.column * w.strideWidth;
  auto visit = [&](Expr i, Expr j, ArrayRef<Expr> values) {
    Expr position = i * w.kernelWidth + j, isThere;
    auto inside = [&](Expr at, bool isInside, int64_t pad, int64_t size) {
      if (isInside)
        return at;
      at = at - pad;
      Expr is = (at >= 0) & (at < size);
      isThere = Value(isThere) ? isThere & is : is;
      return k.minimum(k.maximum(at, k.index(0)), k.index(size - 1));
    };
    Expr row = inside(top + i, w.areInsideDown(), w.padHeight, w.height);
    Expr column = inside(left + j, w.areInsideAcross(), w.padWidth, w.width);
    return body(position, {output.sample, row, column, output.channel}, isThere, values);
  };
  constexpr int64_t unrolled = 64;
  if (w.size() <= unrolled) {
    for (int64_t i = 0; i < w.kernelHeight; ++i)
      for (int64_t j = 0; j < w.kernelWidth; ++j)
        carried = visit(k.index(i), k.index(j), carried);
    return carried;
  }
  return k.loop(k.index(0), k.index(w.size()), 1, carried, [&](Expr at, ArrayRef<Expr> values) {
    return visit(at / w.kernelWidth, at % w.kernelWidth, values);
  });
}

SmallVector<Expr> indices(const Place &place) {
  return {place.sample, place.row, place.column, place.channel};
}

/// Adds a kernel that sums what the windows over each input element send to it: `share` gives it,
/// from the output element with these indices. buffers.back() gets the sums.
void addGather(GpuKernels &kernels, ArrayRef<BufferUse> uses, const PoolWindows &w,
               llvm::function_ref<Elements(GpuBuilder &, ArrayRef<Value>, const Covering &,
                                           ArrayRef<Expr> at, int64_t width)>
                   share) {
  int64_t width = vectorWidth({w.channels});
  addPlaces(kernels, uses, w, w.height, w.width, width,
            [&](GpuBuilder &k, ArrayRef<Value> buffers, const Place &input) {
              Elements sums(width, k.f32(0));
              for (const Covering &window : windowsOver(k, w, input.row, input.column)) {
                SmallVector<Expr> at{input.sample, window.row, window.column, input.channel};
                for (auto [sum, part] : llvm::zip_equal(sums, share(k, buffers, window, at, width)))
                  sum = sum + part;
              }
              k.storeElements(sums, buffers.back(), indices(input));
            });
}

} // namespace

// The largest element and its position, the first of equal ones; a NaN is larger than anything.
LogicalResult emitMaxPool(MaxPoolOp op, GpuKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInput(), op.getOutput());
  int64_t width = vectorWidth({w.channels});
  addPlaces(kernels, {kernels.operand(0), kernels.result(0), kernels.result(1)}, w, w.outHeight,
            w.outWidth, width, [&](GpuBuilder &k, ArrayRef<Value> buffers, const Place &output) {
              // The largest so far and its position; -1: none, so that the first wins even if it is
              // minus infinity.
              SmallVector<Expr> state(width, k.neutral(/*isMaximum=*/true));
              state.append(width, k.i32(-1));
              state = forWindow(
                  k, w, output, state,
                  [&](Expr position, ArrayRef<Expr> input, Expr isThere, ArrayRef<Expr> carried) {
                    Expr number = k.fromIndex(position, k.builder.getI32Type());
                    SmallVector<Expr> next(carried);
                    Elements elements = k.loadElements(buffers[0], input, width);
                    for (int64_t i = 0; i < width; ++i) {
                      Expr wins = (elements[i] > carried[i]) | k.isNaN(elements[i]) |
                                  (carried[width + i] < 0);
                      if (Value(isThere))
                        wins = wins & isThere;
                      next[i] = k.select(wins, elements[i], carried[i]);
                      next[width + i] = k.select(wins, number, carried[width + i]);
                    }
                    return next;
                  });
              Elements positions;
              for (int64_t i = 0; i < width; ++i)
                positions.push_back(k.narrow(state[width + i], k.builder.getI8Type()));
              k.storeElements(ArrayRef(state).take_front(width), buffers[1], indices(output));
              k.storeElements(positions, buffers[2], indices(output));
            });
  return success();
}

LogicalResult emitMaxPoolGrad(MaxPoolGradOp op, GpuKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInputGradient(), op.getGradient());
  addGather(kernels, {kernels.operand(0), kernels.operand(1), kernels.result(0)}, w,
            [](GpuBuilder &k, ArrayRef<Value> buffers, const Covering &window, ArrayRef<Expr> at,
               int64_t width) {
              // The position that sends its gradient here.
              Type i8 = k.builder.getI8Type();
              Expr wanted =
                  k.select(window.exists, k.fromIndex(window.position, i8), k.constant(i8, -1));
              Elements positions = k.loadElements(buffers[0], at, width);
              Elements gradients = k.loadElements(buffers[1], at, width);
              for (auto [gradient, position] : llvm::zip_equal(gradients, positions))
                gradient = k.select(position == wanted, gradient, k.f32(0));
              return gradients;
            });
  return success();
}

LogicalResult emitAvgPool(AvgPoolOp op, GpuKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInput(), op.getOutput());
  int64_t width = vectorWidth({w.channels});
  addPlaces(kernels, {kernels.operand(0), kernels.result(0)}, w, w.outHeight, w.outWidth, width,
            [&](GpuBuilder &k, ArrayRef<Value> buffers, const Place &output) {
              SmallVector<Expr> sums(width, k.f32(0));
              sums = forWindow(
                  k, w, output, sums,
                  [&](Expr, ArrayRef<Expr> input, Expr isThere, ArrayRef<Expr> carried) {
                    SmallVector<Expr> next;
                    for (auto [sum, element] :
                         llvm::zip_equal(carried, k.loadElements(buffers[0], input, width)))
                      next.push_back(
                          sum + (Value(isThere) ? k.select(isThere, element, k.f32(0)) : element));
                    return next;
                  });
              Expr count = averageCount(k, w, op.getCountPadding(), output.row, output.column);
              for (Expr &sum : sums)
                sum = Value(count) ? sum / count : sum / w.size();
              k.storeElements(sums, buffers[1], indices(output));
            });
  return success();
}

LogicalResult emitAvgPoolGrad(AvgPoolGradOp op, GpuKernels &kernels) {
  PoolWindows w = PoolWindows::of(op, op.getInputGradient(), op.getGradient());
  addGather(kernels, {kernels.operand(0), kernels.result(0)}, w,
            [&](GpuBuilder &k, ArrayRef<Value> buffers, const Covering &window, ArrayRef<Expr> at,
                int64_t width) {
              Expr count = averageCount(k, w, op.getCountPadding(), window.row, window.column);
              Elements gradients = k.loadElements(buffers[0], at, width);
              for (Expr &gradient : gradients) {
                gradient = Value(count) ? gradient / count : gradient / w.size();
                gradient = k.select(window.exists, gradient, k.f32(0));
              }
              return gradients;
            });
  return success();
}

} // namespace gc::cuda
