//===- LoopEmitter.h - Generated kernels for gc ops ---------------------===//
#ifndef GC_COMPILER_CPU_LOOPS_LOOPEMITTER_H
#define GC_COMPILER_CPU_LOOPS_LOOPEMITTER_H

#include "compiler/cpu/objectcode/KernelLibrary.h"
#include "compiler/language/ArgumentAccess.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include <array>

namespace gc {
struct AttentionShape;
}

namespace gc::cpu {

/// One launch of a kernel. An op takes one or several, in order, each waiting for the one before.
struct KernelDispatch {
  unsigned kernel = 0; // index into KernelLibrary::symbols
  /// What the kernel gets: >= 0 is a buffer of the op (its operands, then its results, then the
  /// variables it changes), -1 its workspace.
  llvm::SmallVector<int> buffers;
  /// What the kernel does with each of them.
  llvm::SmallVector<kernels::ArgumentAccess> access;
  int64_t items = 0; // independent, in any order, on any number of threads: the bits are the same
  int64_t grain = 1; // fewer than this in a range cost more to start than to compute
};

/// Collects the kernels of a plan: emit every op, then finish() compiles what is distinct.
class LoopEmitter {
public:
  /// The context must have the gc dialect loaded; the dialects of kernels are loaded here. Results
  /// of at least `streamBytes` are written past the cache (see Streaming.h).
  explicit LoopEmitter(mlir::MLIRContext *context, int64_t streamBytes = int64_t(32) << 20);

  /// Whether `op` runs as generated kernels (and not as a library call, a view or nothing).
  static bool handles(mlir::Operation *op);

  /// Bytes of scratch that the op's dispatches need; 0 for most. Does not depend on aliases.
  int64_t workspaceBytes(mlir::Operation *op);

  /// Emits the op's kernels, or finds them among those that are there. `aliases[i]` is the result
  /// that shares its bytes with operand i, or -1; empty means that none does. Reports an op that
  /// cannot be emitted as a diagnostic at the op.
  mlir::FailureOr<llvm::SmallVector<KernelDispatch>> emit(mlir::Operation *op,
                                                          llvm::ArrayRef<int> aliases = {});

  /// The pieces of attention around its matrix products. Scores are [batch, heads, sequence,
  /// sequence] and already scaled. Buffers are numbered as the arguments are named:
  /// 0 scores, overwritten by their softmax; 1 logsumexp [batch, heads, sequence], written; 2 the
  /// bias of `element`, where there is one, added to the scores first.
  KernelDispatch emitAttentionSoftmax(const AttentionShape &shape, mlir::Type element);
  /// 0 scores, overwritten by exp(scores + bias - logsumexp); 1 logsumexp, read; 2 the bias.
  KernelDispatch emitAttentionProbabilities(const AttentionShape &shape, mlir::Type element);
  /// 0 P * (dP - rowsum(dO * O)) of some samples; 1 the bias's gradient, [., ., sequence, sequence]
  /// of `element`, written, or where they are not the first ones and the bias is that of all, added
  /// to.
  KernelDispatch emitAttentionBiasGradient(const AttentionShape &shape, bool isFirst,
                                           mlir::Type element);
  /// 0 probabilities P; 1 their gradient dP, overwritten by P * (dP - rowsum(dO * O)); 2 output O
  /// and 3 its gradient dO, both [batch, sequence, heads * headSize] of `element`.
  KernelDispatch emitAttentionScoreGradient(int64_t batch, int64_t heads, int64_t sequence,
                                            int64_t headSize, mlir::Type element);

  /// `elements` of one type in another: 0 is read, 1 written.
  KernelDispatch emitCast(int64_t elements, mlir::Type from, mlir::Type to);

  mlir::MLIRContext *getContext() const { return context; }
  /// Distinct kernels so far.
  unsigned size() const { return kernels; }

  /// Compiles them. The emitter is empty afterwards.
  mlir::FailureOr<KernelLibrary> finish(const CodegenOptions &options);

private:
  /// What the kernels around attention's products depend on.
  struct AttentionKernel {
    int64_t batch, heads, sequence, headSize = 0;
    mlir::Type element = {}, written = {};
    bool causal = false;
    std::array<int64_t, 4> bias = {};
  };
  static AttentionKernel kindOf(const AttentionShape &shape, mlir::Type element);
  /// Emits the kernel unless one of this name and kind is there.
  KernelDispatch emitNamed(llvm::StringRef name, const AttentionKernel &kind,
                           llvm::function_ref<void(class OpKernels &)> emitOne);

  mlir::MLIRContext *context;
  int64_t streamBytes;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  unsigned kernels = 0;
  llvm::StringMap<llvm::SmallVector<KernelDispatch>> emitted; // by op
  llvm::StringMap<KernelDispatch> named;                      // by name and kind
  llvm::StringMap<unsigned> bodies;                           // by text of the function
};

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_LOOPS_LOOPEMITTER_H
