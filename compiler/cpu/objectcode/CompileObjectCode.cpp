//===- CompileObjectCode.cpp - A module of kernels to machine code -----------===//
//
// Lowers the module once, deals its functions into shards, and compiles the shards on all threads:
// translate, add the entry points, optimize, emit; then links the objects.
//
// The entry point of kernel `k` loads the pointers and calls the body:
//   define void @k(ptr %buffers, i64 %begin, i64 %end)
//   define internal void @k.body(ptr noalias align 64 dereferenceable(N) %0, …, i64, i64) noinline
// The body stays a function of its own because inlining would drop what its argument attributes
// tell the vectorizer; the extra call is nothing next to a range of items.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/objectcode/CompileObjectCode.h"

#include "compiler/cpu/objectcode/HostTarget.h"
#include "compiler/cpu/objectcode/LinkSharedObject.h"
#include "compiler/cpu/objectcode/LowerToHost.h"
#include "compiler/lowering/OptimizeModule.h"
#include "compiler/lowering/Parallel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace gc::cpu {
namespace {

/// What LLVM is told about a kernel's pointers.
struct KernelSignature {
  std::string name;
  SmallVector<int64_t> bytes; // for each memref, its size
};

FailureOr<std::vector<KernelSignature>> readSignatures(ModuleOp module) {
  std::vector<KernelSignature> signatures;
  DataLayout layout(module);
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || function.isExternal())
      return op.emitError("expected only kernels with a body in a module of kernels");
    KernelSignature signature{function.getName().str(), {}};
    ArrayRef<Type> inputs = function.getArgumentTypes();
    if (inputs.size() < 2 || !inputs.take_back(2)[0].isIndex() || !inputs.back().isIndex() ||
        function.getNumResults() != 0)
      return function.emitError("expected a kernel of memrefs and two index arguments (begin, end) "
                                "with no result, got ")
             << function.getFunctionType();
    for (Type input : inputs.drop_back(2)) {
      auto memref = dyn_cast<MemRefType>(input);
      if (!memref || !memref.hasStaticShape() || !memref.getLayout().isIdentity())
        return function.emitError("expected memrefs of static shape and identity layout, got ")
               << input;
      signature.bytes.push_back(memref.getNumElements() *
                                layout.getTypeSize(memref.getElementType()));
    }
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

/// Turns the translated function into the body and adds the entry point around it.
void addEntryPoint(llvm::Module &module, const KernelSignature &signature, const HostTarget &host) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Function *body = module.getFunction(signature.name);
  body->setName(signature.name + ".body");
  body->setLinkage(llvm::GlobalValue::InternalLinkage);
  body->addFnAttr(llvm::Attribute::NoInline);
  codegen::describeBuffers(*body, signature.bytes);

  llvm::Type *pointer = llvm::PointerType::get(context, 0);
  llvm::Type *integer = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, integer, integer},
                                       /*isVarArg=*/false);
  auto *entry =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, signature.name, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
  SmallVector<llvm::Value *> arguments;
  for (size_t i = 0; i < signature.bytes.size(); ++i)
    arguments.push_back(builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), i)));
  arguments.push_back(entry->getArg(1));
  arguments.push_back(entry->getArg(2));
  builder.CreateCall(body, arguments)->setTailCall();
  builder.CreateRetVoid();

  for (llvm::Function *function : {body, entry}) {
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::MustProgress);
    function->addFnAttr(llvm::Attribute::WillReturn);
    function->addFnAttr("target-cpu", host.cpu);
    function->addFnAttr("target-features", host.featureString);
    // LLVM prefers half of AVX-512's width on some CPUs because of old clock penalties.
    function->addFnAttr("prefer-vector-width", std::to_string(host.vectorBits));
  }
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.SLPVectorization = true;
  // LLVM unrolls short loops (over 8 or 16 channels) before it vectorizes, and then finds little to
  // vectorize; without unrolling it makes them one vector.
  tuning.LoopUnrolling = false;
  codegen::optimizeModule(module, machine, tuning);
}

llvm::Error emit(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType kind,
                 SmallVector<char, 0> &output) {
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return llvm::createStringError("LLVM's target cannot emit this kind of file");
  passes.run(module);
  return llvm::Error::success();
}

