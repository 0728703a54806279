//===- Convolution.cpp - Convolutions as products -------------------------===//
//
// NHWC by OHWI, as products of matrices that are never built: an operand's fetch function finds the
// pixel. Where a convolution has 1x1 filters, stride 1 and no padding, they are plain matrices.
//
//                     rows            columns               depth
//   forward           output pixels   output channels       taps x input channels
//   gradient of input input pixels    input channels        taps x output channels
//   gradient of       output          taps x input          output pixels
//     filter            channels        channels
//
// The gradient of the input gathers: a pixel sums over the taps that reached it. With stride 2
// these are every other tap, which ones depends on whether the pixel's place is even; so the pixels
// of a kind (a phase) are computed together, as one product of the batch.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/cuda/grids/ProductKernel.h"

using namespace mlir;

namespace gc::cuda {
namespace {

using Spec = plan::ConvolutionSpecT;

bool isMatrix(const Spec &c) {
  return c.kernel_h == 1 && c.kernel_w == 1 && c.stride_h == 1 && c.stride_w == 1 && c.pad_h == 0 &&
         c.pad_w == 0;
}
int64_t pixelsOut(const Spec &c) { return c.batch * c.out_h * c.out_w; }
int64_t filterSize(const Spec &c) { return c.kernel_h * c.kernel_w * c.in_c; }

ProductKernel::Operand matrix(int64_t rows, int64_t depth, int64_t rowStride, int64_t depthStride) {
  return [=](GpuBuilder &k, const TileShape &tile, Value buffer, Expr) {
    return matrixOperand(k, tile, buffer, k.index(0), 0, rows, depth, rowStride, depthStride);
  };
}

Expr isBetween(Expr value, int64_t end) { return (value >= 0) & (value < end); }

/// A pixel of an image that `row` or `depth` counts, [batch, height, width].
struct Pixel {
  Expr image, y, x;
  Pixel(Expr number, int64_t height, int64_t width) {
    Expr line = number / width;
    x = number % width;
    y = line % height;
    image = line / height;
  }
};

/// Channel `channel` on of the input under tap (tapY, tapX) at an output pixel; zero in the
/// padding.
Expr fetchInput(GpuBuilder &k, const Spec &c, Value buffer, const Pixel &out, Expr tapY, Expr tapX,
                Expr channel, Expr isThere, int64_t width) {
  Expr y = out.y * c.stride_h + tapY * c.dilation_h, x = out.x * c.stride_w + tapX * c.dilation_w;
  if (c.pad_h != 0)
    y = y - c.pad_h;
  if (c.pad_w != 0)
    x = x - c.pad_w;
  auto require = [&](Expr condition) {
    isThere = Value(isThere) ? isThere & condition : condition;
  };
  // Where the last tap of the last pixel is inside, all are.
  auto isInside = [](int64_t in, int64_t out, int64_t stride, int64_t span, int64_t padding) {
    return padding == 0 && (out - 1) * stride + span <= in;
  };
  if (!isInside(c.in_h, c.out_h, c.stride_h, (c.kernel_h - 1) * c.dilation_h + 1, c.pad_h))
    require(isBetween(y, c.in_h));
  if (!isInside(c.in_w, c.out_w, c.stride_w, (c.kernel_w - 1) * c.dilation_w + 1, c.pad_w))
    require(isBetween(x, c.in_w));
  Expr index = ((out.image * c.in_h + y) * c.in_w + x) * c.in_c + channel;
  return fetchOrZero(k, buffer, index, isThere, width);
}

/// A tap and a channel, from their number in a filter.
struct Tap {
  Expr y, x, channel;
  Tap(Expr number, int64_t across, int64_t channels) {
    Expr tap = number / channels;
    channel = number % channels;
    y = tap / across;
    x = tap % across;
  }
};

Expr withinDepth(const TileShape &tile, Expr at, int64_t depth) {
  return depth % tile.depth == 0 ? Expr() : at < depth;
}

/// The product's result is a dense matrix.
void placeDense(ProductKernel &product) {
  product.place = [columns = product.columns](GpuBuilder &, Expr, Expr row, Expr column) {
    return ProductKernel::Place{row * columns + column, {}};
  };
  product.inVectors = product.columns % 4 == 0;
}

ProductKernel forward(const Spec &c) {
  ProductKernel product;
  product.rows = pixelsOut(c), product.columns = c.out_c, product.depth = filterSize(c);
  product.right = matrix(product.columns, product.depth, product.depth, 1);
  product.left = matrix(product.rows, product.depth, product.depth, 1);
  if (!isMatrix(c))
    product.left = [c, rows = product.rows, depth = product.depth](
                       GpuBuilder &k, const TileShape &tile, Value buffer, Expr) {
      int64_t width = c.in_c % 4 == 0 ? 4 : 1;
      return TileOperand{rows, width, true, [=, &k](Expr row, Expr at) {
                           Tap tap(at, c.kernel_w, c.in_c);
                           return fetchInput(k, c, buffer, Pixel(row, c.out_h, c.out_w), tap.y,
                                             tap.x, tap.channel, withinDepth(tile, at, depth),
                                             width);
                         }};
    };
  placeDense(product);
  return product;
}

ProductKernel gradientOfFilter(const Spec &c) {
  ProductKernel product;
  product.rows = c.out_c, product.columns = filterSize(c), product.depth = pixelsOut(c);
  product.left = matrix(product.rows, product.depth, 1, c.out_c);
  product.right = matrix(product.columns, product.depth, 1, c.in_c);
  if (!isMatrix(c))
    product.right = [c, columns = product.columns, depth = product.depth](
                        GpuBuilder &k, const TileShape &tile, Value buffer, Expr) {
      int64_t width = c.in_c % 4 == 0 ? 4 : 1;
      return TileOperand{columns, width, false, [=, &k](Expr column, Expr at) {
                           Tap tap(column, c.kernel_w, c.in_c);
                           return fetchInput(k, c, buffer, Pixel(at, c.out_h, c.out_w), tap.y,
                                             tap.x, tap.channel, withinDepth(tile, at, depth),
                                             width);
                         }};
    };
  placeDense(product);
  return product;
}

//===----------------------------------------------------------------------===//
// The gradient of the input
//===----------------------------------------------------------------------===//

/// One dimension of the gradient of the input. Output place o reads input place i through tap r
/// where
///   i + padding = o * stride + r.
/// So the input places i = number + stride * q are read through the taps r = phase + stride * t,
/// with
///   phase = (number + padding) % stride,
/// by the output places first + q - t, with
///   first = (number + padding) / stride.
/// With a dilation there is one phase, of all places and taps: an output place that is not a whole
/// number is none.
struct Phases {
  int64_t in, out, kernel, stride, padding, dilation;

