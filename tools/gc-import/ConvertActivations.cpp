// Functions of one element.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

template <typename Op> static std::vector<Tensor> unary(Call &call) {
  const Tensor *x = call.optional("self");
  if (!x)
    x = call.optional("input");
  if (!x)
    return call.refuse("it has no input");
  Tensor here = call.emit.inMemory(*x);
  return {call.emit.like(here, call.emit.create<Op>(here.value.getType(), here.value))};
}

static std::vector<Tensor> gelu(Call &call) {
  if (call.text("approximate", "none") != "none")
    return call.refuse("approximate='" + call.text("approximate", "") + "': gc has the exact GELU");
  return unary<GeluOp>(call);
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
  table["aten.neg.default"] = unary<NegOp>;
}

} // namespace gc::importer
