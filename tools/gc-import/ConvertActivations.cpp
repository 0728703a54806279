// Functions of one element.
#include "tools/gc-import/Converters.h"
#include <cmath>

using namespace mlir;

namespace gc::importer {

/// The tensor that a function of one element is of.
static const Tensor *inputOf(Call &call) {
  const Tensor *x = call.optional("self");
  return x ? x : call.optional("input");
}

template <typename Op, typename... Args>
static std::vector<Tensor> unaryWith(Call &call, const Tensor &x, Args &&...args) {
  Tensor here = call.emit.inMemory(x);
  return {call.emit.like(
      here, call.emit.create<Op>(here.value.getType(), here.value, std::forward<Args>(args)...))};
}

template <typename Op> static std::vector<Tensor> unary(Call &call) {
  const Tensor *x = inputOf(call);
  return x ? unaryWith<Op>(call, *x) : call.refuse("it has no input");
}

static std::vector<Tensor> gelu(Call &call) {
  std::string form = call.text("approximate", "none");
  if (form != "none" && form != "tanh")
    return call.refuse("approximate='" + form + "' is not known");
  return unaryWith<GeluOp>(call, call.tensor("self"),
                           form == "tanh" ? GeluForm::Tanh : GeluForm::None);
}

/// Between two numbers, of which an infinite one is none.
static std::vector<Tensor> clampTo(Call &call, double low, double high, bool open) {
  auto bound = [&](double value) {
    return std::isfinite(value) ? call.emit.f32(value) : FloatAttr();
  };
  if (!std::isfinite(low) && !std::isfinite(high))
    return {call.tensor("self")};
  if (!(low <= high))
    return call.refuse("its bounds cross");
  return unaryWith<ClampOp>(call, call.tensor("self"), bound(low), bound(high), open);
}

static std::vector<Tensor> clamp(Call &call) {
  double low = call.number("min", -INFINITY), high = call.number("max", INFINITY);
  if (call.optional("min") || call.optional("max"))
    return call.refuse("its bounds are tensors");
  // PyTorch stops a gradient at a bound where there are two.
  return clampTo(call, low, high, std::isfinite(low) && std::isfinite(high));
}

static std::vector<Tensor> leakyRelu(Call &call) {
  double slope = call.number("negative_slope", 0.01);
  if (slope < 0)
    return call.refuse("its slope is negative");
  return unaryWith<LeakyReluOp>(call, call.tensor("self"), call.emit.f32(slope));
}

static std::vector<Tensor> elu(Call &call, double alpha, double factor) {
  if (call.number("input_scale", 1) != 1 || alpha < 0)
    return call.refuse("its factors are none that gc has");
  std::vector<Tensor> result = unaryWith<EluOp>(call, call.tensor("self"), call.emit.f32(alpha));
  return {scaled(call.emit, result[0], factor)};
}

static std::vector<Tensor> softplus(Call &call) {
  // Above the threshold PyTorch returns x itself, which float32 does not tell from log(1 + exp x).
  double beta = call.number("beta", 1);
  if (beta == 0 || call.number("threshold", 20) < 15)
    return call.refuse("its threshold is low");
  std::vector<Tensor> result =
      unaryWith<SoftplusOp>(call, scaled(call.emit, call.tensor("self"), beta));
  return {scaled(call.emit, result[0], 1 / beta)};
}

static std::vector<Tensor> power(Call &call) {
  const Argument *exponent = call.node.find("exponent");
  if (!exponent || exponent->kind != Argument::Kind::Number)
    return call.refuse("its exponent is a tensor");
  double value = exponent->numbers[0];
  if (value == 0 || !std::isfinite(value))
    return call.refuse("its exponent is 0 or infinite");
  if (value == 1)
    return {call.tensor("self")};
  if (value == 0.5)
    return unary<SqrtOp>(call);
  return unaryWith<PowOp>(call, call.tensor("self"), call.emit.f32(value));
}

static std::vector<Tensor> reciprocal(Call &call) {
  return unaryWith<PowOp>(call, call.tensor("self"), call.emit.f32(-1));
}

/// x tanh(softplus(x)).
static std::vector<Tensor> mish(Call &call) {
  Emitter &emit = call.emit;
  Tensor x = emit.inMemory(call.tensor("self"));
  Type type = x.value.getType();
  Value inner = emit.create<TanhOp>(type, emit.create<SoftplusOp>(type, x.value).getResult());
  return {emit.like(x, emit.create<MulOp>(type, x.value, inner))};
}

/// log(sigmoid(x)) = -softplus(-x).
static std::vector<Tensor> logSigmoid(Call &call) {
  Emitter &emit = call.emit;
  Tensor x = emit.inMemory(call.tensor("self"));
  Type type = x.value.getType();
  Value inner = emit.create<SoftplusOp>(type, emit.create<NegOp>(type, x.value).getResult());
  return {emit.like(x, emit.create<NegOp>(type, inner))};
}

/// The first half times sigmoid of the second.
static std::vector<Tensor> glu(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self");
  size_t dim = call.dim("dim", -1, x);
  if (x.rank() == 0 || x.layout.size(dim) % 2 != 0)
    return call.refuse("it has no two halves");
  int64_t half = x.layout.size(dim) / 2;
  Tensor gate = emit.inMemory(emit.sliced(x, dim, half, half));
  Tensor open = emit.like(gate, emit.create<SigmoidOp>(gate.value.getType(), gate.value));
  return {multiply(emit, emit.sliced(x, dim, 0, half), open)};
}

void addActivations(ConverterTable &table) {
  table["aten.relu.default"] = unary<ReluOp>;
  table["aten.gelu.default"] = gelu;
  table["aten.silu.default"] = unary<SiluOp>;
  table["aten.tanh.default"] = unary<TanhOp>;
  table["aten.sigmoid.default"] = unary<SigmoidOp>;
  table["aten.exp.default"] = unary<ExpOp>;
  table["aten.log.default"] = unary<LogOp>;
  table["aten.sqrt.default"] = unary<SqrtOp>;
  table["aten.rsqrt.default"] = unary<RsqrtOp>;
  table["aten.neg.default"] = unary<NegOp>;
  table["aten.abs.default"] = unary<AbsOp>;
  table["aten.hardswish.default"] = unary<HardswishOp>;
  table["aten.hardsigmoid.default"] = unary<HardsigmoidOp>;
  table["aten.relu6.default"] = [](Call &call) { return clampTo(call, 0, 6, true); };
  table["aten.hardtanh.default"] = [](Call &call) {
    return clampTo(call, call.number("min_val", -1), call.number("max_val", 1), true);
  };
  table["aten.clamp.default"] = table["aten.clip.default"] = clamp;
  table["aten.clamp_min.default"] = table["aten.clamp_max.default"] = clamp;
  table["aten.leaky_relu.default"] = leakyRelu;
  table["aten.elu.default"] = [](Call &call) {
    return elu(call, call.number("alpha", 1), call.number("scale", 1));
  };
  table["aten.selu.default"] = [](Call &call) {
    return elu(call, 1.6732632423543772, 1.0507009873554805);
  };
  table["aten.celu.default"] = [](Call &call) {
    return call.number("alpha", 1) == 1 ? elu(call, 1, 1) : call.refuse("alpha is not 1");
  };
  table["aten.softplus.default"] = softplus;
  table["aten.mish.default"] = mish;
  table["aten.log_sigmoid.default"] = logSigmoid;
  table["aten.pow.Tensor_Scalar"] = power;
  table["aten.square.default"] = [](Call &call) {
    return unaryWith<PowOp>(call, call.tensor("self"), call.emit.f32(2));
  };
  table["aten.reciprocal.default"] = reciprocal;
  table["aten.glu.default"] = glu;
}

} // namespace gc::importer