  /// From a place or tap of a phase to the next.
  int64_t step() const { return dilation == 1 ? stride : 1; }
  int64_t count() const { return std::min(step(), in); }
  Expr phaseOf(Expr number) const { return (number + padding) % step(); }
  Expr firstOf(Expr number) const { return (number + padding) / step(); }
  /// The most that a phase has of places and taps.
  int64_t places() const { return ceilDiv(in, step()); }
  int64_t taps() const { return ceilDiv(kernel, step()); }
  /// Taps of a phase are taps() or one less, which may be none.
  bool hasFewer() const { return kernel % step() != 0; }
  Expr hasAll(Expr phase) const { return phase < kernel - (taps() - 1) * step(); }
  /// The output place that reads a place through a tap, and whether there is one.
  std::pair<Expr, Expr> outputOf(Expr first, Expr place, Expr tap) const {
    Expr at = first + place - tap * dilation;
    if (step() == stride)
      return {at, isBetween(at, out)};
    Expr whole = at / stride;
    return {whole, (at >= 0) & (at % stride == 0) & (whole < out)};
  }
};

/// What a block of the product knows of its phase.
struct Phase {
  Expr numberY, numberX;
  Expr y, x; // first taps
  Expr firstY, firstX;
  Expr isWide; // whether it has all taps across; null where every phase has
  Expr tapsY;
};

/// The gradient of the input as a batch of products, one for each phase.
struct InputGradient {
  explicit InputGradient(const Spec &c)
      : c(c), down{c.in_h, c.out_h, c.kernel_h, c.stride_h, c.pad_h, c.dilation_h},
        across{c.in_w, c.out_w, c.kernel_w, c.stride_w, c.pad_w, c.dilation_w} {}

