//===- CompileToPtx.cpp - A module of GPU kernels to PTX and cubins -----===//
//
// Simplifies the kernels, deals them into shards (a gpu.module each) by the width of their indices,
// lowers them, and compiles the shards on all threads: translate, optimize, emit, assemble.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/ptx/CompileToPtx.h"

#include "compiler/cuda/ptx/AssemblePtx.h"
#include "compiler/cuda/ptx/EmitPtx.h"
#include "compiler/cuda/ptx/IndexWidth.h"
#include "compiler/cuda/ptx/LowerToNvvm.h"
#include "compiler/cuda/ptx/Occupancy.h"
#include "compiler/lowering/Parallel.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc::cuda {
namespace {

llvm::Error dump(const CodegenOptions &options, const llvm::Twine &name, StringRef content) {
  if (options.dumpDirectory.empty())
    return llvm::Error::success();
  if (std::error_code code = llvm::sys::fs::create_directories(options.dumpDirectory))
    return llvm::createStringError(code, "cannot create '" + options.dumpDirectory +
                                             "': " + code.message());
  llvm::SmallString<128> path(options.dumpDirectory);
  llvm::sys::path::append(path, name);
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
    stream << content;
    return llvm::Error::success();
  });
}

/// Kernels that are compiled together, and what they became.
struct Shard {
  gpu::GPUModuleOp kernels;
  std::vector<KernelSignature> signatures;
  std::string ptx;
  AssembledPtx assembled;
};

/// Moves the kernels into gpu.modules of a few kernels with indices of one width. A few: enough to
/// balance the threads, so that what LLVM and the assembler do for each module does not count.
/// Fixed, so that the result does not depend on the number of threads.
std::vector<Shard> dealIntoShards(gpu::GPUModuleOp kernels, ArrayRef<KernelSignature> signatures) {
  constexpr size_t shardSize = 8;
  std::vector<Shard> shards;
  OpBuilder builder(kernels);
  llvm::SmallMapVector<int, size_t, 2> open; // by width, the shard that is not full
  for (const KernelSignature &signature : signatures) {
    auto kernel = kernels.lookupSymbol<gpu::GPUFuncOp>(signature.name);
    int width = indicesFitIn32Bits(kernel) ? 32 : 64;
    auto [entry, isNew] = open.insert({width, shards.size()});
    if (isNew || shards[entry->second].signatures.size() == shardSize) {
      entry->second = shards.size();
      auto module = gpu::GPUModuleOp::create(builder, kernels.getLoc(),
                                             "shard_" + std::to_string(shards.size()));
      module->setAttr(indexBitsAttribute, builder.getI32IntegerAttr(width));
      shards.push_back({module, {}, {}, {}});
    }
    Shard &shard = shards[entry->second];
    kernel->moveBefore(shard.kernels.getBody(), shard.kernels.getBody()->end());
    shard.signatures.push_back(signature);
  }
  kernels.erase();
  return shards;
}

/// Takes back what kernels that spill have asked for with gc.min_blocks: registers are worth more
/// to them than another block. False where none has asked.
bool dropBlockHints(std::string &ptx, const AssembledPtx &assembled) {
  bool dropped = false;
  for (const auto &[name, kernel] : assembled.kernels) {
    if (kernel.spillBytes == 0 && kernel.stackBytes == 0)
      continue;
    size_t entry = ptx.find(".entry " + name.str() + "(");
    size_t body = ptx.find('{', entry);
    size_t hint = ptx.find(".minnctapersm", entry);
    if (entry == std::string::npos || hint > body)
      continue;
    ptx.erase(hint, ptx.find('\n', hint) - hint);
    dropped = true;
  }
  return dropped;
}

