//===- CompileToPtx.h - A module of GPU kernels to PTX and cubins -------===//
#ifndef GC_COMPILER_CUDA_PTX_COMPILETOPTX_H
#define GC_COMPILER_CUDA_PTX_COMPILETOPTX_H

#include "compiler/cuda/DeviceModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <string>
#include <vector>

namespace gc::cuda {

/// What a kernel takes of a multiprocessor. -1: not known, as there was no assembler.
struct KernelResources {
  std::string name;
  int registers = -1;         // of a thread
  int64_t spillBytes = -1;    // stores and loads
  int64_t stackBytes = -1;    // of a thread
  int64_t constantBytes = -1; // as ptxas tells: with the parameters up to sm_89, without from sm_90
  int64_t sharedBytes = 0;    // static and dynamic
  int64_t dynamicSharedBytes = 0;
  int threadsPerBlock = 0;
  int blocksPerMultiprocessor = -1;
  int64_t askedBlocks = 0; // by gc.min_blocks; 0: none
  double occupancy = -1;   // resident warps over those that a multiprocessor can hold
  std::string limiter;     // threads | blocks | registers | shared; empty: not known
};

/// Kernels that are loaded together.
struct KernelImage {
  std::string ptx;
  std::vector<uint8_t> cubin; // empty: there was no assembler
  std::vector<std::string> symbols;
};

struct KernelImages {
  std::vector<KernelImage> images;
  std::vector<KernelResources> resources; // in the order of the kernels in the module
  std::string assembler;                  // "ptxas 13.0.88", or why there is none
  int assemblerCuda = 0;                  // 13000 for CUDA 13.0; 0: there is none
};

struct CodegenOptions {
  const DeviceModel *device = nullptr; // required; the caller's
  /// Threads that compile. The result does not depend on it.
  int threads = 2;
  /// Where not empty: kernels.mlir, kernels.N.ll, kernels.N.ptx and kernels.N.cubin are left there.
  std::string dumpDirectory{};
  bool assemble = true;
};

/// Registers the dialects that kernels are written in and what translates them to LLVM IR. Call it
/// before a module of kernels is parsed or built in this context.
void registerKernelDialects(mlir::MLIRContext &context);

/// Compiles the kernels of `module`, which holds one gpu.module with gpu.func kernels and nothing
/// else; it is consumed (lowered in place). A kernel
/// - has the attributes known_block_size and known_grid_size: the launch must have these extents;
/// - takes memrefs of integers or floats, of static shape and identity layout: 64-byte aligned
///   addresses as 64-bit parameters, in order; distinct arguments must not overlap;
/// - is written in gpu (ids, barrier, shuffle, …), scf, affine, arith, math, memref and vector;
/// - declares static shared memory as workgroup attributions (at most 48 KiB), and the bytes of
///   gpu.dynamic_shared_memory by the attribute gc.dynamic_shared;
/// - may ask by gc.min_blocks for registers few enough that so many blocks fit a multiprocessor
///   (not granted to kernels that would spill);
/// - may ask by gc.unroll on an scf.for with constant bounds for the loop to be unrolled in full.
/// Failure is reported as a diagnostic at the module or at the kernel to blame; a missing assembler
/// is none.
///
/// Floating point is IEEE: nothing is reassociated, contracted, approximated or flushed unless the
/// operation carries the flag itself; only math.fma fuses.
mlir::FailureOr<KernelImages> compileKernels(mlir::ModuleOp module, const CodegenOptions &options);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_PTX_COMPILETOPTX_H
