// Losses that a model computes itself.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

Value rowsOfClasses(Emitter &emit, const Tensor &logits, size_t dim) {
  Order order;
  for (int d = 0; d < static_cast<int>(logits.rank()); ++d)
    if (d != static_cast<int>(dim))
      order.push_back(d);
  order.push_back(static_cast<int>(dim));
  int64_t classes = logits.layout.size(dim);
  return emit.reshape(emit.ordered(logits, order), {logits.elements() / classes, classes});
}

/// Labels in their order, in whatever shape; null where they lie in another order.
static Value labelsInOrder(Emitter &emit, const Tensor &labels) {
  Order axes = labels.layout.axes(naturalOrder(labels.rank()));
  bool inOrder = labels.value && axes == naturalOrder(axes.size());
  return inOrder ? emit.inMemory(labels).value : Value();
}

static std::vector<Tensor> crossEntropy(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &logits = call.tensor("self"), &labels = call.tensor("target");
  size_t dim = logits.rank() < 2 ? 0 : 1;
  Shape rows = logits.shape();
  if (!rows.empty())
    rows.erase(rows.begin() + static_cast<ptrdiff_t>(dim));
  if (isFloat(labels.dtype) || logits.rank() < 2 || labels.shape() != rows)
    return call.refuse("gc's cross entropy takes logits [N, classes, ...] and a class for each of "
                       "[N, ...]");
  Value classes = labelsInOrder(emit, labels);
  if (!classes)
    return call.refuse("its labels are known when importing, or lie in another order");
  if (call.optional("weight"))
    return call.refuse("it weights classes");
  if (call.integer("reduction", 1) != 1)
    return call.refuse("reduction is not 'mean'");
  int64_t ignored = call.integer("ignore_index", -100);
  if (ignored >= 0 && ignored < logits.layout.size(dim))
    return call.refuse("ignore_index is one of the classes: gc leaves out labels below 0, and "
                       "those that are no class");
  double smoothing = call.number("label_smoothing", 0);
  if (!(smoothing >= 0 && smoothing < 1))
    return call.refuse("label_smoothing is not from 0 on, below 1");
  auto loss =
      emit.create<CrossEntropyOp>(rowsOfClasses(emit, logits, dim), classes, emit.f32(smoothing));
  return {emit.wrap(loss.getLoss())};
}

/// log(softmax) and the label's part of it: a cross entropy, whose own softmax changes nothing.
static std::vector<Tensor> negativeLogLikelihood(Call &call) {
  const Argument *given = call.node.find("self");
  bool isNormalized = llvm::any_of(call.program.nodes, [&](const Node &node) {
    bool isSoftmax =
        node.target == "aten.log_softmax.int" || node.target == "aten._log_softmax.default";
    return isSoftmax && given && !given->tensors.empty() && !node.outputs.empty() &&
           node.outputs[0] == given->tensors[0];
  });
  if (!isNormalized)
    return call.refuse("its input is not what log_softmax returns: use cross_entropy");
  return crossEntropy(call);
}

/// As a loss's reduction says: every element, their mean or their sum.
static std::vector<Tensor> byReduction(Call &call, const Tensor &x) {
  Emitter &emit = call.emit;
  int64_t reduction = call.integer("reduction", 1);
  if (reduction == 0)
    return {x};
  Tensor whole = emit.inMemory(x);
  Shape dimensions;
  for (size_t i = 0; i < whole.layout.sizes.size(); ++i)
    dimensions.push_back(static_cast<int64_t>(i));
  Value elements = emit.byAxes(whole);
  if (reduction == 1)
    return {emit.wrap(emit.create<ReduceMeanOp>(elements, emit.array(dimensions)))};
  return {emit.wrap(emit.create<ReduceSumOp>(elements, emit.array(dimensions)))};
}

