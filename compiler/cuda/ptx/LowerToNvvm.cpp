//===- LowerToNvvm.cpp - GPU kernels to the NVVM dialect -----------------===//
//
//   gpu.func @k(%x: memref<4x8xf32>) kernel { gpu.thread_id x, scf, vector, math, … }
// becomes
//   llvm.func @k(!llvm.ptr) attributes {nvvm.kernel} { nvvm.read.ptx.sreg.tid.x, … }
//
// MLIR's own pass (convert-gpu-to-nvvm) turns what is left of math into calls of a device library
// that we do not link; so its patterns are used here together with those that make instructions.
// All of it is one conversion, as all of it has to agree on the width of indices.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/ptx/LowerToNvvm.h"

#include "compiler/cuda/ptx/CompileToPtx.h"
#include "compiler/lowering/ExpandMath.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// Unrolls the loops that ask for it: LLVM stops at bodies of a few hundred instructions, which is
/// less than the inner loop of a matrix product.
class UnrollLoopsPass : public PassWrapper<UnrollLoopsPass, OperationPass<gpu::GPUFuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollLoopsPass)
  StringRef getName() const override { return "gc::cuda::UnrollLoopsPass"; }

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr("gc.unroll"))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(loopUnrollFull(loop))) {
        loop.emitError("cannot unroll a loop whose bounds are not constant; take gc.unroll away");
        return signalPassFailure();
      }
  }
};

/// Vectors of one dimension and the divisions that LLVM has; what the conversion itself expects.
class LowerVectorsPass : public PassWrapper<LowerVectorsPass, OperationPass<gpu::GPUFuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerVectorsPass)
  StringRef getName() const override { return "gc::cuda::LowerVectorsPass"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorToVectorCanonicalizationPatterns(patterns);
    vector::populateVectorBitCastLoweringPatterns(patterns);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorContractLoweringPatterns(patterns, vector::VectorContractLowering::Dot);
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorInterleaveLoweringPatterns(patterns);
    vector::populateVectorTransposeLoweringPatterns(patterns,
                                                    vector::VectorTransposeLowering::EltWise);
    vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
    vector::populateVectorMaskMaterializationPatterns(patterns,
                                                      /*force32BitVectorIndices=*/false);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorRankReducingFMAPattern(patterns);
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::populateVectorToElementsUnrollPatterns(patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

class ConvertToNVVMPass : public PassWrapper<ConvertToNVVMPass, OperationPass<gpu::GPUModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertToNVVMPass)
  StringRef getName() const override { return "gc::cuda::ConvertToNVVMPass"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }

  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    options.overrideIndexBitwidth(kernels->getAttrOfType<IntegerAttr>(indexBitsAttribute).getInt());
    LLVMTypeConverter converter(context, options);
    configureGpuToNVVMTypeConverter(converter);

    RewritePatternSet patterns(context);
    // The least benefit: these hold the device library's functions too.
    populateGpuToNVVMConversionPatterns(converter, patterns, /*benefit=*/0);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);

    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                             index::IndexDialect, math::MathDialect, memref::MemRefDialect,
                             ub::UBDialect, vector::VectorDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    if (failed(applyPartialConversion(kernels, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void registerKernelDialects(MLIRContext &context) {
  DialectRegistry registry;
  registry
      .insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
              index::IndexDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
              NVVM::NVVMDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

/// Runs the passes and verifies what they made. Verifying after each of them takes as long as some
/// of them do: kernels are large.
static LogicalResult runAndVerify(PassManager &manager, ModuleOp module) {
  manager.enableVerifier(false);
  return failure(failed(manager.run(module)) || failed(verify(module)));
}

LogicalResult simplifyKernels(ModuleOp module) {
  PassManager manager(module.getContext());
  OpPassManager &onKernel = manager.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
  onKernel.addPass(std::make_unique<UnrollLoopsPass>());
  // Every GPU has a fused multiply-add.
  onKernel.addPass(codegen::createExpandMathPass(/*useFMA=*/true));
  onKernel.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions().enableFullUnroll()));
  onKernel.addPass(memref::createExpandStridedMetadataPass());
  onKernel.addPass(createLowerAffinePass());
  onKernel.addPass(createCanonicalizerPass());
  onKernel.addPass(std::make_unique<LowerVectorsPass>()); // the canonicalizer makes more of them
  onKernel.addPass(createCSEPass());
  return runAndVerify(manager, module);
}

LogicalResult lowerKernels(ModuleOp module) {
  PassManager manager(module.getContext());
  OpPassManager &onKernels = manager.nest<gpu::GPUModuleOp>();
  onKernels.addPass(createSCFToControlFlowPass());
  onKernels.addPass(std::make_unique<ConvertToNVVMPass>());
  onKernels.addPass(createReconcileUnrealizedCastsPass());
  return runAndVerify(manager, module);
}

} // namespace gc::cuda
