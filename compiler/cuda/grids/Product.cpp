//===- Product.cpp - Products of matrices ---------------------------------===//
#include "compiler/cuda/grids/ProductKernel.h"
#include "compiler/target/Products.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// Where matrix `batch` of an operand starts; the first one at `first`.
Expr offsetOf(GpuBuilder &k, int64_t first, Expr batch, ArrayRef<int64_t> sizes,
              ArrayRef<int64_t> strides) {
  Expr offset = k.index(first);
  for (size_t i = sizes.size(); i-- > 0;) {
    Expr at = i == 0 ? batch : batch % sizes[i];
    offset = offset + at * strides[i];
    batch = batch / sizes[i];
  }
  return offset;
}

/// What divides the offsets of all matrices of an operand.
int64_t alignmentOf(int64_t first, ArrayRef<int64_t> batchStrides) {
  int64_t alignment = first;
  for (int64_t stride : batchStrides)
    alignment = std::gcd(alignment, stride);
  return alignment;
}

std::string whyNotTypes(plan::DType type, plan::DType accumulator) {
  if (type == plan::DType_F32 && accumulator == plan::DType_F32)
    return "";
  return std::string("kernels of products compute F32 alone, not ") + plan::EnumNameDType(type) +
         " with sums in " + plan::EnumNameDType(accumulator);
}

} // namespace

std::string whyNoKernel(const plan::MatMulSpecT &product) {
  return whyNotTypes(product.type, product.accumulator);
}
std::string whyNoKernel(const plan::ConvolutionSpecT &c) {
  if (c.groups < 1 || c.in_c % c.groups != 0 || c.out_c % c.groups != 0)
    return std::to_string(c.groups) + " groups do not divide " + std::to_string(c.in_c) +
           " input and " + std::to_string(c.out_c) + " output channels";
  return whyNotTypes(c.type, c.accumulator);
}

ProductKernel matrixProduct(const plan::MatMulSpecT &p, const ProductOffsets &offsets) {
  ProductKernel product;
  for (int64_t size : p.batch)
    product.batch *= size;
  product.rows = p.m, product.columns = p.n, product.depth = p.k;
  product.flops = 2. * double(product.batch) * double(p.m) * double(p.n) * double(p.k);
  product.scale = p.scale;
  product.activation = p.activation;
  product.accumulate = p.accumulate;

  using Sizes = SmallVector<int64_t>;
  Sizes sizes(p.batch.begin(), p.batch.end());
  auto rank = sizes.size();
  // Strides of the batch, then of rows and depth as TileOperand counts them.
  auto operand = [=](int64_t first, int64_t rows, Sizes strides, int64_t rowStride,
                     int64_t depthStride) {
    return [=, depth = p.k](GpuBuilder &k, const TileShape &tile, Value buffer, Expr batch) {
      return matrixOperand(k, tile, buffer, offsetOf(k, first, batch, sizes, strides),
                           alignmentOf(first, strides), rows, depth, rowStride, depthStride);
    };
  };
  auto batchStrides = [&](const std::vector<int64_t> &all) {
    return Sizes(all.begin(), all.begin() + rank);
  };
  product.left =
      operand(offsets.a, p.m, batchStrides(p.a_strides), p.a_strides[rank], p.a_strides[rank + 1]);
  product.right =
      operand(offsets.b, p.n, batchStrides(p.b_strides), p.b_strides[rank + 1], p.b_strides[rank]);
  product.offset = offsets.c;
  Sizes cStrides = batchStrides(p.c_strides);
  int64_t rowStride = p.c_strides[rank], columnStride = p.c_strides[rank + 1];
  product.place = [=](GpuBuilder &k, Expr batch, Expr row, Expr column) {
    Expr index = offsetOf(k, 0, batch, sizes, cStrides) + row * rowStride + column * columnStride;
    return ProductKernel::Place{index, {}};
  };
  product.inVectors = columnStride == 1 && p.n % 4 == 0 && (rowStride % 4 == 0 || p.m == 1) &&
                      alignmentOf(product.offset, cStrides) % 4 == 0;
  return product;
}

LogicalResult emitProduct(Operation *op, const plan::MatMulSpecT &spec, GpuKernels &kernels) {
  if (std::string why = whyNoKernel(spec); !why.empty())
    return op->emitOpError("cannot run on CUDA: ") << why;
  ProductKernel product = matrixProduct(spec);
  Operation *inside = op;
  if (auto accumulating = dyn_cast<AccumulateProductOp>(op))
    inside = accumulating.getProduct();
  auto flatOperand = [&](unsigned index) {
    return kernels.operand(index, {elementCount(op->getOperand(index).getType())});
  };
  bool gradientFirst = isa<LinearGradWeightOp>(inside); // dW = dy^T x, operands are x, dy
  product.a = flatOperand(gradientFirst ? 1 : 0);
  product.b = flatOperand(gradientFirst ? 0 : 1);
  int64_t elements = elementCount(inside->getResult(0).getType());
  product.c = inside == op ? kernels.result(0, {elements})
                           : kernels.variable(0, {elements}, product.a.element);
  // Bias and residual follow the factors, as far as they are there.
  unsigned next = 2;
  if (spec.bias)
    product.bias = flatOperand(next++);
  if (spec.residual)
    product.residual = flatOperand(next++);
  addProduct(kernels, product);
  return success();
}

} // namespace gc::cuda
