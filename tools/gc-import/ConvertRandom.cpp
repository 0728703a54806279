// What draws: dropout, and the drop path that networks write with bernoulli_.
#include "tools/gc-import/Converters.h"

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

void addRandom(ConverterTable &table) { table["aten.dropout.default"] = dropout; }

} // namespace gc::importer
