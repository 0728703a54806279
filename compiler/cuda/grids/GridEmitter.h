//===- GridEmitter.h - Generated CUDA kernels for gc ops ----------------===//
#ifndef GC_COMPILER_CUDA_GRIDS_GRIDEMITTER_H
#define GC_COMPILER_CUDA_GRIDS_GRIDEMITTER_H

#include "compiler/cuda/grids/GpuKernels.h"
#include "mlir/IR/OwningOpRef.h"

namespace gc::cuda {

/// An empty module of kernels, which `built` then adds to. Loads the dialects that they need.
mlir::OwningOpRef<mlir::ModuleOp> makeKernelModule(mlir::MLIRContext *context, KernelModule &built);

/// What an op's launches need and cost, known before any kernel is built.
struct OpNeeds {
  int64_t workspaceBytes = 0; // scratch
  LaunchCosts costs;
};

/// Collects the kernels of a plan: emit every op, then compile `module()`.
class GridEmitter {
public:
  /// The context must have the gc dialect loaded; the dialects of kernels are loaded here.
  GridEmitter(mlir::MLIRContext *context, const GridDevice &device);

  /// What the op's launches need and cost. Does not depend on aliases.
  mlir::FailureOr<OpNeeds> needs(mlir::Operation *op);
  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op);

  /// Emits the op's kernels, or finds them among those that are there. `aliases[i]` is the result
  /// that shares its bytes with operand i, or -1. Reports an op that cannot be emitted as a
  /// diagnostic at the op.
  mlir::FailureOr<llvm::SmallVector<KernelLaunch>> emit(mlir::Operation *op,
                                                        llvm::ArrayRef<int> aliases = {});

  /// Only the bias gradient of a convolution's filter gradient, which libraries leave out.
  mlir::FailureOr<llvm::SmallVector<KernelLaunch>> emitBiasGradient(mlir::Operation *op);
  OpNeeds biasGradientNeeds(mlir::Operation *op);

  /// One launch for several updates that touch nothing of each other's; its buffers are the numbers
  /// given: for each update those of its operands and variables.
  mlir::FailureOr<KernelLaunch> emitUpdates(llvm::ArrayRef<UpdateOpInterface> ops,
                                            llvm::ArrayRef<llvm::SmallVector<int>> buffers);

  /// All kernels so far, in one gpu.module.
  mlir::ModuleOp module() { return *owned; }
  unsigned size() const { return built.count; }

private:
  KernelModule built;
  mlir::OwningOpRef<mlir::ModuleOp> owned;
  llvm::StringMap<llvm::SmallVector<KernelLaunch>> emitted; // by op
  llvm::StringMap<OpNeeds> needsOf;                         // by op
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_GRIDS_GRIDEMITTER_H
