//===- CpuTarget.cpp - gc ops as commands for the CPU ---------------------===//
#include "compiler/cpu/CpuTarget.h"
#include "compiler/cpu/LibraryCalls.h"
#include "dialects/OpName.h"
#include "passes/analysis/Liveness.h"
#include "passes/analysis/OpCosts.h"
#include <numeric>

using namespace mlir;

namespace gc::cpu {

// Ops that are only names for bytes: nothing runs.
static bool isNothing(Operation *op) {
  auto inPlace = dyn_cast<InPlaceOpInterface>(op);
  return isa<ReadOp, GradientOp>(op) || (inPlace && inPlace.isView());
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

namespace {
/// Attention runs on a few samples at a time, so that their scores stay in the cache and need
/// little memory. The parts of its workspace: scores, their gradient (backward only), and what the
/// products need, which run one after the other and share it.
struct AttentionWorkspace {
  int64_t scores = 0, scoreGradient = 0, products = 0;
  int64_t total() const { return scores + scoreGradient + products; }
};
} // namespace

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
  } else {
    products.push_back(attentionValueGradient(shape));
    products.push_back(attentionScoreGradient(shape));
    products.push_back(attentionQueryGradient(shape));
    products.push_back(attentionKeyGradient(shape));
  }
  return products;
}

static AttentionShape shapeOf(Operation *op) {
  if (auto forward = dyn_cast<AttentionOp>(op))
    return attentionShape(forward.getQkv(), forward.getHeads());
  auto backward = cast<AttentionGradOp>(op);
  return attentionShape(backward.getQkv(), backward.getHeads());
}

constexpr int64_t scoresInCache = 4 << 20;

// The shapes of the chunks: all alike but for a smaller last one.
static SmallVector<AttentionShape> attentionChunks(Operation *op) {
  AttentionShape whole = shapeOf(op);
  // Every chunk of every tensor must start on its own cache line.
  int64_t unit = 1;
  for (int64_t floats : {whole.heads * whole.sequence, whole.sequence * whole.width()})
    unit = std::lcm(unit, storageAlignment / std::gcd(storageAlignment, floats * 4));
  int64_t sample = whole.scoreBytes() / whole.batch;
  int64_t samples = std::max(scoresInCache / sample / unit, int64_t(1)) * unit;
  SmallVector<AttentionShape> chunks;
  for (int64_t done = 0; done < whole.batch; done += samples) {
    AttentionShape chunk = whole;
    chunk.batch = std::min(samples, whole.batch - done);
    chunks.push_back(chunk);
  }
  return chunks;
}

static FailureOr<AttentionWorkspace> attentionWorkspace(Operation *op, int threads) {
  SmallVector<AttentionShape> chunks = attentionChunks(op);
  AttentionWorkspace parts;
  parts.scores = alignedBytes(chunks.front().scoreBytes());
  parts.scoreGradient = isa<AttentionOp>(op) ? 0 : parts.scores;
  for (const AttentionShape &chunk : {chunks.front(), chunks.back()})
    for (const plan::MatMulT &product : attentionProducts(op, chunk)) {
      FailureOr<int64_t> bytes = answer(op, workspaceOf(product, threads));
      if (failed(bytes))
        return failure();
      parts.products = std::max(parts.products, *bytes);
    }
  return parts;
}

FailureOr<int64_t> CpuTarget::workspaceBytes(Operation *op) {
  if (isNothing(op))
    return 0;
  if (auto convolution = convolutionCommand(op))
    return answer(op, workspaceOf(*convolution, threads));
  if (auto product = matMulCommand(op))
    return answer(op, workspaceOf(*product, threads));
  if (isa<AttentionOp, AttentionGradOp>(op)) {
    FailureOr<AttentionWorkspace> parts = attentionWorkspace(op, threads);
    if (failed(parts))
      return failure();
    return parts->total();
  }
  if (!KernelEmitter::handles(op))
    return op->emitOpError("cannot run on the CPU: no kernel is known for it");
  return emitter.workspaceBytes(op);
}

// What a library needs for the op; none where no library runs it.
static std::optional<int64_t> libraryWorkspace(Operation *op, int threads) {
  WorkspaceAnswer answer{0, "no library runs it"};
  if (auto convolution = convolutionCommand(op))
    answer = workspaceOf(*convolution, threads);
  else if (auto product = matMulCommand(op))
    answer = workspaceOf(*product, threads);
  return answer.error.empty() ? std::optional(answer.bytes) : std::nullopt;
}