  Spec c;
  Phases down, across;

  Phase phaseOf(GpuBuilder &k, Expr number) const {
    Phase phase;
    Expr y = number / across.count(), x = number % across.count();
    phase.numberY = y, phase.numberX = x;
    phase.y = down.phaseOf(y), phase.x = across.phaseOf(x);
    phase.firstY = down.firstOf(y), phase.firstX = across.firstOf(x);
    if (across.hasFewer())
      phase.isWide = across.hasAll(phase.x);
    phase.tapsY = k.index(down.taps());
    if (down.hasFewer())
      phase.tapsY = k.select(down.hasAll(phase.y), phase.tapsY, k.index(down.taps() - 1));
    return phase;
  }
  /// Depth is [taps down, taps across, output channels] of the phase. There are two numbers of taps
  /// across, so that every division is by a constant.
  Tap tapOf(GpuBuilder &k, const Phase &phase, Expr at) const {
    Tap tap(at, across.taps(), c.out_c);
    if (Value(phase.isWide) && across.taps() > 1) {
      Tap narrow(at, across.taps() - 1, c.out_c);
      tap.y = k.select(phase.isWide, tap.y, narrow.y);
      tap.x = k.select(phase.isWide, tap.x, narrow.x);
    }
    return tap;
  }
  Expr depthOf(GpuBuilder &k, Expr number) const {
    Phase phase = phaseOf(k, number);
    Expr tapsX = k.index(across.taps());
    if (Value(phase.isWide))
      tapsX = k.select(phase.isWide, tapsX, k.index(across.taps() - 1));
    return phase.tapsY * tapsX * c.out_c;
  }
  /// The gradient of the output, at the places from which a tap reaches.
  TileOperand left(GpuBuilder &k, int64_t rows, Value buffer, Expr number) const {
    Phase phase = phaseOf(k, number);
    int64_t width = c.out_c % 4 == 0 ? 4 : 1;
    return TileOperand{rows, width, true, [=, *this, &k](Expr row, Expr at) {
                         Pixel place(row, down.places(), across.places());
                         Tap tap = tapOf(k, phase, at);
                         auto [y, hasY] = down.outputOf(phase.firstY, place.y, tap.y);
                         auto [x, hasX] = across.outputOf(phase.firstX, place.x, tap.x);
                         // Depth beyond the phase's end is a tap down that it does not have.
                         Expr isThere = hasY & hasX & (tap.y < phase.tapsY);
                         Expr index =
                             ((place.image * c.out_h + y) * c.out_w + x) * c.out_c + tap.channel;
                         return fetchOrZero(k, buffer, index, isThere, width);
                       }};
  }
  /// The filter's taps of the phase.
  TileOperand right(GpuBuilder &k, Value buffer, Expr number) const {
    Phase phase = phaseOf(k, number);
    int64_t width = c.in_c % 4 == 0 ? 4 : 1;
    return TileOperand{c.in_c, width, false, [=, *this, &k](Expr column, Expr at) {
                         Tap tap = tapOf(k, phase, at);
                         Expr y = phase.y + tap.y * down.step(),
                              x = phase.x + tap.x * across.step();
                         Expr index =
                             ((tap.channel * c.kernel_h + y) * c.kernel_w + x) * c.in_c + column;
                         return fetchOrZero(k, buffer, index, tap.y < phase.tapsY, width);
                       }};
  }
  ProductKernel::Place place(GpuBuilder &k, Expr number, Expr row, Expr column) const {
    Phase phase = phaseOf(k, number);
    Pixel place(row, down.places(), across.places());
    Expr y = place.y * down.step() + phase.numberY;
    Expr x = place.x * across.step() + phase.numberX;
    Expr isThere;
    if (c.in_h % down.step() != 0)
      isThere = y < c.in_h;
    if (c.in_w % across.step() != 0)
      isThere = Value(isThere) ? isThere & (x < c.in_w) : x < c.in_w;
    Expr index = ((place.image * c.in_h + y) * c.in_w + x) * c.in_c + column;
    return {index, isThere};
  }
};

ProductKernel gradientOfInput(const Spec &c) {
  InputGradient gradient(c);
  const Phases &down = gradient.down, &across = gradient.across;
  ProductKernel product;
  product.columns = c.in_c;
  product.batch = down.count() * across.count();
  product.rows = c.batch * down.places() * across.places();
  product.depth = down.taps() * across.taps() * c.out_c;
  if (isMatrix(c)) {
    product.left = matrix(product.rows, product.depth, product.depth, 1);
    product.right = matrix(product.columns, product.depth, 1, product.columns);
    placeDense(product);
    return product;
  }
  product.depthOf = [=](GpuBuilder &k, Expr number) { return gradient.depthOf(k, number); };
  product.left = [=, rows = product.rows](GpuBuilder &k, const TileShape &, Value buffer,
                                          Expr number) {
    return gradient.left(k, rows, buffer, number);
  };
  product.right = [=](GpuBuilder &k, const TileShape &, Value buffer, Expr number) {
    return gradient.right(k, buffer, number);
  };
  product.place = [=](GpuBuilder &k, Expr number, Expr row, Expr column) {
    return gradient.place(k, number, row, column);
  };
  product.inVectors = c.in_c % 4 == 0;
  return product;
}

//===----------------------------------------------------------------------===//
// The gradient of the bias
//===----------------------------------------------------------------------===//

void addBiasGradient(GpuKernels &kernels, const Spec &c, BufferUse gradient,
                     const BufferUse &result) {
  gradient.shape = {pixelsOut(c), c.out_c};
  addSumOverRows(kernels, "bias", gradient, result, c.accumulate);
}

} // namespace

static void addOneGroup(GpuKernels &kernels, const Spec &c, const ConvolutionUses &uses) {
  ProductKernel product;
  switch (c.direction) {
  case plan::Direction_Forward:
    product = forward(c);
    product.a = uses.input, product.b = uses.filter, product.c = uses.output;
    product.bias = uses.bias, product.residual = uses.residual;
    product.activation = c.activation;
    break;
  case plan::Direction_BackwardData:
    product = gradientOfInput(c);
    product.a = uses.output, product.b = uses.filter, product.c = uses.input;
    break;
  case plan::Direction_BackwardWeights:
    product = gradientOfFilter(c);
    product.a = uses.output, product.b = uses.input, product.c = uses.filter;
    break;
  }
  product.flops = 2. * double(pixelsOut(c)) * double(c.out_c) * double(filterSize(c));
  product.accumulate = c.accumulate;
  addProduct(kernels, product);
}

void addConvolution(GpuKernels &kernels, const Spec &c, const ConvolutionUses &uses) {
  (c.groups == 1 ? addOneGroup : addGroupedConvolution)(kernels, c, uses);
  if (c.direction == plan::Direction_BackwardWeights && uses.bias)
    addBiasGradient(kernels, c, uses.output, *uses.bias);
}

LogicalResult emitConvolution(Operation *op, const Spec &c, GpuKernels &kernels) {
  if (std::string why = whyNoKernel(c); !why.empty())
    return op->emitOpError("cannot run on CUDA: ") << why;
  Operation *inside = op;
  if (auto accumulating = dyn_cast<AccumulateProductOp>(op))
    inside = accumulating.getProduct();
  auto operand = [&](unsigned index) {
    return kernels.operand(index, {elementCount(op->getOperand(index).getType())});
  };
  auto result = [&](unsigned index) {
    int64_t elements = elementCount(inside->getResult(index).getType());
    return inside == op ? kernels.result(index, {elements})
                        : kernels.variable(index, {elements}, operand(0).element);
  };
  ConvolutionUses uses;
  switch (c.direction) {
  case plan::Direction_Forward: {
    uses.input = operand(0), uses.filter = operand(1), uses.output = result(0);
    unsigned next = 2;
    if (c.bias)
      uses.bias = operand(next++);
    if (c.residual)
      uses.residual = operand(next++);
    break;
  }
  case plan::Direction_BackwardData:
    uses.output = operand(0), uses.filter = operand(1), uses.input = result(0);
    break;
  case plan::Direction_BackwardWeights:
    uses.input = operand(0), uses.output = operand(1), uses.filter = result(0);
    if (c.bias)
      uses.bias = result(1);
    break;
  }
  addConvolution(kernels, c, uses);
  return success();
}

} // namespace gc::cuda
