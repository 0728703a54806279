//===- Products.cpp - gc products as commands -----------------------------===//
#include "compiler/target/Products.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace gc {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}
static plan::Activation planActivation(Activation activation) {
  switch (activation) {
  case Activation::None:
    return plan::Activation_None;
  case Activation::Relu:
    return plan::Activation_Relu;
  case Activation::Gelu:
    return plan::Activation_Gelu;
  }
  llvm_unreachable("all activations are handled");
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static plan::ConvolutionT convolution(plan::Direction direction, Value input, Value filter,
                                      Value output, ArrayRef<int64_t> strides,
                                      ArrayRef<int64_t> padding) {
  auto in = shapeOf(input), kernel = shapeOf(filter), out = shapeOf(output);
  plan::ConvolutionT c;
  c.direction = direction;
  c.batch = in[0], c.in_h = in[1], c.in_w = in[2], c.in_c = in[3];
  c.out_h = out[1], c.out_w = out[2], c.out_c = out[3];
  c.kernel_h = kernel[1], c.kernel_w = kernel[2];
  c.stride_h = strides[0], c.stride_w = strides[1];
  c.pad_h = padding[0], c.pad_w = padding[1];
  return c;
}

// The command of the product inside a gc.accumulate_product, which adds to the accumulator.
template <typename Command>
static std::optional<Command> accumulating(std::optional<Command> command) {
  if (command)
    command->accumulate = true;
  return command;
}

std::optional<plan::ConvolutionT> convolutionCommand(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<plan::ConvolutionT>>(op)
      .Case([](Conv2dOp conv) {
        auto c = convolution(plan::Direction_Forward, conv.getInput(), conv.getFilter(),
                             conv.getOutput(), conv.getStrides(), conv.getPadding());
        c.activation = planActivation(conv.getActivation());
        c.bias = conv.getBias() ? 0 : -1;
        c.residual = conv.getResidual() ? 0 : -1;
        return c;
      })
      .Case([](AccumulateProductOp product) {
        return accumulating(convolutionCommand(product.getProduct()));
      })
      .Case([](Conv2dGradInputOp conv) {
        return convolution(plan::Direction_BackwardData, conv.getInputGradient(), conv.getFilter(),
                           conv.getGradient(), conv.getStrides(), conv.getPadding());
      })
      .Case([](Conv2dGradFilterOp conv) {
        auto c =
            convolution(plan::Direction_BackwardWeights, conv.getInput(), conv.getFilterGradient(),
                        conv.getGradient(), conv.getStrides(), conv.getPadding());
        c.bias = conv.getBiasGradient() ? 0 : -1;
        return c;
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

using Strides = std::vector<int64_t>;

static plan::MatMulT product(std::vector<int64_t> batch, int64_t m, int64_t n, int64_t k, Strides a,
                             Strides b, Strides c) {
  plan::MatMulT p;
  p.batch = std::move(batch);
  p.m = m, p.n = n, p.k = k;
  p.a_strides = std::move(a), p.b_strides = std::move(b), p.c_strides = std::move(c);
  p.a = std::make_unique<plan::View>(0, 0);
  p.b = std::make_unique<plan::View>(0, 0);
  p.c = std::make_unique<plan::View>(0, 0);
  return p;
}

static plan::MatMulT batchedProduct(MatmulOp op) {
  auto lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs()), out = shapeOf(op.getOutput());
  size_t rank = out.size();
  int64_t m = out[rank - 2], n = out[rank - 1];
  int64_t k = lhs[rank - (op.getTransposeLhs() ? 2 : 1)];
  Strides a = op.getTransposeLhs() ? Strides{1, m} : Strides{k, 1};
  Strides b = op.getTransposeRhs() ? Strides{1, k} : Strides{n, 1};
  Strides c{n, 1};
  if (rank == 2)
    return product({}, m, n, k, a, b, c);
  int64_t batch = elementCount(op.getOutput().getType()) / (m * n);
  a.insert(a.begin(), m * k);
  b.insert(b.begin(), k * n);
  c.insert(c.begin(), m * n);
  return product({batch}, m, n, k, a, b, c);
}

std::optional<plan::MatMulT> matMulCommand(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<plan::MatMulT>>(op)
      .Case([](LinearOp linear) {
        int64_t n = shapeOf(linear.getWeight())[0], k = shapeOf(linear.getWeight())[1];
        int64_t m = elementCount(linear.getInput().getType()) / k;
        auto p = product({}, m, n, k, {k, 1}, {1, k}, {n, 1});
        p.activation = planActivation(linear.getActivation());
        p.bias = linear.getBias() ? 0 : -1;
        p.residual = linear.getResidual() ? 0 : -1;
        return p;
      })
      .Case([](AccumulateProductOp product) {
        return accumulating(matMulCommand(product.getProduct()));
      })
      .Case([](LinearGradInputOp linear) {
        int64_t n = shapeOf(linear.getWeight())[0], k = shapeOf(linear.getWeight())[1];
        int64_t m = elementCount(linear.getGradient().getType()) / n;
        return product({}, m, k, n, {n, 1}, {k, 1}, {k, 1});
      })
      .Case([](LinearGradWeightOp linear) {
        int64_t n = shapeOf(linear.getGradient()).back(), k = shapeOf(linear.getInput()).back();
        int64_t m = elementCount(linear.getInput().getType()) / k;
        return product({}, n, k, m, {1, n}, {k, 1}, {k, 1});
      })
      .Case([](MatmulOp matmul) { return batchedProduct(matmul); })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

// Operand buffer of an optional operand, or -1.
static int32_t bufferOf(const OpBuffers &buffers, Operation *op, Value operand) {
  if (!operand)
    return -1;
  for (auto [i, value] : llvm::enumerate(op->getOperands()))
    if (value == operand)
      return static_cast<int32_t>(buffers.operands[i]);
  return -1;
}

// A product that accumulates has its results in the variables.
static OpBuffers buffersOfProduct(Operation *&op, const OpBuffers &given) {
  OpBuffers buffers = given;
  if (auto accumulating = dyn_cast<AccumulateProductOp>(op)) {
    buffers.results = given.variables;
    op = accumulating.getProduct();
  }
  return buffers;
}

void bind(plan::ConvolutionT &c, Operation *op, const OpBuffers &given) {
  OpBuffers b = buffersOfProduct(op, given);
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

void bind(plan::MatMulT &p, Operation *op, const OpBuffers &given) {
  OpBuffers b = buffersOfProduct(op, given);
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

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

AttentionShape attentionShape(Operation *op) {
  auto forward = dyn_cast<AttentionOp>(op);
  int64_t heads = forward ? forward.getHeads() : cast<AttentionGradOp>(op).getHeads();
  auto shape = shapeOf(op->getOperand(0)); // queries, keys and values
  return {shape[0], shape[1], heads, shape[2] / (3 * heads)};
}

// Strides of one matrix per (sample, head): within the packed queries, keys and values; within the
// output; within the scores. The last two are for rows and columns.
static Strides packed(const AttentionShape &s, bool transposed = false) {
  Strides strides{s.sequence * 3 * s.width(), s.headSize, 3 * s.width(), 1};
  if (transposed)
    std::swap(strides[2], strides[3]);
  return strides;
}
static Strides output(const AttentionShape &s) {
  return {s.sequence * s.width(), s.headSize, s.width(), 1};
}
static Strides scores(const AttentionShape &s, bool transposed = false) {
  int64_t matrix = s.sequence * s.sequence;
  Strides strides{s.heads * matrix, matrix, s.sequence, 1};
  if (transposed)
    std::swap(strides[2], strides[3]);
  return strides;
}
static plan::MatMulT headProduct(const AttentionShape &s, int64_t n, int64_t k, Strides a,
                                 Strides b, Strides c, plan::View av, plan::View bv, plan::View cv,
                                 bool scaled) {
  auto p = product({s.batch, s.heads}, s.sequence, n, k, std::move(a), std::move(b), std::move(c));
  *p.a = av, *p.b = bv, *p.c = cv;
  if (scaled)
    p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.headSize)));
  return p;
}
static uint64_t keys(const AttentionShape &s) { return s.width(); }
static uint64_t values(const AttentionShape &s) { return 2 * s.width(); }

plan::MatMulT attentionScores(const AttentionShape &s) {
  return headProduct(s, s.sequence, s.headSize, packed(s), packed(s, true), scores(s), {Qkv, 0},
                     {Qkv, keys(s)}, {Scores, 0}, true);
}
plan::MatMulT attentionOutput(const AttentionShape &s) {
  return headProduct(s, s.headSize, s.sequence, scores(s), packed(s), output(s), {Scores, 0},
                     {Qkv, values(s)}, {Output, 0}, false);
}
plan::MatMulT attentionValueGradient(const AttentionShape &s) {
  return headProduct(s, s.headSize, s.sequence, scores(s, true), output(s), packed(s), {Scores, 0},
                     {OutputGradient, 0}, {QkvGradient, values(s)}, false);
}
plan::MatMulT attentionScoreGradient(const AttentionShape &s) {
  return headProduct(s, s.sequence, s.headSize, output(s), packed(s, true), scores(s),
                     {OutputGradient, 0}, {Qkv, values(s)}, {ScoreGradient, 0}, false);
}
plan::MatMulT attentionQueryGradient(const AttentionShape &s) {
  return headProduct(s, s.headSize, s.sequence, scores(s), packed(s), packed(s), {ScoreGradient, 0},
                     {Qkv, keys(s)}, {QkvGradient, 0}, true);
}
plan::MatMulT attentionKeyGradient(const AttentionShape &s) {
  return headProduct(s, s.headSize, s.sequence, scores(s, true), packed(s), packed(s),
                     {ScoreGradient, 0}, {Qkv, 0}, {QkvGradient, keys(s)}, true);
}

} // namespace gc
