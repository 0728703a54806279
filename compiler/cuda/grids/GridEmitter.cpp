//===- GridEmitter.cpp - Generated CUDA kernels for gc ops --------------===//
#include "compiler/cuda/grids/GridEmitter.h"

#include "compiler/cuda/grids/Columns.h"
#include "compiler/cuda/grids/TensorCores.h"
#include "compiler/language/EmitOp.h"
#include "compiler/target/Products.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace gc::cuda {

static LogicalResult emitOp(Operation *op, GpuKernels &kernels) {
  if (auto convolution = convolutionSpec(op))
    return emitConvolution(op, *convolution, kernels);
  if (auto product = matMulSpec(op))
    return emitProduct(op, *product, kernels);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return emitAttention(attention, kernels);
  if (auto attention = dyn_cast<AttentionGradOp>(op))
    return emitAttentionGrad(attention, kernels);
  if (auto attention = dyn_cast<AttentionBiasGradOp>(op))
    return emitAttentionBiasGrad(attention, kernels);
  return emitOpOfKind(op, kernels, "CUDA");
}

static LogicalResult checkLaunches(Operation *op, const GpuKernels &kernels) {
  return kernels.whyImpossible.empty() ? success() : op->emitOpError(kernels.whyImpossible);
}

// db[c] = sum over rows of dy[row][c], the second result of a convolution's filter gradient, or the
// second accumulator.
static void addBiasGradient(Operation *op, GpuKernels &kernels) {
  auto accumulating = dyn_cast<AccumulateProductOp>(op);
  Operation *product = accumulating ? accumulating.getProduct() : op;
  int64_t channels = elementCount(product->getResult(1).getType());
  int64_t rows = elementCount(product->getOperand(1).getType()) / channels;
  Type element = getElementTypeOrSelf(product->getResult(1));
  BufferUse result = accumulating ? kernels.variable(1, {channels}, element) : kernels.result(1);
  addSumOverRows(kernels, "bias", kernels.operand(1, {rows, channels}), result, accumulating);
}

OwningOpRef<ModuleOp> makeKernelModule(MLIRContext *context, KernelModule &built) {
  context->loadDialect<arith::ArithDialect, gpu::GPUDialect, math::MathDialect,
                       memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  loadTensorCoreDialects(*context);
  OpBuilder builder(context);
  Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> owned = ModuleOp::create(location);
  built.module = *owned;
  builder.setInsertionPointToStart(owned->getBody());
  built.kernels = gpu::GPUModuleOp::create(builder, location, "kernels");
  return owned;
}

GridEmitter::GridEmitter(MLIRContext *context, const GridDevice &device)
    : built(device), owned(makeKernelModule(context, built)) {}

FailureOr<OpNeeds> GridEmitter::needs(Operation *op) {
  std::string key = keyOf(op, {});
  auto found = needsOf.find(key);
  if (found != needsOf.end())
    return found->second;
  KernelModule none(built.device);
  GpuKernels kernels(op, {}, none);
  if (failed(emitOp(op, kernels)) || failed(checkLaunches(op, kernels)))
    return failure();
  OpNeeds needs{kernels.workspaceBytes, kernels.costs};
  needsOf[key] = needs;
  return needs;
}

FailureOr<int64_t> GridEmitter::workspaceBytes(Operation *op) {
  FailureOr<OpNeeds> all = needs(op);
  if (failed(all))
    return failure();
  return all->workspaceBytes;
}

OpNeeds GridEmitter::biasGradientNeeds(Operation *op) {
  KernelModule none(built.device);
  GpuKernels kernels(op, {}, none);
  addBiasGradient(op, kernels);
  return {kernels.workspaceBytes, kernels.costs};
}

FailureOr<SmallVector<KernelLaunch>> GridEmitter::emitBiasGradient(Operation *op) {
  GpuKernels kernels(op, {}, built);
  addBiasGradient(op, kernels);
  if (failed(checkLaunches(op, kernels)))
    return failure();
  return kernels.launches;
}

FailureOr<KernelLaunch> GridEmitter::emitUpdates(ArrayRef<UpdateOpInterface> ops,
                                                 ArrayRef<SmallVector<int>> buffers) {
  GpuKernels kernels(ops.front()->getContext(), ops.front()->getName().stripDialect(), built);
  emitJoinedUpdates(ops, buffers, kernels, built);
  if (failed(checkLaunches(ops.front(), kernels)))
    return failure();
  return kernels.launches.front();
}

FailureOr<SmallVector<KernelLaunch>> GridEmitter::emit(Operation *op, ArrayRef<int> aliases) {
  std::string key = keyOf(op, aliases);
  auto found = emitted.find(key);
  if (found != emitted.end())
    return found->second;
  GpuKernels kernels(op, aliases, built);
  if (failed(emitOp(op, kernels)) || failed(checkLaunches(op, kernels)))
    return failure();
  emitted[key] = kernels.launches;
  return kernels.launches;
}

} // namespace gc::cuda
