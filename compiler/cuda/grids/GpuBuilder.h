//===- GpuBuilder.h - Writing kernels for a GPU ---------------------------===//
//
// KernelBuilder with what a GPU adds: threads and blocks, shared memory, barriers, shuffles, and
// vectors of a few floats that are loaded and stored in one access.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_GRIDS_GPUBUILDER_H
#define GC_COMPILER_CUDA_GRIDS_GPUBUILDER_H

#include "compiler/language/KernelBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace gc::cuda {

using namespace kernels;

constexpr int64_t warpSize = 32;

/// Sizes of a grid or a block.
struct Extent {
  int64_t x = 1, y = 1, z = 1;
  int64_t count() const { return x * y * z; }
};

/// Neighbouring elements that one thread works on.
using Elements = llvm::SmallVector<Expr, 4>;

/// Elements of a vector in one access, where all of `sizes` (of rows, strides, offsets, …) allow
/// it: 4 or 1.
int64_t vectorWidth(llvm::ArrayRef<int64_t> sizes);

class GpuBuilder : public KernelBuilder {
public:
  GpuBuilder(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function, Extent block)
      : KernelBuilder(builder, function.getLoc()), function(function), shape(block) {}

  // Where this thread is. `Dimension::x` runs fastest; a warp is 32 threads in that order.
  using Dimension = mlir::gpu::Dimension;
  Expr thread(Dimension dimension = Dimension::x);
  Expr block(Dimension dimension = Dimension::x);
  /// Number of the thread in its block, over all dimensions.
  Expr threadNumber();
  const Extent &blockShape() const { return shape; }
  /// Asks for registers few enough that so many blocks fit a multiprocessor.
  void atLeastBlocks(int64_t count);

  /// Memory of the block, uninitialised. Call it outside of loops; every call is its own memory.
  mlir::Value shared(llvm::ArrayRef<int64_t> shape, mlir::Type element = {}); // accumulators
  /// Waits for all threads of the block, which must all get here.
  void barrier();

  // Vectors of `width` (2 or 4) elements. The address must be a multiple of their size.
  Expr loadVector(mlir::Value memref, llvm::ArrayRef<Expr> indices, int64_t width);
  void storeVector(Expr vector, mlir::Value memref, llvm::ArrayRef<Expr> indices);
  Expr element(Expr vector, int64_t index);
  Expr vectorOf(llvm::ArrayRef<Expr> elements);
  /// The same one by one; a width of 1 is a plain access.
  Elements loadElements(mlir::Value memref, llvm::ArrayRef<Expr> indices, int64_t width);
  /// Zeros where `condition` does not hold: memory is not touched then.
  Elements loadElementsWhere(Expr condition, mlir::Value memref, llvm::ArrayRef<Expr> indices,
                             int64_t width);
  void storeElements(llvm::ArrayRef<Expr> elements, mlir::Value memref,
                     llvm::ArrayRef<Expr> indices);

  /// a * b + c in one rounding.
  Expr fma(Expr a, Expr b, Expr c);
  /// The value of the lane whose number differs in the bits of `mask`. All lanes of the warp must
  /// be here.
  Expr shuffleXor(Expr value, int64_t mask);

  /// Sum or maximum (NaN wins) over groups of `width` neighbouring lanes, a power of two up to 32;
  /// every lane gets it. A fixed tree: the same bits every time.
  Expr reduceLanes(Expr value, bool isMaximum, int64_t width = warpSize);
  /// The same over all threads of the block, whose number is a multiple of 32 (or a power of two
  /// below); every thread gets it. `scratch` is shared memory for one float a warp, at least; it
  /// may be used again after the next barrier.
  Expr reduceBlock(Expr value, bool isMaximum, mlir::Value scratch);

  Expr combine(Expr a, Expr b, bool isMaximum) { return isMaximum ? larger(a, b) : a + b; }
  /// What combine does not change.
  Expr neutral(bool isMaximum);

  /// Carries values through first, first + step, … below `end`: `body` gets `together` indices at a
  /// time, whose loads are under way at once, and single ones at the end.
  llvm::SmallVector<Expr>
  strided(Expr first, Expr end, int64_t step, int64_t together, llvm::ArrayRef<Expr> initial,
          llvm::function_ref<llvm::SmallVector<Expr>(llvm::ArrayRef<Expr> indices,
                                                     llvm::ArrayRef<Expr> carried)>
              body);
  /// Sums or maxima of what `body` gives for first, first + step, …, `count` at a time.
  llvm::SmallVector<Expr>
  reduceStrided(Expr first, Expr end, int64_t step, unsigned count, bool isMaximum,
                llvm::function_ref<llvm::SmallVector<Expr>(Expr index)> body);

private:
  mlir::gpu::GPUFuncOp function;
  Extent shape;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_GPUBUILDER_H
