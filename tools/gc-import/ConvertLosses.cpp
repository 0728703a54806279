// Losses that a model computes itself.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

static std::vector<Tensor> crossEntropy(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &logits = call.tensor("self"), &labels = call.tensor("target");
  if (logits.rank() != 2 || labels.rank() != 1 || isFloat(labels.dtype))
    return call.refuse("gc's cross entropy takes a row of logits and a class a sample");
  if (call.optional("weight"))
    return call.refuse("it weights classes");
  if (call.integer("reduction", 1) != 1)
    return call.refuse("reduction is not 'mean'");
  if (call.integer("ignore_index", -100) >= 0)
    return call.refuse("ignore_index: gc leaves out negative labels alone");
  auto loss = emit.create<CrossEntropyOp>(emit.plain(logits), emit.plain(labels),
                                          emit.f32(call.number("label_smoothing", 0)));
  return {emit.wrap(loss.getLoss())};
}

static std::vector<Tensor> meanSquares(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &a = call.tensor("self"), &b = call.tensor("target");
  if (a.shape() != b.shape() || call.integer("reduction", 1) != 1)
    return call.refuse("reduction is not 'mean', or its shapes differ");
  Tensor off = addTensors(emit, a, scaled(emit, b, -1));
  Tensor squares = emit.inMemory(multiply(emit, off, off));
  Shape dimensions;
  for (size_t i = 0; i < squares.layout.sizes.size(); ++i)
    dimensions.push_back(static_cast<int64_t>(i));
  return {emit.wrap(emit.create<ReduceMeanOp>(emit.byAxes(squares), emit.array(dimensions)))};
}

void addLosses(ConverterTable &table) {
  table["aten.cross_entropy_loss.default"] = crossEntropy;
  table["aten.mse_loss.default"] = meanSquares;
}

} // namespace gc::importer