llvm::Error compileShard(Shard &shard, size_t index, const Assembler &assembler,
                         const CodegenOptions &options) {
  std::string name = "kernels." + std::to_string(index);
  auto emitted = emitPtx(shard.kernels, shard.signatures, *options.device,
                         /*wantLLVM=*/!options.dumpDirectory.empty());
  if (!emitted)
    return emitted.takeError();
  shard.ptx = std::move(emitted->ptx);
  if (llvm::Error error = dump(options, name + ".ll", emitted->llvm))
    return error;
  if (!assembler.path.empty())
    do {
      auto assembled = assemblePtx(assembler, shard.ptx, options.device->target);
      if (!assembled)
        return assembled.takeError();
      shard.assembled = std::move(*assembled);
    } while (dropBlockHints(shard.ptx, shard.assembled));
  if (llvm::Error error = dump(options, name + ".ptx", shard.ptx))
    return error;
  if (assembler.path.empty())
    return llvm::Error::success();
  return dump(options, name + ".cubin",
              StringRef(reinterpret_cast<const char *>(shard.assembled.cubin.data()),
                        shard.assembled.cubin.size()));
}

FailureOr<KernelResources> describe(const KernelSignature &signature, const Shard &shard,
                                    const DeviceModel &device) {
  KernelResources resources;
  resources.name = signature.name;
  resources.threadsPerBlock = signature.threads;
  resources.askedBlocks = signature.minBlocks;
  resources.dynamicSharedBytes = signature.dynamicSharedBytes;
  resources.sharedBytes = signature.staticSharedBytes + signature.dynamicSharedBytes;
  if (shard.assembled.cubin.empty())
    return resources;
  auto found = shard.assembled.kernels.find(signature.name);
  if (found == shard.assembled.kernels.end() || found->second.registers == 0)
    return emitError(signature.location)
           << "the assembler's report has no registers of kernel '" << signature.name
           << "'; is this a ptxas that we do not know?";
  const AssembledKernel &assembled = found->second;
  resources.registers = assembled.registers;
  resources.spillBytes = assembled.spillBytes;
  resources.stackBytes = assembled.stackBytes;
  resources.constantBytes = assembled.constantBytes;
  resources.sharedBytes = assembled.staticSharedBytes + signature.dynamicSharedBytes;
  computeOccupancy(resources, device);
  return resources;
}

} // namespace

FailureOr<KernelImages> compileKernels(ModuleOp module, const CodegenOptions &options) {
  auto fail = [&](llvm::Error error) { return module.emitError(llvm::toString(std::move(error))); };
  if (!options.dumpDirectory.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    if (llvm::Error error = dump(options, "kernels.mlir", text))
      return fail(std::move(error));
  }
  registerKernelDialects(*module.getContext());
  auto kernels = llvm::hasSingleElement(*module.getBody())
                     ? dyn_cast<gpu::GPUModuleOp>(module.getBody()->front())
                     : gpu::GPUModuleOp();
  if (!kernels)
    return module.emitError("expected one gpu.module and nothing else in a module of kernels");
  FailureOr<std::vector<KernelSignature>> signatures = readSignatures(kernels, *options.device);
  if (failed(signatures) || failed(simplifyKernels(module)))
    return failure();
  std::vector<Shard> shards = dealIntoShards(kernels, *signatures);
  if (failed(lowerKernels(module)))
    return failure();
  Assembler assembler = options.assemble ? Assembler::find(options.device->ptxVersion())
                                         : Assembler{"", "none: not asked for"};
  if (llvm::Error error =
          codegen::inParallel(shards.size(), unsigned(std::max(1, options.threads)), [&](size_t i) {
            return compileShard(shards[i], i, assembler, options);
          }))
    return fail(std::move(error));

  KernelImages result;
  result.assembler = assembler.version;
  result.assemblerCuda = assembler.cuda;
  llvm::StringMap<KernelResources> resources;
  for (Shard &shard : shards) {
    KernelImage image;
    for (const KernelSignature &signature : shard.signatures) {
      FailureOr<KernelResources> described = describe(signature, shard, *options.device);
      if (failed(described))
        return failure();
      resources[signature.name] = std::move(*described);
      image.symbols.push_back(signature.name);
    }
    image.ptx = std::move(shard.ptx);
    image.cubin = std::move(shard.assembled.cubin);
    result.images.push_back(std::move(image));
  }
  for (const KernelSignature &signature : *signatures)
    result.resources.push_back(std::move(resources[signature.name]));
  return result;
}

} // namespace gc::cuda