llvm::Error writeFile(StringRef directory, const llvm::Twine &name, StringRef content) {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << content;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return llvm::createStringError(code, "cannot write '" + path.str() + "': " + code.message());
  return llvm::Error::success();
}

/// Functions that are compiled together, and their object.
struct Shard {
  OwningOpRef<ModuleOp> module;
  ArrayRef<KernelSignature> signatures;
  SmallVector<char, 0> object;
};

llvm::Error compileShard(Shard &shard, unsigned index, const HostTarget &host,
                         const CodegenOptions &options) {
  auto machine = host.createMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(*shard.module, context, "kernels");
  if (!module)
    return llvm::createStringError("translating the kernels to LLVM IR failed");
  module->setTargetTriple(llvm::Triple(host.triple));
  module->setDataLayout((*machine)->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  for (const KernelSignature &signature : shard.signatures)
    addEntryPoint(*module, signature, host);
  optimize(*module, **machine);
  if (!options.dumpDirectory.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    if (auto error =
            writeFile(options.dumpDirectory, "kernels." + llvm::Twine(index) + ".ll", text))
      return error;
    // Emission changes the module, so the assembly is made from a copy.
    SmallVector<char, 0> assembly;
    if (auto error = emit(*llvm::CloneModule(*module), **machine,
                          llvm::CodeGenFileType::AssemblyFile, assembly))
      return error;
    if (auto error = writeFile(options.dumpDirectory, "kernels." + llvm::Twine(index) + ".s",
                               StringRef(assembly.data(), assembly.size())))
      return error;
  }
  return emit(*module, **machine, llvm::CodeGenFileType::ObjectFile, shard.object);
}

} // namespace

FailureOr<KernelLibrary> compileKernels(ModuleOp module, const CodegenOptions &options) {
  auto fail = [&](llvm::Error error) { return module.emitError(llvm::toString(std::move(error))); };
  if (!options.dumpDirectory.empty()) {
    if (std::error_code code = llvm::sys::fs::create_directories(options.dumpDirectory))
      return module.emitError("cannot create '" + options.dumpDirectory + "': " + code.message());
    std::string text;
    llvm::raw_string_ostream(text) << module;
    if (llvm::Error error = writeFile(options.dumpDirectory, "kernels.mlir", text))
      return fail(std::move(error));
  }
  registerKernelDialects(*module.getContext());
  FailureOr<std::vector<KernelSignature>> signatures = readSignatures(module);
  if (failed(signatures))
    return failure();
  HostTarget host = HostTarget::detect();
  if (failed(lowerKernels(module, host.hasFMA)))
    return failure();

  // A few functions a shard: small enough to balance, large enough that what LLVM sets up for each
  // module does not count. Fixed, so that the object does not depend on the number of threads.
  constexpr size_t shardSize = 4;
  std::vector<Shard> shards;
  for (size_t i = 0; i < signatures->size(); i += shardSize) {
    Shard shard;
    shard.module = ModuleOp::create(module.getLoc());
    shard.signatures = ArrayRef(*signatures).slice(i, std::min(shardSize, signatures->size() - i));
    for (const KernelSignature &signature : shard.signatures)
      module.lookupSymbol(signature.name)
          ->moveBefore(shard.module->getBody(), shard.module->getBody()->end());
    shards.push_back(std::move(shard));
  }
  if (llvm::Error error = codegen::inParallel(shards.size(), options.threads, [&](size_t i) {
        return compileShard(shards[i], i, host, options);
      }))
    return fail(std::move(error));

  std::vector<SmallVector<char, 0>> objects;
  for (Shard &shard : shards)
    objects.push_back(std::move(shard.object));
  llvm::Expected<std::vector<uint8_t>> linked = linkSharedObject(objects);
  if (!linked)
    return fail(linked.takeError());
  if (!options.dumpDirectory.empty())
    if (llvm::Error error =
            writeFile(options.dumpDirectory, "kernels.so",
                      StringRef(reinterpret_cast<const char *>(linked->data()), linked->size())))
      return fail(std::move(error));

  KernelLibrary library;
  library.object = std::move(*linked);
  for (KernelSignature &signature : *signatures)
    library.symbols.push_back(std::move(signature.name));
  library.cpu = host.cpu;
  library.features = host.features;
  return library;
}

} // namespace gc::cpu
