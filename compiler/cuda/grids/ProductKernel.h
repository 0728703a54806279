//===- ProductKernel.h - Products of matrices and what follows them -------===//
#ifndef GC_COMPILER_CUDA_GRIDS_PRODUCTKERNEL_H
#define GC_COMPILER_CUDA_GRIDS_PRODUCTKERNEL_H

#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/cuda/grids/TileProduct.h"

namespace gc::cuda {

/// How a product is cut into blocks. Where its tiles are too few for a GPU, the depth is cut too:
/// the blocks' sums meet in the workspace, and are added up in order by a second kernel.
struct ProductCut {
  TileShape tile;
  int64_t splits = 1;
  int64_t chunk = 0; // depth of a split, a multiple of the tile's; the last may have less
};

/// All tiles that there are kernels for.
llvm::ArrayRef<TileShape> tileShapes();
/// The tile with at most so many splits.
ProductCut cutDepth(const TileShape &tile, int64_t depth, int64_t splits);
/// What the time of a product depends on.
struct ProductShape {
  int64_t batch, rows, columns, depth;
  double flops;           // where some of the batch have less depth, fewer than the sizes say
  bool hasPhases = false; // some of the batch do have less
};
/// Where the operands of phases are, and where a last split ends that is shorter than the others,
/// takes more registers than two blocks of 256 threads leave: on sm_90 and sm_100 such kernels
/// spilled, and then ran with one block to a multiprocessor. They get smaller tiles.
bool hasRegistersFor(const ProductCut &cut, const ProductShape &shape);
/// What a product costs when it is cut so: the time of its waves of blocks, each of which takes as
/// long as its busiest multiprocessor, as FLOPs that a full GPU would do in f32.
double productFlops(const ProductShape &shape, const ProductCut &cut, const GridDevice &device);
/// Seconds of that, and of what splits cost beside it: another launch, and the partial sums' way
/// through memory. What each cut has to do, reading the operands and writing c, is left out.
double secondsOf(const ProductShape &shape, const ProductCut &cut, const GridDevice &device);
/// The one of least seconds among those that have the registers; the first of equals. Depends on
/// its arguments alone.
ProductCut cutProduct(const ProductShape &shape, const GridDevice &device);

/// c = activation(scale * a * b + bias + residual), or c += that.
struct ProductKernel {
  int64_t batch = 1, rows = 0, columns = 0, depth = 0;
  double flops = 0;

  BufferUse a, b, c; // by one index each
  std::optional<BufferUse> bias, residual;
  float scale = 1;
  plan::Activation activation = plan::Activation_None;
  bool accumulate = false;

  using Operand =
      std::function<TileOperand(GpuBuilder &, const TileShape &, mlir::Value buffer, Expr batch)>;
  Operand left, right;

  /// Where an element of c is; `isThere` is null where all are.
  struct Place {
    Expr index, isThere;
  };
  std::function<Place(GpuBuilder &, Expr batch, Expr row, Expr column)> place;
  /// Where c's first element is in its buffer. The residual's is the first of its own.
  int64_t offset = 0;
  /// Four columns from a multiple of four on are neighbours in c, at a multiple of four.
  bool inVectors = false;
  /// Depth of one of the batch, at most `depth`; null: all have the same.
  std::function<Expr(GpuBuilder &, Expr batch)> depthOf;

  ProductShape shape() const { return {batch, rows, columns, depth, flops, bool(depthOf)}; }
};

/// Adds its kernels. The residual may be in c's bytes.
void addProduct(GpuKernels &kernels, const ProductKernel &product);
void addProduct(GpuKernels &kernels, const ProductKernel &product, const ProductCut &cut);

/// Adds a kernel with one thread for each element of c, a dense matrix: `sum` gives what stands for
/// a * b. For products of so little depth that tiles would stay empty.
using ElementSum =
    llvm::function_ref<Expr(GpuBuilder &k, mlir::Value a, mlir::Value b, Expr row, Expr column)>;
void addElements(GpuKernels &kernels, const ProductKernel &product, ElementSum sum);
/// How many times longer than in tiles its FLOPs are taken to need: each has two loads and the
/// arithmetic of their indices. An estimate; nothing was measured.
constexpr double elementSlowdown = 8;

/// Why no kernel can be generated for it; empty where one can.
std::string whyNoKernel(const plan::MatMulSpecT &product);
std::string whyNoKernel(const plan::ConvolutionSpecT &convolution);

/// Elements before the first one of each operand.
struct ProductOffsets {
  int64_t a = 0, b = 0, c = 0;
};
/// The kernel of a matrix product whose buffers the caller names.
ProductKernel matrixProduct(const plan::MatMulSpecT &product, const ProductOffsets &offsets = {});

/// The buffers of a convolution by their roles: which are read and which written is the direction's
/// to say. By one index each.
struct ConvolutionUses {
  BufferUse input, filter, output;
  std::optional<BufferUse> bias, residual;
};
void addConvolution(GpuKernels &kernels, const plan::ConvolutionSpecT &convolution,
                    const ConvolutionUses &uses);
/// One with groups.
void addGroupedConvolution(GpuKernels &kernels, const plan::ConvolutionSpecT &convolution,
                           const ConvolutionUses &uses);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_PRODUCTKERNEL_H
