//===- EmitPtx.cpp - Lowered kernels to PTX -------------------------------===//
#include "compiler/cuda/ptx/EmitPtx.h"

#include "compiler/lowering/OptimizeModule.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

namespace gc::cuda {
namespace {

constexpr const char *triple = "nvptx64-nvidia-cuda";
constexpr unsigned sharedSpace = 3;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const DeviceModel &device) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target)
    return llvm::createStringError("this LLVM has no target '" + llvm::Twine(triple) +
                                   "': " + error);
  llvm::TargetOptions options;
  // Products are rounded (mul.rn) unless the kernel says math.fma: whether they are must not depend
  // on what stands next to them, or a recomputed value differs from the first one.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      llvm::Triple(triple), device.target, "+ptx" + std::to_string(device.ptxVersion()), options,
      // Aggressive would be a third slower, for the same PTX in 99 of 100 kernels.
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return llvm::createStringError("LLVM cannot create a target machine for " +
                                   llvm::Twine(device.target));
  return machine;
}

void annotate(llvm::Module &module, const KernelSignature &signature) {
  llvm::Function *kernel = module.getFunction(signature.name);
  codegen::describeBuffers(*kernel, signature.bufferBytes);
  kernel->addFnAttr(llvm::Attribute::NoUnwind);
  kernel->addFnAttr(llvm::Attribute::MustProgress);
  kernel->addFnAttr(llvm::Attribute::WillReturn);
  // Exactly this block, where MLIR says at most.
  kernel->removeFnAttr("nvvm.maxntid");
  auto [x, y, z] = signature.block;
  kernel->addFnAttr("nvvm.reqntid", llvm::formatv("{0},{1},{2}", x, y, z).str());
  if (signature.minBlocks > 0)
    kernel->addFnAttr("nvvm.minctasm", std::to_string(signature.minBlocks));
}

void declareSharedMemory(llvm::Module &module) {
  for (llvm::GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != sharedSpace)
      continue;
    global.setAlignment(llvm::Align(sharedAlignment));
    // Dynamic shared memory is an internal array of no bytes as MLIR makes it; outside of that
    // every access would be undefined. An external one has as many as the launch gives.
    if (module.getDataLayout().getTypeAllocSize(global.getValueType()) == 0) {
      global.setLinkage(llvm::GlobalValue::ExternalLinkage);
      global.setInitializer(nullptr);
    }
  }
}

/// Reports a call of a function that the kernels do not define: nothing is linked with them.
llvm::Error checkUndefinedSymbols(const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty())
      continue;
    std::string caller = "a kernel";
    for (const llvm::User *user : function.users())
      if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
        caller = "kernel '" + instruction->getFunction()->getName().str() + "'";
    return llvm::createStringError(caller + " calls '" + function.getName() +
                                   "', which does not exist on the device");
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<EmittedPtx> emitPtx(gpu::GPUModuleOp kernels, ArrayRef<KernelSignature> signatures,
                                   const DeviceModel &device, bool wantLLVM) {
  auto machine = createMachine(device);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::string errors;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *errors) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &errors);
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return llvm::createStringError("translating the kernels to LLVM IR failed");
  module->setTargetTriple(llvm::Triple(triple));
  module->setDataLayout((*machine)->createDataLayout());
  for (const KernelSignature &signature : signatures)
    annotate(*module, signature);
  declareSharedMemory(*module);
  codegen::optimizeModule(*module, **machine);
  if (llvm::Error error = checkUndefinedSymbols(*module))
    return error;

  EmittedPtx result;
  if (wantLLVM)
    llvm::raw_string_ostream(result.llvm) << *module;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM's target cannot emit PTX");
  passes.run(*module);
  if (!errors.empty())
    return llvm::createStringError("LLVM cannot emit the kernels: " + errors);
  result.ptx = text.str().str();
  return result;
}

} // namespace gc::cuda
