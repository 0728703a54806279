//===- StoreKernels.cpp - Launches and compiled kernels in a plan ---------===//
#include "compiler/cuda/StoreKernels.h"
#include "compiler/target/CommandWriter.h"

namespace gc::cuda {

plan::LaunchT launchCommand(const KernelLaunch &launch, std::vector<uint32_t> buffers) {
  plan::LaunchT command;
  command.kernel = launch.kernel;
  command.buffers = std::move(buffers);
  command.access = planAccess(launch.access);
  auto extent = [](const Extent &e) {
    return std::make_unique<plan::Extent>(uint32_t(e.x), uint32_t(e.y), uint32_t(e.z));
  };
  command.grid = extent(launch.grid);
  command.block = extent(launch.block);
  return command;
}

plan::KernelsT storeKernels(KernelImages &compiled, llvm::ArrayRef<plan::LaunchT *> launches) {
  plan::KernelsT kernels;
  llvm::StringMap<uint32_t> symbols;
  for (KernelImage &image : compiled.images) {
    auto stored = std::make_unique<plan::KernelImageT>();
    stored->first_symbol = uint32_t(kernels.symbols.size());
    stored->ptx = std::move(image.ptx);
    stored->cubin = std::move(image.cubin);
    kernels.images.push_back(std::move(stored));
    for (std::string &symbol : image.symbols) {
      symbols[symbol] = uint32_t(kernels.symbols.size());
      kernels.symbols.push_back(std::move(symbol));
    }
  }
  for (plan::LaunchT *launch : launches) {
    const KernelResources &kernel = compiled.resources[launch->kernel];
    launch->shared_bytes = uint32_t(kernel.dynamicSharedBytes);
    launch->kernel = symbols.lookup(kernel.name);
  }
  return kernels;
}

} // namespace gc::cuda
