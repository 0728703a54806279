//===- CpuTarget.h - gc ops as commands for the CPU -------------*- C++ -*-===//
#ifndef GC_COMPILER_CPU_CPUTARGET_H
#define GC_COMPILER_CPU_CPUTARGET_H

#include "compiler/cpu/kernels/KernelEmitter.h"
#include "dialects/Gc.h"
#include "runtime/plan/Plan_generated.h"

namespace gc::cpu {

/// Makes a buffer of some bytes of another one.
using PartOf = llvm::function_ref<unsigned(unsigned buffer, int64_t offset, int64_t bytes)>;

/// Where an op's operands, results and variables lie.
struct OpBuffers {
  llvm::SmallVector<unsigned> operands, results, variables;
  int workspace = -1;
};

/// Lowers one op at a time to commands and collects the kernels that they dispatch.
class CpuTarget {
public:
  CpuTarget(mlir::MLIRContext *context, int threads) : threads(threads), emitter(context) {}

  /// Scratch that the op's commands need, or failure with a diagnostic where the CPU cannot run it.
  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op);

  /// Whether a library can add the op's results to accumulators, in no more memory (but for a few
  /// bytes) than the op and its results need.
  bool prefersAccumulating(mlir::Operation *op, AccumulateProductOp accumulating);

  /// Appends the op's commands. Views, reads and gradient marks have none.
  mlir::LogicalResult lower(mlir::Operation *op, const OpBuffers &buffers, PartOf partOf,
                            std::vector<std::unique_ptr<plan::CommandT>> &commands);

  mlir::FailureOr<KernelLibrary> finish(const CodegenOptions &options) {
    return emitter.finish(options);
  }

private:
  void lowerAttention(mlir::Operation *op, const OpBuffers &buffers, PartOf partOf,
                      class CommandWriter &writer);
  int threads;
  KernelEmitter emitter;
};

} // namespace gc::cpu

#endif
