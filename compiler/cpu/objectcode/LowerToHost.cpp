//===- LowerToHost.cpp - Kernel functions to the LLVM dialect ------------===//
//
//   func.func @k(%x: memref<4x8xf32>, %begin: index, %end: index) { scf, linalg, math, … }
// becomes
//   llvm.func @k(!llvm.ptr, i64, i64) { … }
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/objectcode/LowerToHost.h"

#include "compiler/lowering/ExpandMath.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace gc::cpu {

void registerKernelDialects(MLIRContext &context) {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, LLVM::LLVMDialect, linalg::LinalgDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

LogicalResult lowerKernels(ModuleOp module, bool useFMA) {
  PassManager manager(module.getContext());
  OpPassManager &onFunction = manager.nest<func::FuncOp>();
  onFunction.addPass(createConvertLinalgToLoopsPass());
  onFunction.addPass(codegen::createExpandMathPass(useFMA));
  onFunction.addPass(memref::createExpandStridedMetadataPass());
  onFunction.addPass(createLowerAffinePass());
  onFunction.addPass(createCanonicalizerPass());
  onFunction.addPass(createCSEPass());
  onFunction.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  onFunction.addPass(createConvertMathToLLVMPass());
  OpPassManager &afterVectors = manager.nest<func::FuncOp>();
  afterVectors.addPass(createArithToLLVMConversionPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}

} // namespace gc::cpu
