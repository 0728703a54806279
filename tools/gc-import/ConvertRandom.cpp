// What draws: dropout, and the drop path that networks write with bernoulli_.
#include "tools/gc-import/Converters.h"
#include <cmath>

using namespace mlir;

namespace gc::importer {

Tensor dropOut(Emitter &emit, const Tensor &x, double probability) {
  if (probability == 0)
    return x;
  Tensor here = emit.inMemory(x);
  Value result = emit.create<DropoutOp>(here.value, emit.generator(), /*micro_batch=*/Value(),
                                        emit.f32(probability), emit.i64(emit.dropouts++));
  return emit.like(here, result);
}

static std::vector<Tensor> dropout(Call &call) {
  const Tensor &x = call.tensor("input");
  double probability = call.truth("train", true) ? call.number("p", 0.5) : 0;
  if (!(probability >= 0 && probability < 1))
    return call.refuse("it drops everything");
  return {dropOut(call.emit, x, probability)};
}

/// Ones with this probability, else zeros: what a dropout keeps of ones, without its factor.
static std::vector<Tensor> bernoulli(Call &call) {
  Emitter &emit = call.emit;
  double p = call.number("p", 0.5);
  const TensorMeta *output = call.output();
  if (!output || call.optional("p") || !(p > 0 && p <= 1))
    return call.refuse("its probability is computed, or 0");
  Tensor ones = emit.filledWith(output->sizes, 1);
  if (p == 1)
    return {ones};
  return {scaled(emit, dropOut(emit, ones, 1 - p), p)};
}

/// Whole channels.
static std::vector<Tensor> featureDropout(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input");
  double probability = call.truth("train", true) ? call.number("p", 0.5) : 0;
  if (probability == 0)
    return {x};
  if (!(probability > 0 && probability < 1) || x.rank() < 2)
    return call.refuse("it drops everything");
  Shape shape(x.rank(), 1);
  shape[0] = x.layout.size(0), shape[1] = x.layout.size(1);
  return {multiply(emit, x, dropOut(emit, emit.filledWith(shape, 1), probability))};
}

/// Memory without a value, which something fills: zeros, should nothing do that.
static std::vector<Tensor> empty(Call &call) {
  const TensorMeta *output = call.output();
  if (!output || output->elements() > maxConstantElements)
    return call.refuse("it is too large");
  return {constantTensor(filled(output->dtype, output->sizes, 0))};
}

/// What is written over a part of a tensor: the same number everywhere.
static std::vector<Tensor> filledAnew(Call &call) {
  const TensorMeta *output = call.output();
  if (!output)
    return call.refuse("its shape is unknown");
  double value = call.number("value", 0);
  if (output->elements() > maxConstantElements || !std::isfinite(value))
    return call.refuse("it is too large, or fills with no number");
  return {constantTensor(filled(output->dtype, output->sizes, value))};
}

void addRandom(ConverterTable &table) {
  table["aten.zero.default"] = table["aten.fill.Scalar"] = filledAnew;
  table["aten.dropout.default"] = dropout;
  table["aten.feature_dropout.default"] = featureDropout;
  table["aten.bernoulli.float"] = table["aten.bernoulli.p"] = bernoulli;
  for (const char *name :
       {"aten.empty.memory_format", "aten.empty_like.default", "aten.new_empty.default"})
    table[name] = empty;
}

} // namespace gc::importer