bool CpuTarget::prefersAccumulating(Operation *op, AccumulateProductOp accumulating) {
  std::optional<int64_t> apart = libraryWorkspace(op, threads);
  std::optional<int64_t> inside = libraryWorkspace(accumulating, threads);
  if (!apart || !inside)
    return false;
  // Apart, the results are there beside the scratch. A few bytes are well spent on one pass less over
  // the accumulator.
  constexpr int64_t few = 4096;
  for (Type type : op->getResultTypes())
    *apart += alignedBytes(byteSize(type));
  return *inside <= *apart + few;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static std::vector<plan::Access> planAccess(const KernelDispatch &dispatch) {
  std::vector<plan::Access> access;
  for (BufferAccess one : dispatch.access)
    access.push_back(one.reads ? (one.writes ? plan::Access_ReadWrite : plan::Access_Read)
                               : (one.writes ? plan::Access_Write : plan::Access_None));
  return access;
}

class CommandWriter {
public:
  CommandWriter(Operation *op, const OpBuffers &buffers,
                std::vector<std::unique_ptr<plan::CommandT>> &commands)
      : op(op), buffers(buffers), commands(commands), first(commands.size()) {}

  template <typename T> void add(T operation) {
    auto command = std::make_unique<plan::CommandT>();
    command->name = displayName(op);
    command->recomputed = op->hasAttr("gc.recomputed");
    if (auto number = op->getAttrOfType<IntegerAttr>("gc.op"))
      command->op = static_cast<int32_t>(number.getInt());
    command->operation.Set(std::move(operation));
    commands.push_back(std::move(command));
  }

  void addDispatch(const KernelDispatch &dispatch) {
    plan::DispatchT d;
    d.kernel = dispatch.kernel;
    d.items = dispatch.items;
    d.grain = dispatch.grain;
    for (int buffer : dispatch.buffers)
      d.buffers.push_back(resolve(buffer));
    d.access = planAccess(dispatch);
    add(std::move(d));
  }

  /// Spreads the op's cost over its commands: the work is told once, at the first.
  void finish() {
    if (commands.size() == first)
      return;
    auto cost = cast<CostOpInterface>(op);
    commands[first]->flops = cost.getFlops();
    commands[first]->bytes_moved = cost.getBytesMoved();
    commands[first]->seconds_predicted = OpCosts().seconds(op);
  }

  int workspace() const { return buffers.workspace; }

private:
  uint32_t resolve(int buffer) const {
    if (buffer < 0)
      return static_cast<uint32_t>(buffers.workspace);
    size_t index = buffer;
    if (index < buffers.operands.size())
      return buffers.operands[index];
    index -= buffers.operands.size();
    if (index < buffers.results.size())
      return buffers.results[index];
    return buffers.variables[index - buffers.results.size()];
  }

  Operation *op;
  const OpBuffers &buffers;
  std::vector<std::unique_ptr<plan::CommandT>> &commands;
  size_t first;
};

// Operand buffer of an optional operand, or -1.
static int32_t bufferOf(const OpBuffers &buffers, Operation *op, Value operand) {
  if (!operand)
    return -1;
  for (auto [i, value] : llvm::enumerate(op->getOperands()))
    if (value == operand)
      return static_cast<int32_t>(buffers.operands[i]);
  return -1;
}

static void bind(plan::ConvolutionT &c, Operation *op, const OpBuffers &b) {
  c.workspace = b.workspace;
  switch (c.direction) {
  case plan::Direction_Forward: {
    auto conv = cast<Conv2dOp>(op);
    c.src = b.operands[0], c.weights = b.operands[1], c.dst = b.results[0];
    c.bias = bufferOf(b, op, conv.getBias());
    c.residual = bufferOf(b, op, conv.getResidual());
    break;
  }
  case plan::Direction_BackwardData:
    c.dst = b.operands[0], c.weights = b.operands[1], c.src = b.results[0];
    break;
  case plan::Direction_BackwardWeights:
    c.src = b.operands[0], c.dst = b.operands[1], c.weights = b.results[0];
    c.bias = b.results.size() > 1 ? static_cast<int32_t>(b.results[1]) : -1;
    break;
  }
}

static void bind(plan::MatMulT &p, Operation *op, const OpBuffers &b) {
  p.workspace = b.workspace;
  bool gradientFirst = isa<LinearGradWeightOp>(op); // dW = dy^T x, operands are x, dy
  *p.a = plan::View(b.operands[gradientFirst ? 1 : 0], 0);
  *p.b = plan::View(b.operands[gradientFirst ? 0 : 1], 0);
  *p.c = plan::View(b.results[0], 0);
  if (auto linear = dyn_cast<LinearOp>(op)) {
    p.bias = bufferOf(b, op, linear.getBias());
    p.residual = bufferOf(b, op, linear.getResidual());
  }
}

void CpuTarget::lowerAttention(Operation *op, const OpBuffers &buffers, PartOf partOf,
                               CommandWriter &writer) {
  bool forward = isa<AttentionOp>(op);
  AttentionWorkspace sizes = *attentionWorkspace(op, threads); // asked before, cannot fail now
  unsigned workspace = static_cast<unsigned>(buffers.workspace);
  int64_t sample = 0;
  for (const AttentionShape &s : attentionChunks(op)) {
    int64_t rows = s.batch * s.sequence, rowsBefore = sample * s.sequence;
    sample += s.batch;
    auto rowsOf = [&](unsigned buffer, int64_t width) {
      return partOf(buffer, rowsBefore * width * 4, rows * width * 4);
    };
    unsigned roles[6] = {};
    roles[Qkv] = rowsOf(buffers.operands[0], 3 * s.width());
    roles[Output] = rowsOf(forward ? buffers.results[0] : buffers.operands[1], s.width());
    unsigned logsumexp = rowsOf(forward ? buffers.results[1] : buffers.operands[2], s.heads);
    roles[Scores] = partOf(workspace, 0, s.scoreBytes());
    if (!forward) {
      roles[ScoreGradient] = partOf(workspace, sizes.scores, s.scoreBytes());
      roles[OutputGradient] = rowsOf(buffers.operands[3], s.width());
      roles[QkvGradient] = rowsOf(buffers.results[0], 3 * s.width());
    }
    int products = -1;
    if (sizes.products)
      products = static_cast<int>(
          partOf(workspace, sizes.scores + sizes.scoreGradient, sizes.products));
    auto multiply = [&](plan::MatMulT product) {
      for (plan::View *view : {product.a.get(), product.b.get(), product.c.get()})
        *view = plan::View(roles[view->buffer()], view->offset());
      product.workspace = products;
      writer.add(std::move(product));
    };
    auto launch = [&](KernelDispatch dispatch, ArrayRef<unsigned> arguments) {
      plan::DispatchT d;
      d.kernel = dispatch.kernel;
      d.items = dispatch.items;
      d.grain = dispatch.grain;
      for (int argument : dispatch.buffers)
        d.buffers.push_back(arguments[argument]);
      d.access = planAccess(dispatch);
      writer.add(std::move(d));
    };
    multiply(attentionScores(s));
    if (forward) {
      launch(emitter.emitAttentionSoftmax(s.batch, s.heads, s.sequence),
             {roles[Scores], logsumexp});
      multiply(attentionOutput(s));
      continue;
    }
    launch(emitter.emitAttentionProbabilities(s.batch, s.heads, s.sequence),
           {roles[Scores], logsumexp});
    multiply(attentionValueGradient(s));
    multiply(attentionScoreGradient(s));
    launch(emitter.emitAttentionScoreGradient(s.batch, s.heads, s.sequence, s.headSize),
           {roles[Scores], roles[ScoreGradient], roles[Output], roles[OutputGradient]});
    multiply(attentionQueryGradient(s));
    multiply(attentionKeyGradient(s));
  }
}

LogicalResult CpuTarget::lower(Operation *op, const OpBuffers &buffers, PartOf partOf,
                               std::vector<std::unique_ptr<plan::CommandT>> &commands) {
  if (isNothing(op))
    return success();
  CommandWriter writer(op, buffers, commands);
  // A product that accumulates has its results in the variables.
  OpBuffers productBuffers = buffers;
  Operation *productOp = op;
  if (auto accumulating = dyn_cast<AccumulateProductOp>(op)) {
    productBuffers.results = buffers.variables;
    productOp = accumulating.getProduct();
  }
  if (auto convolution = convolutionCommand(op)) {
    bind(*convolution, productOp, productBuffers);
    writer.add(std::move(*convolution));
  } else if (auto product = matMulCommand(op)) {
    bind(*product, productOp, productBuffers);
    writer.add(std::move(*product));
  } else if (isa<AttentionOp, AttentionGradOp>(op)) {
    lowerAttention(op, buffers, partOf, writer);
  } else {
    SmallVector<int> aliases;
    for (unsigned operand : buffers.operands) {
      auto same = llvm::find(buffers.results, operand);
      aliases.push_back(same == buffers.results.end() ? -1 : same - buffers.results.begin());
    }
    FailureOr<SmallVector<KernelDispatch>> dispatches = emitter.emit(op, aliases);
    if (failed(dispatches))
      return failure();
    for (const KernelDispatch &dispatch : *dispatches)
      writer.addDispatch(dispatch);
  }
  writer.finish();
  return success();
}

} // namespace gc::cpu