/// What a loss element by element is of: numbers and their targets, of one shape.
static bool comparesElements(Call &call) {
  if (call.tensor("self").shape() == call.tensor("target").shape() &&
      isFloat(call.tensor("target").dtype))
    return true;
  call.refuse("its targets are no numbers, or of another shape");
  return false;
}

static Tensor difference(Call &call) {
  return addTensors(call.emit, call.tensor("self"), scaled(call.emit, call.tensor("target"), -1));
}

template <typename Op> static Tensor mapped(Emitter &emit, const Tensor &x) {
  Tensor here = emit.inMemory(x);
  return emit.like(here, emit.create<Op>(here.value.getType(), here.value));
}

static std::vector<Tensor> meanSquares(Call &call) {
  if (!comparesElements(call))
    return {};
  Tensor off = difference(call);
  return byReduction(call, multiply(call.emit, off, off));
}

static std::vector<Tensor> absoluteError(Call &call) {
  if (!comparesElements(call))
    return {};
  return byReduction(call, mapped<AbsOp>(call.emit, difference(call)));
}

/// c (|d| - c / 2) with c = min(|d|, delta): squares near 0, and a line beyond.
static std::vector<Tensor> huber(Call &call, double delta, double factor) {
  if (!comparesElements(call))
    return {};
  if (!(delta > 0))
    return call.refuse("its delta or beta is not above 0");
  Emitter &emit = call.emit;
  Tensor size = mapped<AbsOp>(emit, difference(call));
  Value cut = emit.create<ClampOp>(size.value.getType(), size.value, FloatAttr(), emit.f32(delta),
                                   emit.attributes().getBoolAttr(false));
  Tensor near = emit.like(size, cut);
  Tensor loss = multiply(emit, near, addTensors(emit, size, scaled(emit, near, -0.5)));
  return byReduction(call, scaled(emit, loss, factor));
}

/// log(1 + exp(x)) - x t
static std::vector<Tensor> binaryCrossEntropy(Call &call) {
  if (!comparesElements(call))
    return {};
  if (call.optional("weight") || call.optional("pos_weight"))
    return call.refuse("it weights classes");
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self");
  Tensor certain = scaled(emit, multiply(emit, x, call.tensor("target")), -1);
  return byReduction(call, addTensors(emit, mapped<SoftplusOp>(emit, x), certain));
}

/// t (log t - x), where x is a logarithm already, and t too with `log_target`.
static std::vector<Tensor> divergence(Call &call) {
  if (!comparesElements(call))
    return {};
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self"), &target = call.tensor("target");
  Tensor share = target, logarithm = target;
  if (call.truth("log_target", false)) {
    share = mapped<ExpOp>(emit, target);
  } else {
    Tensor here = emit.inMemory(target); // 0 log 0 is 0
    constexpr double least = 1e-37;
    Value above = emit.create<ClampOp>(here.value.getType(), here.value, emit.f32(least),
                                       FloatAttr(), emit.attributes().getBoolAttr(false));
    logarithm = mapped<LogOp>(emit, emit.like(here, above));
  }
  return byReduction(call, multiply(emit, share, addTensors(emit, logarithm, scaled(emit, x, -1))));
}

void addLosses(ConverterTable &table) {
  table["aten.cross_entropy_loss.default"] = crossEntropy;
  table["aten.nll_loss_nd.default"] = table["aten.nll_loss.default"] = negativeLogLikelihood;
  table["aten.mse_loss.default"] = meanSquares;
  table["aten.l1_loss.default"] = absoluteError;
  table["aten.huber_loss.default"] = [](Call &call) {
    return huber(call, call.number("delta", 1), 1);
  };
  table["aten.smooth_l1_loss.default"] = [](Call &call) {
    double beta = call.number("beta", 1);
    return beta == 0 ? absoluteError(call) : huber(call, beta, 1 / beta);
  };
  table["aten.binary_cross_entropy_with_logits.default"] = binaryCrossEntropy;
  table["aten.kl_div.default"] = divergence;
}

} // namespace gc::importer
