//===- Products.cpp - gc products as commands -----------------------------===//
#include "compiler/target/Products.h"
#include "compiler/target/PlanType.h"
#include "runtime/plan/ElementType.h"
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

using MaybeConvolution = std::optional<plan::ConvolutionSpecT>;

// The types of what an op reads and writes; none where plans have no name for one.
template <typename Spec>
static std::optional<Spec> withTypes(std::optional<Spec> spec, Operation *op) {
  std::optional<plan::DType> type = planType(op->getOperand(0).getType());
  std::optional<plan::DType> result = planType(op->getResult(0).getType());
  if (!spec || !type || !result)
    return std::nullopt;
  spec->type = *type;
  spec->result = *result;
  return spec;
}

template <typename Op>
static MaybeConvolution convolution(plan::Direction direction, Value input, Value filter,
                                    Value output, Op op) {
  auto in = shapeOf(input), kernel = shapeOf(filter), out = shapeOf(output);
  plan::ConvolutionSpecT s;
  s.direction = direction;
  s.batch = in[0], s.in_h = in[1], s.in_w = in[2], s.in_c = in[3];
  s.out_h = out[1], s.out_w = out[2], s.out_c = out[3];
  s.kernel_h = kernel[1], s.kernel_w = kernel[2];
  s.stride_h = op.getStrides()[0], s.stride_w = op.getStrides()[1];
  s.pad_h = op.getPadding()[0], s.pad_w = op.getPadding()[1];
  s.dilation_h = op.getDilation()[0], s.dilation_w = op.getDilation()[1];
  s.groups = static_cast<int64_t>(op.getGroups());
  return withTypes(MaybeConvolution(s), op);
}

// What comes after the sum.
template <typename Spec, typename Op>
static std::optional<Spec> withEpilogue(std::optional<Spec> spec, Op op) {
  if (spec) {
    spec->activation = planActivation(op.getActivation());
    spec->bias = bool(op.getBias());
    spec->residual = bool(op.getResidual());
  }
  return spec;
}

// The spec of the product inside a gc.accumulate_product, which adds to the accumulator.
template <typename Spec> static std::optional<Spec> accumulating(std::optional<Spec> spec) {
  if (spec)
    spec->accumulate = true;
  return spec;
}

