//===- CpuTarget.cpp - gc ops as commands for the CPU ---------------------===//
#include "compiler/cpu/CpuTarget.h"
#include "compiler/target/CommandWriter.h"
#include "compiler/target/Products.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/analysis/Liveness.h"
#include "runtime/hal/cpu/library/HalfRates.h"
#include "runtime/hal/cpu/library/Library.h"
#include <nlohmann/json.hpp>
#include <numeric>

using namespace mlir;

namespace gc::cpu {

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

namespace {
/// Attention runs on a few samples at a time, so that their scores stay in the cache and need
/// little memory. The parts of its workspace: scores, their gradient (backward only), what the
/// products need, which run one after the other and share it, and, where operands are of half
/// precision, f32 of what products read and write.
struct AttentionWorkspace {
  int64_t scores = 0, scoreGradient = 0, products = 0;
  int64_t wideQkv = 0, wideOutput = 0, wideGradient = 0; // of the output, the gradient of qkv
  int64_t total() const {
    return scores + scoreGradient + products + wideQkv + wideOutput + wideGradient;
  }
};
} // namespace

/// Bytes of scratch that a library call needs, or an error text.
struct WorkspaceAnswer {
  int64_t bytes = 0;
  std::string error;
};

/// Says how halves are multiplied: by what is faster on this CPU.
template <typename Spec> static std::optional<Spec> chosen(std::optional<Spec> spec) {
  if (spec && spec->type == plan::DType_BF16)
    spec->native = runtime::cpu::halfRates().areFaster();
  return spec;
}
static auto convolutionOf(Operation *op) { return chosen(convolutionSpec(op)); }
static auto productOf(Operation *op) { return chosen(matMulSpec(op)); }

// For the spec of a convolution or product.
static WorkspaceAnswer workspaceOf(const auto &spec, int threads) {
  auto bytes = runtime::cpu::workspaceBytes(spec, threads);
  if (!bytes)
    return {0, bytes.error().message};
  return {static_cast<int64_t>(*bytes), ""};
}

static FailureOr<int64_t> answer(Operation *op, const WorkspaceAnswer &answer) {
  if (!answer.error.empty())
    return op->emitOpError() << "cannot run on the CPU: " << answer.error;
  return answer.bytes;
}

static SmallVector<plan::MatMulT> attentionProducts(Operation *op, AttentionShape shape) {
  SmallVector<plan::MatMulT> products;
  products.push_back(attentionScores(shape));
  if (isa<AttentionOp>(op)) {
    products.push_back(attentionOutput(shape));
  } else if (isa<AttentionBiasGradOp>(op)) {
    products.push_back(attentionScoreGradient(shape));
  } else {
    products.push_back(attentionValueGradient(shape));
    products.push_back(attentionScoreGradient(shape));
    products.push_back(attentionQueryGradient(shape));
    products.push_back(attentionKeyGradient(shape));
  }
  return products;
}

constexpr int64_t scoresInCache = 4 << 20;

// The shapes of the chunks of samples: all are equal but the last, which may be smaller.
static SmallVector<AttentionShape> attentionChunks(Operation *op) {
  AttentionShape whole = attentionShape(op);
  // Every chunk of every tensor must start on its own cache line.
  int64_t unit = 1;
  auto align = [&](Type tensor) {
    if (cast<ShapedType>(tensor).getDimSize(0) != whole.batch)
      return; // a bias that is the same for all samples
    int64_t sample = byteSize(tensor) / whole.batch;
    unit = std::lcm(unit, storageAlignment / std::gcd(storageAlignment, sample));
  };
  llvm::for_each(op->getOperandTypes(), align);
  llvm::for_each(op->getResultTypes(), align);
  int64_t sample = whole.scoreBytes() / whole.batch;
  int64_t samples = std::max(scoresInCache / sample / unit, int64_t(1)) * unit;
  SmallVector<AttentionShape> chunks;
  for (int64_t done = 0; done < whole.batch; done += samples) {
    AttentionShape chunk = whole;
    chunk.batch = std::min(samples, whole.batch - done);
    if (whole.bias[0] == whole.batch)
      chunk.bias[0] = chunk.batch;
    chunks.push_back(chunk);
  }
  return chunks;
}

static bool isHalf(Value tensor) { return !getElementTypeOrSelf(tensor).isF32(); }

static FailureOr<AttentionWorkspace> attentionWorkspace(Operation *op, int threads) {
  SmallVector<AttentionShape> chunks = attentionChunks(op);
  AttentionWorkspace parts;
  parts.scores = alignedBytes(chunks.front().scoreBytes());
  parts.scoreGradient = isa<AttentionOp>(op) ? 0 : parts.scores;
  if (isHalf(op->getOperand(0))) {
    int64_t rowBytes = chunks.front().batch * chunks.front().sequence * chunks.front().width() * 4;
    parts.wideQkv = alignedBytes(3 * rowBytes);
    parts.wideOutput = alignedBytes(rowBytes);
    parts.wideGradient = isa<AttentionGradOp>(op) ? parts.wideQkv : 0;
  }
  for (const AttentionShape &chunk : {chunks.front(), chunks.back()})
    for (const plan::MatMulT &product : attentionProducts(op, chunk)) {
      FailureOr<int64_t> bytes = answer(op, workspaceOf(*product.spec, threads));
      if (failed(bytes))
        return failure();
      parts.products = std::max(parts.products, *bytes);
    }
  return parts;
}

FailureOr<int64_t> CpuTarget::workspaceBytes(Operation *op, bool) {
  if (isNothing(op))
    return 0;
  if (auto convolution = convolutionOf(op))
    return answer(op, workspaceOf(*convolution, threads));
  if (auto product = productOf(op))
    return answer(op, workspaceOf(*product, threads));
  if (isa<AttentionOp, AttentionGradOp, AttentionBiasGradOp>(op)) {
    FailureOr<AttentionWorkspace> parts = attentionWorkspace(op, threads);
    if (failed(parts))
      return failure();
    return parts->total();
  }
  if (!LoopEmitter::handles(op))
    return op->emitOpError("cannot run on the CPU: no kernel is known for it");
  return emitter.workspaceBytes(op);
}

// The workspace that the library needs for the op; nothing where no library runs it.
static std::optional<int64_t> libraryWorkspace(Operation *op, int threads) {
  WorkspaceAnswer answer{0, "no library runs it"};
  if (auto convolution = convolutionOf(op))
    answer = workspaceOf(*convolution, threads);
  else if (auto product = productOf(op))
    answer = workspaceOf(*product, threads);
  return answer.error.empty() ? std::optional(answer.bytes) : std::nullopt;
}

bool CpuTarget::prefersAccumulating(Operation *op, AccumulateProductOp accumulating, bool) {
  std::optional<int64_t> apart = libraryWorkspace(op, threads);
  std::optional<int64_t> inside = libraryWorkspace(accumulating, threads);
  return apart && inside && isWorthAccumulating(op, *apart, *inside);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static plan::DispatchT dispatchCommand(const KernelDispatch &dispatch,
                                       std::vector<uint32_t> buffers) {
  plan::DispatchT d;
  d.kernel = dispatch.kernel;
  d.items = dispatch.items;
  d.grain = dispatch.grain;
  d.buffers = std::move(buffers);
  d.access = planAccess(dispatch.access);
  return d;
}

void CpuTarget::lowerAttention(Operation *op, const OpBuffers &buffers, PartOf partOf,
                               CommandWriter &writer) {
  bool forward = isa<AttentionOp>(op), ofBias = isa<AttentionBiasGradOp>(op);
  AttentionWorkspace sizes = *attentionWorkspace(op, threads); // asked before, cannot fail now
  unsigned workspace = static_cast<unsigned>(buffers.workspace);
  int64_t sample = 0, batch = attentionShape(op).batch;
  for (const AttentionShape &s : attentionChunks(op)) {
    int64_t rows = s.batch * s.sequence, rowsBefore = sample * s.sequence;
    sample += s.batch;
    // The rows of this chunk's samples: of an operand or a result, whose first dimension is the
    // batch.
    auto rowsOf = [&](Value tensor, unsigned buffer) {
      int64_t rowBytes = byteSize(tensor.getType()) / (batch * s.sequence);
      return partOf(buffer, rowsBefore * rowBytes, rows * rowBytes);
    };
    // Of a bias or its gradient, all of it where it is the same for all samples.
    auto biasPart = [&](Value tensor, unsigned buffer) {
      int64_t bytes = byteSize(tensor.getType()), each = bytes / batch;
      bool isOfSamples = cast<ShapedType>(tensor.getType()).getDimSize(0) == batch;
      int64_t first = rowsBefore / s.sequence;
      return isOfSamples ? partOf(buffer, first * each, s.batch * each) : partOf(buffer, 0, bytes);
    };
    auto operand = [&](unsigned i) { return rowsOf(op->getOperand(i), buffers.operands[i]); };
    auto result = [&](unsigned i) { return rowsOf(op->getResult(i), buffers.results[i]); };
    int64_t used = 0; // of the workspace
    auto take = [&](int64_t room, int64_t bytes) {
      used += room;
      return partOf(workspace, used - room, bytes);
    };
    unsigned roles[6] = {};
    roles[Qkv] = operand(0);
    roles[Output] = forward ? result(0) : operand(1);
    unsigned logsumexp = forward ? result(1) : operand(2);
    roles[Scores] = take(sizes.scores, s.scoreBytes());
    if (!forward) {
      roles[ScoreGradient] = take(sizes.scoreGradient, s.scoreBytes());
      roles[OutputGradient] = operand(3);
      if (!ofBias)
        roles[QkvGradient] = result(0);
    }
    SmallVector<unsigned> masked{roles[Scores], logsumexp};
    if (unsigned place = forward ? 1 : 4; s.hasBias())
      masked.push_back(biasPart(op->getOperand(place), buffers.operands[place]));
    int products = -1;
    if (sizes.products)
      products = static_cast<int>(take(sizes.products, sizes.products));
    auto multiply = [&](plan::MatMulT product) {
      for (plan::View *view : {product.a.get(), product.b.get(), product.c.get()})
        *view = plan::View(roles[view->buffer()], view->offset());
      product.workspace = products;
      writer.add(std::move(product));
    };
    auto launch = [&](KernelDispatch dispatch, ArrayRef<unsigned> arguments) {
      std::vector<uint32_t> buffers;
      for (int argument : dispatch.buffers)
        buffers.push_back(arguments[argument]);
      writer.add(dispatchCommand(dispatch, std::move(buffers)));
    };
    // Halves are widened once, and what is written rounded once.
    Type half = getElementTypeOrSelf(op->getOperand(0));
    Type single = Float32Type::get(op->getContext());
    bool isWidened = isHalf(op->getOperand(0));
    int64_t width = rows * s.width();
    auto wide = [&](AttentionBuffer role, int64_t room, int64_t elements) {
      unsigned given = roles[role];
      if (isWidened)
        roles[role] = take(room, elements * 4);
      return given;
    };
    auto widen = [&](AttentionBuffer role, int64_t room, int64_t elements) {
      unsigned given = wide(role, room, elements);
      if (isWidened)
        launch(emitter.emitCast(elements, half, single), {given, roles[role]});
    };
    auto narrow = [&](AttentionBuffer role, unsigned given, int64_t elements) {
      if (isWidened)
        launch(emitter.emitCast(elements, single, half), {roles[role], given});
    };
    widen(Qkv, sizes.wideQkv, 3 * width);
    multiply(attentionScores(s));
    if (forward) {
      launch(emitter.emitAttentionSoftmax(s, single), masked);
      unsigned output = wide(Output, sizes.wideOutput, width);
      multiply(attentionOutput(s));
      narrow(Output, output, width);
      continue;
    }
    unsigned outputGradient = roles[OutputGradient];
    widen(OutputGradient, sizes.wideOutput, width);
    launch(emitter.emitAttentionProbabilities(s, single), masked);
    unsigned qkvGradient = 0;
    if (!ofBias) {
      qkvGradient = wide(QkvGradient, sizes.wideGradient, 3 * width);
      multiply(attentionValueGradient(s));
    }
    multiply(attentionScoreGradient(s));
    launch(emitter.emitAttentionScoreGradient(s.batch, s.heads, s.sequence, s.headSize, half),
           {roles[Scores], roles[ScoreGradient], roles[Output], outputGradient});
    if (ofBias) {
      bool isFirst = rowsBefore == 0 || s.bias[0] != 1;
      launch(emitter.emitAttentionBiasGradient(s, isFirst, single),
             {roles[ScoreGradient], biasPart(op->getResult(0), buffers.results[0])});
      continue;
    }
    multiply(attentionQueryGradient(s));
    multiply(attentionKeyGradient(s));
    narrow(QkvGradient, qkvGradient, 3 * width);
  }
}

LogicalResult CpuTarget::lower(Operation *op, bool, const OpBuffers &buffers, PartOf partOf,
                               std::vector<std::unique_ptr<plan::CommandT>> &commands) {
  if (isNothing(op))
    return success();
  CommandWriter writer(op, buffers, commands);
  if (auto convolution = convolutionOf(op)) {
    multipliesHalves |= convolution->type != plan::DType_F32;
    writer.add(bind(std::move(*convolution), op, buffers));
  } else if (auto product = productOf(op)) {
    multipliesHalves |= product->type != plan::DType_F32;
    writer.add(bind(std::move(*product), op, buffers));
  } else if (isa<AttentionOp, AttentionGradOp, AttentionBiasGradOp>(op)) {
    lowerAttention(op, buffers, partOf, writer);
  } else {
    FailureOr<SmallVector<KernelDispatch>> dispatches = emitter.emit(op, buffers.aliases());
    if (failed(dispatches))
      return failure();
    for (const KernelDispatch &dispatch : *dispatches)
      writer.add(dispatchCommand(dispatch, writer.resolve(dispatch.buffers)));
  }
  writer.finish();
  return success();
}

LogicalResult CpuTarget::finish(plan::PlanT &plan, const std::string &dumpDirectory,
                                nlohmann::json &report) {
  CodegenOptions codegen;
  codegen.dumpDirectory = dumpDirectory;
  FailureOr<KernelLibrary> library = emitter.finish(codegen);
  if (failed(library))
    return failure();
  plan.kernels = std::make_unique<plan::KernelsT>();
  plan.kernels->object = std::move(library->object);
  plan.kernels->symbols = std::move(library->symbols);
  report["kernels"] = plan.kernels->symbols.size();
  if (multipliesHalves) {
    const runtime::cpu::HalfRates &rates = runtime::cpu::halfRates();
    report["precision"] = {{"f32_flops_per_second", rates.f32},
                           {"bf16_flops_per_second", rates.bf16},
                           {"multiplies", rates.areFaster() ? "bf16" : "f32"},
                           {"why", rates.areFaster() ? "this CPU multiplies bf16 faster"
                                   : rates.bf16 > 0  ? "this CPU multiplies f32 as fast"
                                                     : "this CPU has no products of bf16"}};
  }
  plan.target = std::make_unique<plan::TargetT>();
  plan.target->device = "cpu";
  plan.target->cpu = library->cpu;
  plan.target->features = library->features;
  plan.target->library_version = runtime::cpu::libraryVersion();
  plan.target->threads = static_cast<uint32_t>(threads);
  return success();
}

int64_t CpuTarget::reserveBytes() const {
  return static_cast<int64_t>(runtime::cpu::kTransientPoolBytes);
}

} // namespace gc::cpu
