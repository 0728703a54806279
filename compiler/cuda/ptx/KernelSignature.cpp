//===- KernelSignature.cpp - What a kernel's launch and buffers are -------===//
#include "compiler/cuda/ptx/KernelSignature.h"

#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gc::cuda {
namespace {

constexpr int32_t blockLimits[] = {1024, 1024, 64};
constexpr int32_t gridLimits[] = {2147483647, 65535, 65535};
constexpr int threadLimit = 1024;

LogicalResult checkExtent(gpu::GPUFuncOp kernel, StringRef attribute,
                          std::optional<ArrayRef<int32_t>> extent, ArrayRef<int32_t> limits) {
  if (!extent)
    return kernel.emitError("kernel '") << kernel.getName() << "' has no " << attribute;
  for (auto [value, limit] : llvm::zip_equal(*extent, limits))
    if (value < 1 || value > limit)
      return kernel.emitError("kernel '") << kernel.getName() << "' has " << attribute << " ["
                                          << *extent << "], beyond the limits [" << limits << "]";
  return success();
}

FailureOr<int64_t> readNumber(gpu::GPUFuncOp kernel, StringRef attribute, int64_t least) {
  Attribute value = kernel->getAttr(attribute);
  if (!value)
    return 0;
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || integer.getInt() < least)
    return kernel.emitError("expected ") << attribute << " of kernel '" << kernel.getName()
                                         << "' to be an integer >= " << least << ", got " << value;
  return integer.getInt();
}

FailureOr<KernelSignature> readSignature(gpu::GPUFuncOp kernel, const DataLayout &layout) {
  if (failed(checkExtent(kernel, "known_block_size", kernel.getKnownBlockSize(), blockLimits)) ||
      failed(checkExtent(kernel, "known_grid_size", kernel.getKnownGridSize(), gridLimits)))
    return failure();
  auto sizeOf = [&](MemRefType type) {
    return type.getNumElements() * int64_t(layout.getTypeSize(type.getElementType()));
  };
  KernelSignature signature{kernel.getName().str(), kernel.getLoc(), {}, {}, 1, 0, 0, 0};
  ArrayRef<int32_t> block = *kernel.getKnownBlockSize();
  llvm::copy(block, signature.block.begin());
  signature.threads = block[0] * block[1] * block[2]; // at most 2^26 by the limits
  if (signature.threads > threadLimit)
    return kernel.emitError("kernel '")
           << kernel.getName() << "' has blocks of " << signature.threads << " threads, more than "
           << threadLimit;
  for (Type input : kernel.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(input);
    if (!memref || !memref.hasStaticShape() || !memref.getLayout().isIdentity() ||
        !memref.getElementType().isIntOrFloat()) // an index has no size of its own
      return kernel.emitError(
                 "expected memrefs of integers or floats, of static shape and identity "
                 "layout, as arguments of kernel '")
             << kernel.getName() << "', got " << input;
    signature.bufferBytes.push_back(sizeOf(memref));
  }
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    int64_t offset = llvm::alignTo(signature.staticSharedBytes, sharedAlignment);
    signature.staticSharedBytes = offset + sizeOf(cast<MemRefType>(buffer.getType()));
  }
  FailureOr<int64_t> dynamic = readNumber(kernel, "gc.dynamic_shared", 0);
  FailureOr<int64_t> minBlocks = readNumber(kernel, "gc.min_blocks", 1);
  if (failed(dynamic) || failed(minBlocks))
    return failure();
  signature.dynamicSharedBytes = *dynamic;
  signature.minBlocks = *minBlocks;
  return signature;
}

LogicalResult checkSharedMemory(gpu::GPUFuncOp kernel, const KernelSignature &signature,
                                const DeviceModel &device) {
  if (signature.staticSharedBytes > DeviceModel::defaultSharedBytesPerBlock)
    return kernel.emitError("kernel '")
           << signature.name << "' declares " << signature.staticSharedBytes
           << " bytes of static shared memory, more than "
           << DeviceModel::defaultSharedBytesPerBlock << "; use gpu.dynamic_shared_memory";
  int64_t shared = signature.staticSharedBytes + signature.dynamicSharedBytes;
  if (shared > device.sharedBytesPerBlock)
    return kernel.emitError("kernel '")
           << signature.name << "' needs " << shared << " bytes of shared memory, but a block has "
           << device.sharedBytesPerBlock << " on " << device.target << "; use smaller tiles";
  bool uses = kernel.walk([](gpu::DynamicSharedMemoryOp) { return WalkResult::interrupt(); })
                  .wasInterrupted();
  if (uses && signature.dynamicSharedBytes == 0)
    return kernel.emitError("kernel '")
           << signature.name
           << "' uses gpu.dynamic_shared_memory, but gc.dynamic_shared "
              "does not say how many bytes";
  return success();
}

} // namespace

FailureOr<std::vector<KernelSignature>> readSignatures(gpu::GPUModuleOp kernels,
                                                       const DeviceModel &device) {
  std::vector<KernelSignature> signatures;
  DataLayout layout(kernels);
  for (Operation &op : *kernels.getBody()) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
    if (!kernel || !kernel.isKernel())
      return op.emitError("expected only gpu.func kernels in a module of kernels");
    FailureOr<KernelSignature> signature = readSignature(kernel, layout);
    if (failed(signature) || failed(checkSharedMemory(kernel, *signature, device)))
      return failure();
    signatures.push_back(std::move(*signature));
  }
  return signatures;
}

} // namespace gc::cuda