MaybeConvolution convolutionSpec(Operation *op) {
  return llvm::TypeSwitch<Operation *, MaybeConvolution>(op)
      .Case([](Conv2dOp conv) {
        return withEpilogue(convolution(plan::Direction_Forward, conv.getInput(), conv.getFilter(),
                                        conv.getOutput(), conv),
                            conv);
      })
      .Case([](AccumulateProductOp product) {
        return accumulating(convolutionSpec(product.getProduct()));
      })
      .Case([](Conv2dGradInputOp conv) {
        return convolution(plan::Direction_BackwardData, conv.getInputGradient(), conv.getFilter(),
                           conv.getGradient(), conv);
      })
      .Case([](Conv2dGradFilterOp conv) {
        MaybeConvolution spec = convolution(plan::Direction_BackwardWeights, conv.getInput(),
                                            conv.getFilterGradient(), conv.getGradient(), conv);
        if (spec)
          spec->bias = bool(conv.getBiasGradient());
        return spec;
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

using Strides = std::vector<int64_t>;

using MaybeProduct = std::optional<plan::MatMulSpecT>;

static plan::MatMulSpecT product(std::vector<int64_t> batch, int64_t m, int64_t n, int64_t k,
                                 Strides a, Strides b, Strides c) {
  plan::MatMulSpecT s;
  s.batch = std::move(batch);
  s.m = m, s.n = n, s.k = k;
  s.a_strides = std::move(a), s.b_strides = std::move(b), s.c_strides = std::move(c);
  return s;
}

static MaybeProduct batchedProduct(MatmulOp op) {
  auto lhs = shapeOf(op.getLhs()), out = shapeOf(op.getOutput());
  size_t rank = out.size();
  int64_t m = out[rank - 2], n = out[rank - 1];
  int64_t k = lhs[rank - (op.getTransposeLhs() ? 2 : 1)];
  Strides a = op.getTransposeLhs() ? Strides{1, m} : Strides{k, 1};
  Strides b = op.getTransposeRhs() ? Strides{1, k} : Strides{n, 1};
  Strides c{n, 1};
  if (rank == 2)
    return withTypes(MaybeProduct(product({}, m, n, k, a, b, c)), op);
  int64_t batch = elementCount(op.getOutput().getType()) / (m * n);
  a.insert(a.begin(), m * k);
  b.insert(b.begin(), k * n);
  c.insert(c.begin(), m * n);
  return withTypes(MaybeProduct(product({batch}, m, n, k, a, b, c)), op);
}

MaybeProduct matMulSpec(Operation *op) {
  return llvm::TypeSwitch<Operation *, MaybeProduct>(op)
      .Case([](LinearOp linear) {
        int64_t n = shapeOf(linear.getWeight())[0], k = shapeOf(linear.getWeight())[1];
        int64_t m = elementCount(linear.getInput().getType()) / k;
        return withEpilogue(
            withTypes(MaybeProduct(product({}, m, n, k, {k, 1}, {1, k}, {n, 1})), linear), linear);
      })
      .Case([](AccumulateProductOp product) {
        return accumulating(matMulSpec(product.getProduct()));
      })
      .Case([](LinearGradInputOp linear) {
        int64_t n = shapeOf(linear.getWeight())[0], k = shapeOf(linear.getWeight())[1];
        int64_t m = elementCount(linear.getGradient().getType()) / n;
        return withTypes(MaybeProduct(product({}, m, k, n, {n, 1}, {k, 1}, {k, 1})), linear);
      })
      .Case([](LinearGradWeightOp linear) {
        int64_t n = shapeOf(linear.getGradient()).back(), k = shapeOf(linear.getInput()).back();
        int64_t m = elementCount(linear.getInput().getType()) / k;
        return withTypes(MaybeProduct(product({}, n, k, m, {1, n}, {k, 1}, {k, 1})), linear);
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

plan::ConvolutionT bind(plan::ConvolutionSpecT spec, Operation *op, const OpBuffers &given) {
  OpBuffers b = buffersOfProduct(op, given);
  plan::ConvolutionT c;
  c.workspace = b.workspace;
  switch (spec.direction) {
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
  c.spec = std::make_unique<plan::ConvolutionSpecT>(std::move(spec));
  return c;
}

// The command on views of its operands.
static plan::MatMulT command(plan::MatMulSpecT spec, plan::View a, plan::View b, plan::View c) {
  plan::MatMulT p;
  p.spec = std::make_unique<plan::MatMulSpecT>(std::move(spec));
  p.a = std::make_unique<plan::View>(a);
  p.b = std::make_unique<plan::View>(b);
  p.c = std::make_unique<plan::View>(c);
  return p;
}

plan::MatMulT bind(plan::MatMulSpecT spec, Operation *op, const OpBuffers &given) {
  OpBuffers b = buffersOfProduct(op, given);
  bool gradientFirst = isa<LinearGradWeightOp>(op); // dW = dy^T x, operands are x, dy
  plan::MatMulT p = command(std::move(spec), {b.operands[gradientFirst ? 1 : 0], 0},
                            {b.operands[gradientFirst ? 0 : 1], 0}, {b.results[0], 0});
  p.workspace = b.workspace;
  if (auto linear = dyn_cast<LinearOp>(op)) {
    p.bias = bufferOf(b, op, linear.getBias());
    p.residual = bufferOf(b, op, linear.getResidual());
  }
  return p;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

int64_t AttentionShape::scoreBytes() const {
  return batch * heads * sequence * sequence *
         static_cast<int64_t>(runtime::elementBytes(kScoreType));
}

AttentionShape attentionShape(Operation *op) {
  auto shape = shapeOf(op->getOperand(0)); // queries, keys and values
  auto describe = [&](auto attention) {
    int64_t heads = attention.getHeads();
    AttentionShape result{shape[0], shape[1], heads, shape[2] / (3 * heads)};
    result.causal = attention.getCausal();
    if (Value bias = attention.getBias())
      llvm::copy(shapeOf(bias), result.bias.begin());
    return result;
  };
  return llvm::TypeSwitch<Operation *, AttentionShape>(op)
      .Case<AttentionOp, AttentionGradOp, AttentionBiasGradOp>(describe);
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
  // Whatever the operands are: scores are f32, and a target widens what meets them.
  plan::MatMulSpecT spec =
      product({s.batch, s.heads}, s.sequence, n, k, std::move(a), std::move(b), std::move(c));
  if (scaled)
    spec.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.headSize)));
  return command(std::move(spec), av, bv, cv);
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
