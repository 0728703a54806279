//===- LoopEmitter.cpp - Generated kernels for gc ops -------------------===//
#include "compiler/cpu/loops/LoopEmitter.h"
#include "compiler/target/Products.h"

#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/cpu/objectcode/CompileObjectCode.h"
#include "compiler/cpu/objectcode/LowerToHost.h"
#include "compiler/language/EmitOp.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc::cpu {

static LogicalResult emitOp(Operation *op, OpKernels &kernels) {
  return emitOpOfKind(op, kernels, "the CPU");
}

LoopEmitter::LoopEmitter(MLIRContext *context, int64_t streamBytes)
    : context(context), streamBytes(streamBytes) {
  registerKernelDialects(*context);
  module = ModuleOp::create(UnknownLoc::get(context));
}

bool LoopEmitter::handles(Operation *op) { return emitterOf<OpKernels>(op) != nullptr; }

int64_t LoopEmitter::workspaceBytes(Operation *op) {
  if (!handles(op))
    return 0;
  llvm::StringMap<unsigned> unused;
  unsigned none = 0;
  OpKernels measured(op, {}, ModuleOp(), unused, none, streamBytes);
  return succeeded(emitOp(op, measured)) ? measured.workspaceBytes : 0;
}

FailureOr<SmallVector<KernelDispatch>> LoopEmitter::emit(Operation *op, ArrayRef<int> aliases) {
  std::string key = keyOf(op, aliases);
  auto found = emitted.find(key);
  if (found != emitted.end())
    return found->second;
  OpKernels built(op, aliases, *module, bodies, kernels, streamBytes);
  if (failed(emitOp(op, built)))
    return failure();
  emitted[key] = built.dispatches;
  return built.dispatches;
}

KernelDispatch LoopEmitter::emitNamed(StringRef name, const AttentionKernel &kind,
                                      llvm::function_ref<void(OpKernels &)> emitOne) {
  std::string key;
  llvm::raw_string_ostream(key) << name << ' ' << kind.batch << 'x' << kind.heads << 'x'
                                << kind.sequence << 'x' << kind.headSize << ' ' << kind.element
                                << ' ' << kind.written << (kind.causal ? " causal" : "");
  for (int64_t size : kind.bias)
    key += ' ' + std::to_string(size);
  auto [known, isNew] = named.try_emplace(key);
  if (isNew) {
    OpKernels built(context, name, *module, bodies, kernels);
    emitOne(built);
    known->second = built.dispatches.front();
  }
  return known->second;
}

LoopEmitter::AttentionKernel LoopEmitter::kindOf(const AttentionShape &s, Type element) {
  return {s.batch, s.heads, s.sequence, 0, element, {}, s.causal, s.bias};
}

KernelDispatch LoopEmitter::emitAttentionSoftmax(const AttentionShape &s, Type element) {
  return emitNamed("attention_softmax", kindOf(s, element),
                   [&](OpKernels &kernels) { addAttentionSoftmax(kernels, s, element); });
}

KernelDispatch LoopEmitter::emitAttentionProbabilities(const AttentionShape &s, Type element) {
  return emitNamed("attention_probabilities", kindOf(s, element),
                   [&](OpKernels &kernels) { addAttentionProbabilities(kernels, s, element); });
}

KernelDispatch LoopEmitter::emitAttentionBiasGradient(const AttentionShape &s, bool isFirst,
                                                      Type element) {
  StringRef name = isFirst ? "attention_bias_gradient" : "attention_bias_gradient_more";
  return emitNamed(name, kindOf(s, element), [&](OpKernels &kernels) {
    addAttentionBiasGradient(kernels, s, isFirst, element);
  });
}

KernelDispatch LoopEmitter::emitAttentionScoreGradient(int64_t batch, int64_t heads,
                                                       int64_t sequence, int64_t headSize,
                                                       Type element) {
  return emitNamed("attention_score_gradient", {batch, heads, sequence, headSize, element},
                   [&](OpKernels &kernels) {
                     addAttentionScoreGradient(kernels, batch, heads, sequence, headSize, element);
                   });
}

KernelDispatch LoopEmitter::emitCast(int64_t elements, Type from, Type to) {
  return emitNamed("cast", {elements, 1, 1, 1, from, to},
                   [&](OpKernels &kernels) { addCast(kernels, elements, from, to); });
}

FailureOr<KernelLibrary> LoopEmitter::finish(const CodegenOptions &options) {
  FailureOr<KernelLibrary> library = compileKernels(*module, options);
  module = ModuleOp::create(UnknownLoc::get(context));
  kernels = 0;
  emitted.clear();
  named.clear();
  bodies.clear();
  return library;
}

} // namespace gc::cpu
