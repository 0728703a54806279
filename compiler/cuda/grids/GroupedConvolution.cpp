//===- GroupedConvolution.cpp - Convolutions with groups ------------------===//
//
// Depthwise and grouped convolutions have few channels to sum over, too few to fill the tiles of a
// product. A thread computes one element of the result from the taps that it sees and the channels
// of its group; neighbouring threads have neighbouring channels. The gradient of the filter sums
// over all pixels, in chunks of them first.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/cuda/grids/ProductKernel.h"

using namespace mlir;

namespace gc::cuda {
namespace {

using Spec = plan::ConvolutionSpecT;

/// A place along one dimension, and whether it is inside the image.
struct Place {
  Expr at, isThere;
};

/// One dimension of a convolution: tap r of output place o reads input place
///   o * stride + r * dilation - padding.
struct Dimension {
  int64_t in, out, stride, dilation, padding;
  static Dimension down(const Spec &c) {
    return {c.in_h, c.out_h, c.stride_h, c.dilation_h, c.pad_h};
  }
  static Dimension across(const Spec &c) {
    return {c.in_w, c.out_w, c.stride_w, c.dilation_w, c.pad_w};
  }
  Place inputOf(Expr output, Expr tap) const {
    Expr at = output * stride + tap * dilation - padding;
    return {at, (at >= 0) & (at < in)};
  }
  /// The output place whose tap reads input place `input`.
  Place outputOf(Expr input, Expr tap) const {
    Expr at = input + padding - tap * dilation;
    Expr isThere = at >= 0;
    if (stride > 1) {
      isThere = isThere & (at % stride == 0);
      at = at / stride;
    }
    return {at, isThere & (at < out)};
  }
};

/// Row and column of a pixel that `number` counts, [batch, height, width].
struct Pixel {
  Expr image, y, x;
  Pixel(Expr number, int64_t height, int64_t width) {
    Expr line = number / width;
    x = number % width;
    y = line % height;
    image = line / height;
  }
};

/// Adds up what `body` gives for each tap.
Expr sumOverTaps(GpuBuilder &k, const Spec &c,
                 llvm::function_ref<Expr(Expr tapY, Expr tapX, Expr sum)> body) {
  constexpr int64_t unrolled = 64;
  Expr sum = k.f32(0);
  if (c.kernel_h * c.kernel_w <= unrolled) {
    for (int64_t y = 0; y < c.kernel_h; ++y)
      for (int64_t x = 0; x < c.kernel_w; ++x)
        sum = body(k.index(y), k.index(x), sum);
    return sum;
  }
  return k.loop(k.index(0), k.index(c.kernel_h * c.kernel_w), 1, {sum},
                [&](Expr tap, ArrayRef<Expr> carried) {
                  return SmallVector<Expr>{body(tap / c.kernel_w, tap % c.kernel_w, carried[0])};
                })[0];
}

/// Adds up what `body` gives for each channel of a group.
Expr sumOverChannels(GpuBuilder &k, int64_t channels, Expr sum,
                     llvm::function_ref<Expr(Expr channel, Expr sum)> body) {
  if (channels == 1)
    return body(k.index(0), sum);
  return k.loop(k.index(0), k.index(channels), 1, {sum}, [&](Expr channel, ArrayRef<Expr> carried) {
    return SmallVector<Expr>{body(channel, carried[0])};
  })[0];
}

/// Where the filter's element is.
Expr filterIndex(const Spec &c, Expr output, Expr tapY, Expr tapX, Expr channel) {
  Expr tap = (output * c.kernel_h + tapY) * c.kernel_w + tapX;
  return tap * (c.in_c / c.groups) + channel;
}
Expr inputIndex(const Spec &c, Expr image, Expr y, Expr x, Expr channel) {
  return ((image * c.in_h + y) * c.in_w + x) * c.in_c + channel;
}
Expr outputIndex(const Spec &c, Expr image, Expr y, Expr x, Expr channel) {
  return ((image * c.out_h + y) * c.out_w + x) * c.out_c + channel;
}

void addForward(GpuKernels &kernels, const Spec &c, const ProductKernel &product) {
  int64_t ins = c.in_c / c.groups, outs = c.out_c / c.groups;
  addElements(kernels, product, [&](GpuBuilder &k, Value input, Value filter, Expr row, Expr o) {
    Pixel out(row, c.out_h, c.out_w);
    Expr first = o / outs * ins;
    return sumOverTaps(k, c, [&](Expr tapY, Expr tapX, Expr sum) {
      Place y = Dimension::down(c).inputOf(out.y, tapY);
      Place x = Dimension::across(c).inputOf(out.x, tapX);
      return sumOverChannels(k, ins, sum, [&](Expr i, Expr sum) {
        Expr index = inputIndex(c, out.image, y.at, x.at, first + i);
        Expr pixel = fetchOrZero(k, input, index, y.isThere & x.isThere, 1);
        return k.fma(pixel, k.load(filter, {filterIndex(c, o, tapY, tapX, i)}), sum);
      });
    });
  });
}

void addGradientOfInput(GpuKernels &kernels, const Spec &c, const ProductKernel &product) {
  int64_t ins = c.in_c / c.groups, outs = c.out_c / c.groups;
  addElements(kernels, product, [&](GpuBuilder &k, Value gradient, Value filter, Expr row, Expr i) {
    Pixel in(row, c.in_h, c.in_w);
    Expr first = i / ins * outs, channel = i % ins;
    return sumOverTaps(k, c, [&](Expr tapY, Expr tapX, Expr sum) {
      Place y = Dimension::down(c).outputOf(in.y, tapY);
      Place x = Dimension::across(c).outputOf(in.x, tapX);
      return sumOverChannels(k, outs, sum, [&](Expr number, Expr sum) {
        Expr o = first + number, index = outputIndex(c, in.image, y.at, x.at, o);
        Expr pixel = fetchOrZero(k, gradient, index, y.isThere & x.isThere, 1);
        return k.fma(pixel, k.load(filter, {filterIndex(c, o, tapY, tapX, channel)}), sum);
      });
    });
  });
}

/// Columns are the filter's elements, output channels fastest: neighbouring threads read
/// neighbouring channels of a pixel.
void addGradientOfFilter(GpuKernels &kernels, const Spec &c, const ConvolutionUses &uses) {
  int64_t ins = c.in_c / c.groups, outs = c.out_c / c.groups;
  int64_t pixels = c.batch * c.out_h * c.out_w;
  int64_t elements = c.out_c * c.kernel_h * c.kernel_w * ins;
  ColumnBlocks blocks = ColumnBlocks::inChunks(1, pixels, elements);
  struct Element {
    Expr o, tapY, tapX, i;
  };
  auto elementOf = [&](Expr number) {
    Expr rest = number / c.out_c, tap = rest / ins;
    return Element{number % c.out_c, tap / c.kernel_w, tap % c.kernel_w, rest % ins};
  };
  addColumnReduction(
      kernels, "chunks",
      {uses.output, uses.input, kernels.scratch({1, blocks.chunks.count, elements})}, blocks, {},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr row) {
        Element e = elementOf(at.channel);
        Pixel out(row, c.out_h, c.out_w);
        Place y = Dimension::down(c).inputOf(out.y, e.tapY);
        Place x = Dimension::across(c).inputOf(out.x, e.tapX);
        Expr index = inputIndex(c, out.image, y.at, x.at, e.o / outs * ins + e.i);
        Expr pixel = fetchOrZero(k, buffers[1], index, y.isThere & x.isThere, 1);
        return SmallVector<Expr>{k.load(buffers[0], {row * c.out_c + e.o}) * pixel};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        Element e = elementOf(at.channel);
        k.store(totals[0], buffers[2],
                {k.index(0), at.chunk, filterIndex(c, e.o, e.tapY, e.tapX, e.i)});
      });
  addCombineSums(kernels, {uses.filter}, blocks.chunks.count, elements, 1, c.accumulate);
}

} // namespace

void addGroupedConvolution(GpuKernels &kernels, const Spec &c, const ConvolutionUses &uses) {
  ProductKernel product;
  product.accumulate = c.accumulate;
  product.depth = c.kernel_h * c.kernel_w * (c.in_c / c.groups);
  product.flops = 2. * double(c.batch * c.out_h * c.out_w * c.out_c) * double(product.depth);
  switch (c.direction) {
  case plan::Direction_Forward:
    product.rows = c.batch * c.out_h * c.out_w, product.columns = c.out_c;
    product.a = uses.input, product.b = uses.filter, product.c = uses.output;
    product.bias = uses.bias, product.residual = uses.residual;
    product.activation = c.activation;
    return addForward(kernels, c, product);
  case plan::Direction_BackwardData:
    product.rows = c.batch * c.in_h * c.in_w, product.columns = c.in_c;
    product.a = uses.output, product.b = uses.filter, product.c = uses.input;
    return addGradientOfInput(kernels, c, product);
  case plan::Direction_BackwardWeights:
    kernels.costs.productFlops += elementSlowdown * product.flops;
    return addGradientOfFilter(kernels, c, uses);
  }
}

} // namespace gc::cuda
